import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import type { Kernels, PlaceProblem } from "../../src/engine/contract/kernels.ts";
import type { NamedCollective } from "../../src/model/collective/collective.ts";
import { presetTopology } from "../../src/model/presets/preset.ts";
import { stepsOf } from "../../src/model/steps/schedule.ts";
import { makespanPs, type StepSchedule } from "../../src/model/steps/step-schedule.ts";
import { without } from "../../src/model/topology/modify.ts";
import type { Topology } from "../../src/model/topology/topology.ts";
import { synthesizeByMatching } from "../../src/synthesize/tacos/tacos.ts";
import { verifySchedule } from "../../src/verify/steps/schedule.ts";
import { availableKernels } from "../support/backends.ts";
import { connectedTopology } from "../support/connected-topology.ts";
import { quick, runs, triesAll } from "../support/runs.ts";
import { columnsOf, inlineRunner, synthesizeWith, wholeCollective } from "../support/synthesis.ts";

let backends: Kernels[];
let kernels: Kernels;
beforeAll(async () => {
  backends = await availableKernels();
  kernels = backends[0] as Kernels;
});

interface Request {
  readonly topology: Topology;
  readonly sizeBytes: number;
  readonly chunks?: number;
  readonly seed?: number;
  readonly trials?: number | null;
}

function synthesized(by: Kernels, kind: NamedCollective, request: Request, width = 1) {
  const { topology, sizeBytes, chunks = 1, ...rest } = request;
  const collective = wholeCollective(topology, kind, sizeBytes, chunks);
  return synthesizeWith(by, { topology, collective, ...rest }, { width });
}

/** Returns how long reduce-scatter and all-gather take one after the other; each is synthesized as it is in an all-reduce. */
async function sequentialPs(request: Request): Promise<number> {
  const halves = await Promise.all(
    (["reducescatter", "allgather"] as const).map((kind) => synthesized(kernels, kind, request)),
  );
  return halves.reduce((sum, { schedule }) => sum + makespanPs(schedule), 0);
}

const damagedMesh = (): Topology => without(presetTopology("mesh:4x4"), ["7", "9"]);
const MIB = 2 ** 20;

describe("an all-reduce whose halves overlap", () => {
  it.each(
    quick(
      [
        // 26 slots one half after the other; the bound is 19.
        ["a 4x4 mesh without two NPUs", damagedMesh, 64 * MIB, 1, 20],
        // 104 slots; 61 is the bound.
        ["the same in 4 chunks", damagedMesh, 64 * MIB, 4, 61],
        // 16 slots; the bound is 13.
        ["a 4x4 mesh", () => presetTopology("mesh:4x4"), 64 * MIB, 1, 15],
        ["a 5x5 mesh", () => presetTopology("mesh:5x5"), 1024 * MIB, 1, 22],
      ] as const,
      ([, , , chunks, slots]) => chunks === 1 && slots <= 20,
    ),
  )("takes few slots on %s", async (_, topology, sizeBytes, chunks, slots) => {
    const request = { topology: topology(), sizeBytes, chunks };
    const { schedule, policy } = await synthesized(kernels, "allreduce", request);
    const slot = schedule.endPs[0] - schedule.startPs[0];
    expect(makespanPs(schedule) / slot).toBe(slots);
    expect(await sequentialPs(request)).toBeGreaterThan(makespanPs(schedule));
    expect(policy).toContain("halves overlapped");
    expect(verifySchedule(schedule).violations).toEqual([]);
  });

  it.each(
    quick(
      [
        ["mesh:4x4", 3],
        ["dgx-a100:2", 1],
        ["ndv2:2", 1],
        ["mesh:4x5@80,35GiB/s,1us", 2],
      ] as const,
      ([, chunks]) => chunks === 1,
    ),
  )("is the same on every backend, at any width and again: %s x %i", async (expression, chunks) => {
    const request = { topology: presetTopology(expression), sizeBytes: 64 * MIB, chunks, seed: 5, trials: 2 };
    const first = await synthesized(kernels, "allreduce", request);
    expect(verifySchedule(first.schedule).violations).toEqual([]);
    for (const by of backends) {
      for (const width of triesAll ? [1, 2, 5] : [1, 5]) {
        const again = await synthesized(by, "allreduce", request, width);
        expect(again.policy).toBe(first.policy);
        expect(columnsOf(again.schedule)).toEqual(columnsOf(first.schedule));
      }
    }
  });

  it("is never longer than its halves one after the other, on random networks", async () => {
    const requests = fc.record({
      topology: connectedTopology(),
      sizeBytes: fc.constantFrom(1000, MIB, 64 * MIB),
      chunks: fc.integer({ min: 1, max: 3 }),
      seed: fc.nat(2 ** 32 - 1),
    });
    const property = fc.asyncProperty(requests, async (request) => {
      // matching in slots: what streams is longer as planned
      const matched = async (kind: NamedCollective): Promise<StepSchedule> => {
        const { topology, sizeBytes, chunks, seed } = request;
        const collective = wholeCollective(topology, kind, sizeBytes, chunks);
        const asked = { topology, collective, seed, trials: 2, policy: null, switchDegree: null };
        return stepsOf((await synthesizeByMatching(asked, { runner: inlineRunner(kernels) })).schedule);
      };
      const schedule = await matched("allreduce");
      expect(verifySchedule(schedule).violations).toEqual([]);
      const halves = [await matched("reducescatter"), await matched("allgather")].map(makespanPs);
      expect(makespanPs(schedule)).toBeLessThanOrEqual(halves[0] + halves[1]);
    });
    await fc.assert(property, { numRuns: runs(60), seed: 11 });
  });

  it("moves transfers in time only", async () => {
    // With a kernel whose schedules are all too late the schedule stays as it was.
    const rows = ({ chunk, route, op }: StepSchedule): string[] =>
      Array.from(chunk, (c, i) => `${c} ${route[i]} ${op[i]}`).sort();
    const late = (problem: PlaceProblem): Float64Array => kernels.place(problem).map((start) => start + 2 ** 50);
    const request = { topology: damagedMesh(), sizeBytes: 64 * MIB, chunks: 2, policy: "oldest" };
    const moved = await synthesized(kernels, "allreduce", request);
    const kept = await synthesized({ ...kernels, place: late }, "allreduce", request);
    expect(kept.policy).not.toContain("overlapped");
    expect(makespanPs(moved.schedule)).toBeLessThan(makespanPs(kept.schedule));
    expect(rows(moved.schedule)).toEqual(rows(kept.schedule));
  });

  it("is not tried where the trees leave nothing to gain", async () => {
    // The link between the boxes has work from first to last, though the bound over all trees is lower.
    const request = { topology: presetTopology("ndv2:2"), sizeBytes: 64 * MIB };
    const none = { ...kernels, place: () => expect.fail("no try was expected") };
    const { schedule } = await synthesized(none, "allreduce", request);
    expect(makespanPs(schedule)).toBe(await sequentialPs(request));
  });
});
