import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { random } from "../../../src/base/random.ts";
import type { Engine } from "../../../src/engine/types.ts";
import { executeProgram } from "../../../src/execute/execute.ts";
import { mscclppJsonParts } from "../../../src/export/programs/mscclpp-json.ts";
import { readMscclppJson } from "../../../src/import/programs/mscclpp-json.ts";
import { movesOf } from "../../../src/lower/moves.ts";
import { KnownPlans } from "../../../src/lower/mscclpp/known-plans.ts";
import { lowerToPlan, planOf } from "../../../src/lower/mscclpp/plan.ts";
import { blockCount, OPS, type Program, VIA } from "../../../src/model/program/program.ts";
import { opNumber } from "../../../src/model/program/program-builder.ts";
import { verifyProgram } from "../../../src/verify/program/program.ts";
import { planLimitViolations } from "../../../src/verify/runtime/plan-limits.ts";
import {
  type LoweringCase,
  plainEngine,
  STEP_CASES,
  scheduleOf,
  TREE_CASES,
  titleOf,
} from "../../support/lowering-cases.ts";
import { runPlan } from "../../support/plan-run.ts";
import { outOfRange, unexpected } from "../../support/refusals.ts";
import { quick, triesAll } from "../../support/runs.ts";

let engine: Engine;
beforeAll(async () => {
  engine = await plainEngine();
});
afterAll(() => engine.close());

const INTERLEAVINGS = triesAll ? 3 : 1;

/** Holds a plan against the plain interpreter, the verifier, the limits and the executor. */
function expectRight(plan: Program): void {
  for (let seed = 0; seed < INTERLEAVINGS; seed++) expect(runPlan(plan, random(seed, 0x91a7))).toBeNull();
  expect(verifyProgram(plan).violations).toEqual([]);
  expect(planLimitViolations(plan)).toEqual([]);
  const request = {
    type: "i32",
    sizeBytes: plan.loopChunks * 8,
    placement: plan.inPlace ? "in" : "out",
    seed: 1,
  } as const;
  expect(executeProgram(plan, request).outcome).toBe("correct");
}

const BOXED: readonly LoweringCase[] = (["tacos", "ring", "direct"] as const).flatMap((algorithm) =>
  (["allgather", "reducescatter", "allreduce"] as const).map((collective) => ({
    network: "dgx-a100:2",
    collective,
    algorithm,
  })),
);
const SPREAD: readonly LoweringCase[] = (["broadcast", "reduce", "gather", "scatter", "alltoall"] as const).map(
  (collective) => ({ network: "dgx-a100:2", collective, algorithm: "direct" }),
);

describe("lowerToPlan", () => {
  /** `npm test` takes all-gathers of each algorithm and a few of the others. */
  const boxed = quick([...BOXED, ...SPREAD], (_, i) => i % 3 === 0);
  const cases = [...STEP_CASES, ...TREE_CASES, ...boxed];
  it.each(cases.map((what) => [titleOf(what), what] as const))("%s", async (_, what) => {
    const schedule = await scheduleOf(engine, what);
    for (const placement of ["in", "out"] as const) expectRight(lowerToPlan(schedule, { placement, instances: 1 }));
  });

  const mutual = cases.filter(({ collective }) => /^(all|reducescatter)/.test(collective));
  it.each(mutual.map((what) => [titleOf(what), what] as const))("%s in packets", async (_, what) => {
    const schedule = await scheduleOf(engine, what);
    for (const placement of ["in", "out"] as const) {
      const plan = lowerToPlan(schedule, { placement, instances: 1, protocol: "LL" });
      expect(plan.eventRank.length > 0).toBe(plan.via.includes(VIA.indexOf("port")));
      expectRight(plan);
    }
  });

  it("writes plans that read back the same", async () => {
    const protocols = ["Simple", "LL"] as const;
    for (const [i, what] of quick(BOXED, (_, i) => i % 4 === 0).entries()) {
      const protocol = protocols[i % 2];
      const plan = lowerToPlan(await scheduleOf(engine, what), { placement: "out", protocol });
      const text = [...mscclppJsonParts(plan)].join("");
      const read = readMscclppJson(text, "plan.json");
      expect([...mscclppJsonParts(read)].join("")).toBe(text);
      expect(runPlan(read, random(1, 2))).toBeNull();
    }
  });

  it("reaches memory within a box and takes ports between boxes", async () => {
    const plan = lowerToPlan(await scheduleOf(engine, BOXED[2]), { placement: "in" });
    const box = (rank: number): number => Math.floor(rank / 8);
    expect(blockCount(plan)).toBeGreaterThan(0);
    plan.eventRank.forEach((rank, event) => {
      expect(plan.eventVia[event]).toBe(box(rank) === box(plan.eventPeer[event]) ? 1 : 2);
    });
  });
});

describe("trees over a switch that duplicates and sums", () => {
  const schedule = (network: string, collective: LoweringCase["collective"]) =>
    scheduleOf(engine, { network, collective, algorithm: "forestcoll" });
  const opsOf = (plan: Program): Set<string> => new Set(Array.from(plan.op, (op) => OPS[op]));

  it.each([
    ["allgather", "gstore"],
    ["broadcast", "gstore"],
    ["allreduce", "glres"],
  ] as const)("%s: %s does it all", async (collective, op) => {
    const flow = await schedule("dgx-h100:1", collective);
    for (const placement of ["in", "out"] as const) {
      const plan = lowerToPlan(flow, { placement });
      expectRight(plan);
      expect(opsOf(plan)).toEqual(new Set(["rlxsignal", "rlxwait", "nop", op, "signal", "wait"]));
      const text = [...mscclppJsonParts(plan)].join("");
      expect([...mscclppJsonParts(readMscclppJson(text, "plan.json"))].join("")).toBe(text);
    }
  });

  it("meets in rounds where ranks are too many for a channel to each", async () => {
    const plan = lowerToPlan(await schedule("gb200-nvl72", "broadcast"), { placement: "in", instances: 1 });
    expectRight(plan);
    const peers = new Set(Array.from(plan.eventRank.keys(), (e) => (plan.eventRank[e] === 0 ? plan.eventPeer[e] : 0)));
    expect(peers.size - 1).toBe(7);
  });

  it("stays with ranks' own writes where switches cannot, need not, or shall not", async () => {
    const [reduced, plain] = [await schedule("dgx-h100:1", "reducescatter"), await schedule("dgx-a100:1", "allgather")];
    const able = await schedule("dgx-h100:1", "allgather");
    expect(opsOf(lowerToPlan(reduced, { placement: "in" }))).toContain("rre");
    expect(opsOf(lowerToPlan(plain, { placement: "in" }))).toContain("put");
    expect(opsOf(lowerToPlan(able, { placement: "in", throughSwitch: false }))).toContain("put");
    expect(opsOf(lowerToPlan(await schedule("dgx-h100:2", "allgather"), { placement: "in" }))).toContain("put");
  });

  it("makes what is known once, whichever schedule moves the same, and else the same as without", async () => {
    const known = new KnownPlans();
    const of = async (network: string, collective: "allgather" | "broadcast") => {
      const made = await scheduleOf(engine, { network, collective, algorithm: "ring" });
      return [undefined, 1, 2].map((instances) => {
        const options = { placement: "out", ...(instances === undefined ? {} : { instances }) } as const;
        const plan = lowerToPlan(made, options, known);
        expect(plan).toEqual(lowerToPlan(made, options));
        return plan;
      });
    };
    const first = await of("ring:4", "allgather");
    const again = await of("ring:4", "allgather");
    again.forEach((plan, i) => {
      expect(plan).toBe(first[i]);
    });
    await of("ring:4", "broadcast");
    await of("ring:5", "allgather");
  });
});

const ringOf = (network: string, collective: LoweringCase["collective"], chunks = 1) =>
  scheduleOf(engine, { network, collective, algorithm: "ring", chunks });

describe("planOf", () => {
  it("takes boxes from its caller", async () => {
    const moves = movesOf(await ringOf("ring:3", "allreduce"));
    const plan = planOf(moves, { placement: "out" }, (rank) => rank);
    expectRight(plan);
    expect(plan.eventVia.every((via) => via === 2)).toBe(true);
    expect(Array.from(plan.op, (op) => OPS[op])).toContain("pws");
  });

  it("cuts chunks into instances, each with thread blocks and channels of its own", async () => {
    const moves = movesOf(await ringOf("ring:3", "allgather"));
    const [one, three] = [1, 3].map((instances) => planOf(moves, { placement: "in", instances }));
    expectRight(one);
    expectRight(three);
    expect(blockCount(three)).toBe(3 * blockCount(one));
    expect(three.loopChunks).toBe(3 * one.loopChunks);
    expect(three.channelCount).toBe(3 * one.channelCount);
  });

  it("takes more slices where a thread block would have more than 64 operations", async () => {
    const moves = movesOf(await scheduleOf(engine, { network: "ring:32", collective: "allreduce", algorithm: "ring" }));
    const plan = planOf(moves, { placement: "in", instances: 1 });
    expectRight(plan);
    expect(plan.blockOffset[1]).toBeGreaterThan(1);
  });

  it("gives every peer a slice of its own where a rank has more than 16 of them", async () => {
    const moves = movesOf(
      await scheduleOf(engine, { network: "switch:20", collective: "allgather", algorithm: "direct" }),
    );
    expectRight(planOf(moves, { placement: "out" }));
  });

  it.each([
    ["reduce", "in"],
    ["reducescatter", "out"],
    ["allreduce", "in"],
  ] as const)(
    "spreads a rank with more than 16 peers over blocks that meet: %s, %s of place",
    async (collective, placement) => {
      const moves = movesOf(await scheduleOf(engine, { network: "switch:20", collective, algorithm: "direct" }));
      const plan = planOf(moves, { placement, instances: 1 });
      expectRight(plan);
      expect([...plan.barrierBlocks]).toContain(2);
      const text = [...mscclppJsonParts(plan)].join("");
      expect([...mscclppJsonParts(readMscclppJson(text, "plan.json"))].join("")).toBe(text);
    },
  );

  it("makes threads meet where it matters: without most of their meetings some interleaving goes wrong, and the verifier knows", async () => {
    const moves = movesOf(await ringOf("ring:3", "allreduce"));
    const plan = planOf(moves, { placement: "in", instances: 1 }, (rank) => Math.floor(rank / 2));
    const nops = Array.from(plan.op.keys()).filter((i) => OPS[plan.op[i]] === "nop");
    const needed = nops.filter((i) => {
      const op = plan.op.slice();
      op[i] = opNumber("flush"); // nothing happens there
      const without = { ...plan, op };
      const wrong = Array.from({ length: 200 }, (_, seed) => runPlan(without, random(seed, 3))).some((c) => c !== null);
      if (wrong) expect(verifyProgram(without).violationCount).toBeGreaterThan(0);
      return wrong;
    });
    expect(needed.length).toBeGreaterThan(nops.length / 2); // others publish results, or keep counters of threads apart
  });

  it("refuses what the executor has no room for, with the limit, the need and what helps", async () => {
    const moves = movesOf(await ringOf("ring:3", "allgather"));
    expect(() => planOf(moves, { placement: "in", instances: 200 })).toThrow(
      outOfRange(
        "an MSCCL++ plan of this schedule",
        "200 at gpu 0: fewer instances or chunks, a smaller --k, another algorithm or MSCCL XML may fit",
        108,
      ),
    );
  });

  it.each([
    [{ instances: 0 }, outOfRange("instances", 0, 1024)],
    [{ protocol: "LL128" }, unexpected("protocol", "LL128")],
  ] as const)("refuses %o", async (options, message) => {
    const moves = movesOf(await ringOf("ring:3", "allgather"));
    expect(() => planOf(moves, { placement: "in", ...options })).toThrow(message);
  });
});
