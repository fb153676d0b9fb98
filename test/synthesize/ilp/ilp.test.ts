import { beforeAll, describe, expect, it } from "vitest";
import type { MilpRunner } from "../../../src/engine/contract/programs.ts";
import { jsKernels } from "../../../src/engine/kernels/js/kernels.ts";
import { COLLECTIVE_KINDS, type NamedCollective } from "../../../src/model/collective/collective.ts";
import { toNumber } from "../../../src/model/numbers/rational.ts";
import { toUs } from "../../../src/model/numbers/units.ts";
import { presetTopology } from "../../../src/model/presets/preset.ts";
import { stepsOf } from "../../../src/model/steps/schedule.ts";
import { makespanPs } from "../../../src/model/steps/step-schedule.ts";
import { tacosIlp } from "../../../src/synthesize/ilp/ilp.ts";
import { verifySchedule } from "../../../src/verify/steps/schedule.ts";
import { milpHere } from "../../support/milp-here.ts";
import { triesAll } from "../../support/runs.ts";
import { inlineRunner, wholeCollective } from "../../support/synthesis.ts";

const MIB = 2 ** 20;
let milp: MilpRunner;
beforeAll(async () => {
  milp = await milpHere();
});

async function ilp(
  network: string,
  kind: NamedCollective,
  {
    chunks = 1,
    policy = null,
    solver = milp,
    timeLimitMs = 60_000,
  }: { chunks?: number; policy?: string | null; solver?: MilpRunner | null; timeLimitMs?: number } = {},
) {
  const topology = presetTopology(network);
  const collective = wholeCollective(topology, kind, 16 * MIB, chunks);
  const request = { topology, collective, seed: 1, trials: null, policy, switchDegree: null, timeLimitMs };
  const context = { runner: inlineRunner(jsKernels), ...(solver === null ? {} : { milp: solver }) };
  const found = await tacosIlp.synthesize(request, context);
  const schedule = stepsOf(found.schedule);
  expect(verifySchedule(schedule).violations).toEqual([]);
  return { ...found, us: toUs(makespanPs(schedule)) };
}

/** A solver with room for nothing. */
const full = (): MilpRunner => ({ ...milp, maxBytes: 0 });

describe("TACOS-ILP", () => {
  it("proves by the bound alone what matching finds", async () => {
    const { solver, us } = await ilp("mesh:3x3", "allgather");
    expect(solver).toMatchObject({ proved: true, stages: [] });
    expect(us).toBeCloseTo(151.1308, 3);
  });

  it.each(["allgather", "reducescatter"] as const)("finds and proves %s of DGX-1", async (kind) => {
    // three times the double links: matching needs 169.17
    const { solver, us, bound, deterministic } = await ilp("dgx1", kind);
    expect(us).toBeCloseTo(127.92912, 4);
    expect(solver?.proved).toBe(true);
    expect(bound).toBeUndefined();
    expect(deterministic).not.toBe(false);
  });

  it("holds a schedule over other routes than the programs' against the bound of its own", async () => {
    // 4830 routes through the switch for matching, a ring of them for programs: what a ring needs proves nothing
    const { solver, bound, notes } = await ilp("switch:70", "broadcast", { chunks: 3, timeLimitMs: 1000 });
    expect(solver?.proved).toBe(false);
    expect(bound).toBeUndefined();
    expect(notes?.join()).toContain("not proved optimal");
  });

  it("raises the bound where no schedule meets it", async () => {
    const { solver, us, bound } = await ilp("dgx1", "broadcast", { chunks: 4 });
    expect(solver?.proved).toBe(true);
    expect(bound?.witness.kind).toBe("program");
    expect(toUs(toNumber(bound?.ps ?? { num: 0n, den: 1n }))).toBeCloseTo(us, 6);
  });

  it.runIf(triesAll)("shortens an all-reduce and says how far it may be from the optimum", async () => {
    const { us, notes, bound } = await ilp("dgx1", "allreduce", { policy: "symmetric", timeLimitMs: 15_000 });
    expect(us).toBeLessThanOrEqual(338.34432);
    expect(us).toBeGreaterThan(253.7);
    expect(notes?.join()).toContain("not proved optimal");
    expect(bound).toBeUndefined();
  });

  it("keeps what matching found, with the reason, where a program has no room or no solver is there", async () => {
    const without = await ilp("dgx1", "allgather", { solver: full() });
    expect(without.us).toBeCloseTo(169.17, 2);
    expect(without.notes?.[0]).toMatch(
      /^the program for by 127.93 us, relaxation was not built: it would need \d+ MiB or more/,
    );
    expect(without.solver?.proved).toBe(false);
    const alone = await ilp("dgx1", "allgather", { solver: null });
    expect(alone.notes).toEqual(["no solver of integer programs is at hand"]);
  });

  it("clusters an all-gather of DGX-1 to its optimum: windows end when it should", async () => {
    const { solver, us } = await ilp("dgx1", "allgather", { policy: "clustered", timeLimitMs: 20_000 });
    expect(us).toBeCloseTo(127.92912, 4);
    expect(solver?.proved).toBe(true);
    expect(solver?.stages.map(({ name }) => name)).toEqual(["window 1"]);
  });

  it.each(COLLECTIVE_KINDS)("clusters %s in short windows", async (kind) => {
    const { solver } = await ilp("ring:2*fc:4@200,100GB/s", kind, { policy: "clustered", timeLimitMs: 20_000 });
    expect(solver).toBeDefined();
  });
});
