import { beforeAll, describe, expect, it } from "vitest";
import type { Kernels } from "../../src/engine/contract/kernels.ts";
import { boundOf } from "../../src/model/bounds/bounds.ts";
import { ceil } from "../../src/model/numbers/rational.ts";
import { presetTopology } from "../../src/model/presets/preset.ts";
import { routeTimes } from "../../src/model/routes/routes.ts";
import { makespanPs } from "../../src/model/steps/step-schedule.ts";
import { without } from "../../src/model/topology/modify.ts";
import { choosersOf } from "../../src/synthesize/tacos/choosers.ts";
import { verifySchedule } from "../../src/verify/steps/schedule.ts";
import { availableKernels } from "../support/backends.ts";
import { mesh, networkOf } from "../support/networks.ts";
import { columnsOf, synthesizeWith, wholeCollective } from "../support/synthesis.ts";

let backends: Kernels[];
beforeAll(async () => {
  backends = await availableKernels();
});

const FAILED = "254-274,191-211,491,92-112,14-15,349-369,48-68,459,109,320-321,441,174-194,283-284,175,283".split(",");

/** Returns an all-gather of one chunk per NPU, and how many slots it takes more than its bound. */
async function slotsOver(kernels: Kernels, expression: string, failed: readonly string[], policy: string | null) {
  const topology = without(presetTopology(expression), failed);
  const collective = wholeCollective(topology, "allgather", topology.npuCount * 4096);
  const found = await synthesizeWith(kernels, { topology, collective, trials: 1, policy });
  const times = routeTimes(topology, found.schedule.routes, collective.chunkBytes);
  const leastPs = Number(ceil(boundOf(topology, collective, found.schedule.routes, times).ps));
  return { ...found, over: (makespanPs(found.schedule) - leastPs) / times.slotPs[0] };
}

describe("an all-gather after failures", () => {
  it.each([
    ["mesh:20x25", FAILED, 100],
    ["mesh:24x24", ["7"], 10],
    ["mesh:24x24", ["5-6"], 10],
    ["mesh:10x7x8", "427-428,365,18,372-442,414,6,160,92,373,166".split(","), 2],
  ])("%s: takes one slot more than its bound at most, where all that choose the oldest take many", async (...about) => {
    const [expression, failed, most] = about;
    const kernels = backends[0] as Kernels;
    const found = await slotsOver(kernels, expression, failed, null);
    expect(found.policy).toBe("neighbour-tight");
    expect(found.over).toBeLessThanOrEqual(1);
    expect(verifySchedule(found.schedule).violations).toEqual([]);
    expect((await slotsOver(kernels, expression, failed, "oldest")).over).toBeGreaterThan(most);
  });

  it("is the same on every backend", async () => {
    const [first, ...others] = await Promise.all(
      backends.map(async (kernels) => columnsOf((await slotsOver(kernels, "mesh:24x24", ["7"], null)).schedule)),
    );
    for (const other of others) expect(other).toEqual(first);
  });
});

describe("choosers", () => {
  const each = (npus: number) => ({
    offset: Int32Array.from({ length: npus + 1 }, (_, v) => v),
    chunk: Int32Array.from({ length: npus }, (_, v) => v),
  });
  const named = (npus: Uint8Array | null | undefined) =>
    [...(npus ?? []).entries()].filter(([, one]) => one === 1).map(([v]) => v);

  it("are the corners of a mesh and their neighbours", () => {
    const choosers = choosersOf(mesh(12, 10), each(120));
    expect(named(choosers?.of("tight"))).toEqual([0, 1, 10, 11, 12, 23, 96, 107, 108, 109, 118, 119]);
    expect(choosers?.of(null)).toBeNull();
  });

  it("are also those that were late, with what leads to them, as long as they are few", () => {
    const choosers = choosersOf(mesh(12, 12), each(144));
    const tight = named(choosers?.of("tight"));
    choosers?.keepLate((npu) => (npu === 66 ? 11 : 10), 10);
    expect(named(choosers?.of({ lateHops: 1 }))).toEqual([...tight, 54, 65, 66, 67, 78].sort((a, b) => a - b));
    choosers?.keepLate(() => 11, 10);
    expect(named(choosers?.of({ lateHops: 1 }))).toEqual(tight);
  });

  it("are not looked for where most NPUs are alike, or routes share resources", () => {
    const ring = Array.from({ length: 8 }, (_, v) => ({ source: v, target: (v + 1) % 8, slotPs: 5 }));
    expect(choosersOf(networkOf(8, ring), each(8))).toBeNull();
    const shared = { ...mesh(12, 12), useResource: Int32Array.of(0) };
    expect(choosersOf(shared, each(144))).toBeNull();
  });
});
