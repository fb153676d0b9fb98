import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { placeJs } from "../../../src/engine/kernels/js/kernels.ts";
import { readAlltoallv } from "../../../src/import/collectives/collective.ts";
import { boundOf, limitOf } from "../../../src/model/bounds/bounds.ts";
import { type Collective, collective } from "../../../src/model/collective/collective.ts";
import { indicesBelow } from "../../../src/model/numbers/ordering.ts";
import { toNumber } from "../../../src/model/numbers/rational.ts";
import { presetTopology } from "../../../src/model/presets/preset.ts";
import { routeTimes } from "../../../src/model/routes/routes.ts";
import { makespanPs } from "../../../src/model/steps/step-schedule.ts";
import type { Topology } from "../../../src/model/topology/topology.ts";
import { simulate } from "../../../src/simulate/simulate.ts";
import { unicastSchedule } from "../../../src/synthesize/alltoall/alltoall.ts";
import { messagesOf } from "../../../src/synthesize/alltoall/paths.ts";
import type { TimingOptions } from "../../../src/synthesize/alltoall/slots.ts";
import type { KernelRunner } from "../../../src/synthesize/synthesizer.ts";
import { verify } from "../../../src/verify/verify.ts";
import { connectedTopology } from "../../support/connected-topology.ts";
import { runs } from "../../support/runs.ts";
import { columnsOf, wholeCollective } from "../../support/synthesis.ts";
import { demandMatrix, equalSplit } from "./flows.ts";

const runner = (width: number): Pick<KernelRunner, "width" | "place"> => ({
  width,
  place: async (problem) => placeJs(problem),
});
const options = (seed: number, width: number): TimingOptions => ({ seed, trials: 4, runner: runner(width) });

function scheduled(topology: Topology, collective: Collective, { seed = 1, width = 1 } = {}) {
  const messages = messagesOf(collective, topology.npuCount);
  const demand = demandMatrix(messages, topology.npuCount);
  const flowOf = (s: number) => equalSplit(topology, (t) => demand[s * topology.npuCount + t], s);
  return unicastSchedule(topology, collective, messages, flowOf, options(seed, width));
}

/** Fails unless the judge accepts the schedule and it is not faster than what is proved. */
async function expectGood(topology: Topology, collective: Collective): Promise<void> {
  const { schedule } = await scheduled(topology, collective);
  expect(verify(schedule, {}).violations).toEqual([]);
  const times = routeTimes(topology, schedule.routes, collective.chunkBytes);
  const end = makespanPs(schedule);
  expect(end).toBeGreaterThanOrEqual(toNumber(boundOf(topology, collective, schedule.routes, times).ps) - 1);
  const { ps } = simulate(schedule, { switching: "cut-through" });
  expect(ps).toBeGreaterThanOrEqual(toNumber(limitOf(topology, collective).ps) - 1);
}

describe("unicastSchedule", () => {
  it("satisfies the judge on random networks with switches and unequal links, and no bound is passed", async () => {
    const problems = fc.tuple(
      connectedTopology(8),
      fc.integer({ min: 1, max: 4 }),
      fc.integer({ min: 1, max: 2 ** 30 }),
    );
    await fc.assert(
      fc.asyncProperty(problems, async ([topology, chunks, size]) => {
        await expectGood(topology, wholeCollective(topology, "alltoall", size, chunks));
      }),
      { numRuns: runs(40), seed: 5 },
    );
  });

  it("lets latency delay many small messages, and not hold links for them", async () => {
    const cube = presetTopology("tpu-v4:4x4x4");
    const small = wholeCollective(cube, "alltoall", 2 ** 20);
    const { schedule } = await scheduled(cube, small);
    expect(verify(schedule, {}).violations).toEqual([]);
    // along the best flow it meets the limit, along this one nearly; held for latency as well links take 1.3 times as long
    expect(simulate(schedule, {}).ps).toBeLessThan(1.08 * toNumber(limitOf(cube, small).ps));
    const torus = presetTopology("torus:5x5");
    const smaller = await scheduled(torus, wholeCollective(torus, "alltoall", 2 ** 16));
    // ways of 4 hops of 0.5 us: 2 us; held for latency as well links take 4.2
    expect(simulate(smaller.schedule, {}).ps).toBeLessThan(2.5e6);
  });

  it("takes process groups, which others relay for", async () => {
    const networks = connectedTopology(9).filter(({ npuCount }) => npuCount >= 5);
    await fc.assert(
      fc.asyncProperty(networks, async (topology) => {
        const groups = [Int32Array.of(3, 0), Int32Array.of(1, 4)];
        const request = { kind: "alltoall", groups, sizeBytes: 1 << 20, chunksPerNpu: 2, rootRank: 0 } as const;
        await expectGood(topology, collective(request));
      }),
      { numRuns: runs(20), seed: 6 },
    );
  });

  it("takes an all-to-all-v with zeros", async () => {
    const entry = fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 20 }));
    const problems = connectedTopology(6).chain((topology) =>
      fc.tuple(
        fc.constant(topology),
        fc.array(entry, { minLength: topology.npuCount ** 2, maxLength: topology.npuCount ** 2 }),
      ),
    );
    await fc.assert(
      fc.asyncProperty(problems, async ([topology, entries]) => {
        const { npuCount } = topology;
        const rows = indicesBelow(npuCount);
        fc.pre(entries.some((bytes, i) => bytes > 0 && i % (npuCount + 1) !== 0));
        const text = [...rows].map((i) => entries.slice(i * npuCount, (i + 1) * npuCount).join(" ")).join("\n");
        await expectGood(topology, readAlltoallv(text, "m", topology));
      }),
      { numRuns: runs(30), seed: 7 },
    );
  });

  it.each([
    ["ring:8", 1],
    ["torus:4x4", 2],
    ["hypercube:4", 2],
    ["torus:5x6", 2],
  ])("keeps the busiest links of %s busy to the end", async (name, chunks) => {
    const topology = presetTopology(name);
    const { schedule, busiestPs } = await scheduled(topology, wholeCollective(topology, "alltoall", 2 ** 30, chunks));
    expect(makespanPs(schedule)).toBe(busiestPs);
  });

  it.each(["dgx-a100:2", "mi250:1", "dragonfly:4x5"])(
    "sends through switches in rounds without gaps: %s",
    async (name) => {
      const topology = presetTopology(name);
      const { schedule, busiestPs } = await scheduled(topology, wholeCollective(topology, "alltoall", 2 ** 30));
      expect(makespanPs(schedule)).toBeLessThan(busiestPs * 1.03);
    },
  );

  it("gives the same schedule for the same seed, however many tries run at once, and others for others", async () => {
    const boxes = presetTopology("dgx-h100:4");
    const request = wholeCollective(boxes, "alltoall", 2 ** 20);
    const once = await scheduled(boxes, request, { seed: 7 });
    expect(once.tries).toBeGreaterThan(1);
    const again = await scheduled(boxes, request, { seed: 7, width: 3 });
    expect(again.tries).toBe(once.tries);
    expect(columnsOf(again.schedule)).toEqual(columnsOf(once.schedule));
    const torus = presetTopology("torus:4x4");
    const drawn = await Promise.all(
      [7, 8].map((seed) => scheduled(torus, wholeCollective(torus, "alltoall", 2 ** 20), { seed })),
    );
    expect(columnsOf(drawn[0].schedule)).not.toEqual(columnsOf(drawn[1].schedule));
  });
});
