import { beforeAll, describe, expect, it } from "vitest";
import type { Kernels } from "../../src/engine/contract/kernels.ts";
import { boundOf } from "../../src/model/bounds/bounds.ts";
import { ceil } from "../../src/model/numbers/rational.ts";
import { presetTopology } from "../../src/model/presets/preset.ts";
import { routeTimes } from "../../src/model/routes/routes.ts";
import { makespanPs } from "../../src/model/steps/step-schedule.ts";
import { verifySchedule } from "../../src/verify/steps/schedule.ts";
import { availableKernels } from "../support/backends.ts";
import { columnsOf, synthesizeWith, wholeCollective } from "../support/synthesis.ts";

let backends: Kernels[];
beforeAll(async () => {
  backends = await availableKernels();
});

/** Returns the all-reduce of this many chunks per NPU, each of 4 KiB, by matching: a policy of it leaves no other choice. */
async function allReduce(kernels: Kernels, expression: string, chunks: number) {
  const topology = presetTopology(expression);
  const collective = wholeCollective(topology, "allreduce", topology.npuCount * chunks * 4096, chunks);
  return { collective, ...(await synthesizeWith(kernels, { topology, collective, trials: 2, policy: "neighbour" })) };
}

describe("an all-reduce of many chunks", () => {
  it("is made of equal rounds, one after the other, and shorter than its halves could be in turn", async () => {
    const { schedule, policy } = await allReduce(backends[0] as Kernels, "mesh:4x4", 448);
    expect(policy).toContain("2 rounds of 224 chunks per NPU");
    expect(verifySchedule(schedule).violations).toEqual([]);
    const half = (await allReduce(backends[0] as Kernels, "mesh:4x4", 224)).schedule;
    expect(makespanPs(schedule)).toBe(2 * makespanPs(half));
    const gather = wholeCollective(schedule.topology, "allgather", 16 * 448 * 4096, 448);
    const times = routeTimes(schedule.topology, schedule.routes, gather.chunkBytes);
    const leastPs = Number(ceil(boundOf(schedule.topology, gather, schedule.routes, times).ps));
    expect(makespanPs(schedule)).toBeLessThan(2 * leastPs);
  });

  it("is synthesized whole where rounds would be longer", async () => {
    // A prime number of chunks would take as many rounds of one, each with a last slot that is not full.
    const { schedule, policy } = await allReduce(backends[0] as Kernels, "hypercube:3", 1801);
    const one = (await allReduce(backends[0] as Kernels, "hypercube:3", 1)).schedule;
    expect(policy).not.toContain("rounds");
    expect(makespanPs(schedule)).toBeLessThan(1801 * makespanPs(one));
  });

  it("is the same on every backend", async () => {
    const [first, ...others] = await Promise.all(backends.map((kernels) => allReduce(kernels, "mesh:3x3", 1500)));
    expect(first?.policy).toContain("rounds");
    for (const other of others) expect(columnsOf(other.schedule)).toEqual(columnsOf(first?.schedule as never));
  });
});
