import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Kernels } from "../../src/engine/contract/kernels.ts";
import { openEngine } from "../../src/engine/engine.ts";
import { jsKernels } from "../../src/engine/kernels/js/kernels.ts";
import { openHighs } from "../../src/engine/milp/highs.ts";
import { describeWitness } from "../../src/model/bounds/bounds.ts";
import { COLLECTIVE_KINDS, type NamedCollective } from "../../src/model/collective/collective.ts";
import {
  ceil,
  compare,
  divide,
  multiply,
  type Rational,
  rational,
  toNumber,
} from "../../src/model/numbers/rational.ts";
import { PS_PER_SECOND } from "../../src/model/numbers/units.ts";
import { presetTopology } from "../../src/model/presets/preset.ts";
import { degrade, without } from "../../src/model/topology/modify.ts";
import { linkNames, type Topology } from "../../src/model/topology/topology.ts";
import { limitWithBottleneck } from "../../src/run/bottleneck.ts";
import { sumsLimit } from "../../src/run/sums-limit.ts";
import { synthesize } from "../../src/run/synthesize.ts";
import { simulateTreeFlow } from "../../src/simulate/trees/tree-flow.ts";
import { applicableTo } from "../../src/synthesize/applicable.ts";
import { allReduceRates } from "../../src/synthesize/forestcoll/allreduce-rates.ts";
import { ABLE, drawnAbleFlow, withTraits } from "../support/able-switches.ts";
import { availableKernels } from "../support/backends.ts";
import { cutsByOracle, drawnNetwork, drawsOf, partitionsByOracle } from "../support/partition-limits.ts";
import { runs, seen, triesAll } from "../support/runs.ts";
import { wholeCollective } from "../support/synthesis.ts";

const GIB = 2 ** 30;
const still = (topology: Topology): Topology => ({
  ...topology,
  linkLatencyPs: new Float64Array(topology.linkSource.length),
});
const limitOf = (
  topology: Topology,
  kind: Parameters<typeof wholeCollective>[1],
  bytes = 720_720,
  kernels = jsKernels,
) => limitWithBottleneck(kernels, topology, wholeCollective(topology, kind, bytes));
const KINDS = ["allreduce", "allgather", "reducescatter", "broadcast", "reduce"] as const;

/** Returns the bandwidth of all borders by the number of parts less one, GB/s: what an all-reduce is limited by twice. */
const rateOf = (topology: Topology): number =>
  (2 * GIB) / (toNumber(limitOf(still(topology), "allreduce", GIB).ps) / 1e12) / 1e9;

describe("limits by partitions", () => {
  it.each([
    // boxes of 8 send 8 x 50 GB/s over rails, whatever NVSwitch sums and duplicates inside
    ["dgx-h100:128", (128 / 127) * 400, "the 128 sets of 8 NPUs send each other 272.73 GB through 51200 GB/s in total"],
    ["dgx-a100:128", (128 / 127) * 200, "the 128 sets of 8 NPUs send each other 272.73 GB through 25600 GB/s in total"],
    // pairs of GCDs, joined by links four times as fast
    ["mi250:1", 2400 / 7, "the 8 sets of 2 NPUs send each other 15.032 GB through 2400 GB/s in total"],
    ["mi250:64", (64 / 63) * 256, "the 64 sets of 16 NPUs send each other 135.29 GB through 16384 GB/s in total"],
    ["torus:32x32", (1024 * 200) / 1023, "the 1024 NPUs send each other 2196.9 GB through 204800 GB/s in total"],
    ["mesh:32x32", (4 * 31 * 32 * 50) / 1023, "the 1024 NPUs send each other 2196.9 GB through 198400 GB/s in total"],
    ["dragonfly:32x32@200GB/s,0us", (32 * 31 * 200) / 31, undefined],
    ["fat-tree:16x4,leaf=4,tiers=2,oversub=2@450,50GB/s", 1280 / 3 / 2, undefined],
  ])("are those of %s: %d GB/s", (preset, gbps, because) => {
    const topology = presetTopology(preset);
    expect(rateOf(topology)).toBeCloseTo(gbps, 6);
    const limit = limitOf(still(topology), "allreduce", GIB);
    if (because !== undefined) expect(describeWitness(topology, limit)).toBe(because);
  });

  it("are as tight where a rail of one box or a whole NPU has failed", () => {
    const whole = presetTopology("dgx-h100:4");
    const part = without(whole, ["0-rail0"]);
    // box 0 has 7 of 8 NICs
    expect(rateOf(part)).toBeLessThan(rateOf(whole));
    expect(rateOf(part)).toBeGreaterThanOrEqual(350);
    const slower = degrade(presetTopology("mi250:1"), [[linkNames(presetTopology("mi250:1"))[0] as string, 0.5]]);
    expect(rateOf(slower)).toBeLessThanOrEqual(2400 / 7);
    expect(rateOf(without(presetTopology("mesh:5x5"), ["12"]))).toBeCloseTo((72 * 50) / 23, 6);
  });

  it("count only what is outside of the parts, on the side where it matters", () => {
    // 4 NPUs a box on a switch that can do all, boxes on one more switch
    const boxes = presetTopology("switch:4*switch:3@300,25GB/s,0us");
    const inner = (node: number): boolean => node < boxes.npuCount + 3;
    const limits = [{}, { multicast: true }, { aggregation: true }, ABLE].map((outer) =>
      toNumber(
        limitOf(
          withTraits(boxes, (node) => (inner(node) ? ABLE : outer)),
          "allreduce",
          1.2e9,
        ).ps,
      ),
    );
    const [passive, multicasts, sums, both] = limits as [number, number, number, number];
    expect(passive).toBeCloseTo(2 * 2 * (1.2e9 / (3 * 100e9)) * 1e12, 0);
    expect([multicasts, sums]).toEqual([passive, passive]);
    expect(both).toBeCloseTo((1.2e9 / 100e9) * 1e12, 0);
  });

  it("meet brute force over all partitions, cuts and sets of switches on random networks without able switches", () => {
    let byPartition = 0;
    fc.assert(
      fc.property(
        fc.nat(),
        fc.constantFrom("allreduce", "allreduce", ...KINDS),
        fc.boolean(),
        (seed, kind, bothWays) => {
          const topology = drawnNetwork(drawsOf(seed), { mostNpus: 5, mostSwitches: 3, bothWays });
          const collective = wholeCollective(topology, kind, 720_720);
          const cut = cutsByOracle(topology, collective);
          const partition = partitionsByOracle(topology, collective) as Rational;
          const best = compare(partition, cut) > 0 ? partition : cut;
          if (compare(partition, cut) > 0) byPartition++;
          expect(limitWithBottleneck(jsKernels, topology, collective).ps).toEqual(best);
        },
      ),
      { numRuns: runs(300) },
    );
    expect(byPartition).toBeGreaterThan(seen(15));
  });

  it("never exceed brute force where switches duplicate and sum, and mostly meet it", () => {
    let met = 0;
    let count = 0;
    fc.assert(
      fc.property(fc.nat(), fc.constantFrom(...KINDS), (seed, kind) => {
        const topology = drawnNetwork(drawsOf(seed), { mostNpus: 4, mostSwitches: 3, able: true });
        const collective = wholeCollective(topology, kind, 720_720);
        const cut = cutsByOracle(topology, collective);
        const partition = partitionsByOracle(topology, collective) ?? cut;
        const best = compare(partition, cut) > 0 ? partition : cut;
        const { ps } = limitWithBottleneck(jsKernels, topology, collective);
        expect(compare(ps, best)).toBeLessThanOrEqual(0);
        count++;
        if (compare(ps, best) === 0) met++;
      }),
      { numRuns: runs(300) },
    );
    expect(met / count).toBeGreaterThan(0.8);
  });
});

describe("limits against schedules", () => {
  it("are not above the time of trees through switches that duplicate and sum", () => {
    fc.assert(
      fc.property(fc.nat(), fc.constantFrom(...KINDS), (seed, kind) => {
        const flow = drawnAbleFlow(kind, drawsOf(seed));
        const { ps } = simulateTreeFlow(flow, 64);
        const limit = limitWithBottleneck(jsKernels, flow.topology, flow.collective);
        expect(Number(ceil(limit.ps)), describeWitness(flow.topology, limit)).toBeLessThanOrEqual(ps);
      }),
      { numRuns: runs(120) },
    );
  });

  it("are not above the simulated time of what makers of steps and phases make on networks with switches and latencies", async () => {
    const engine = await openEngine({ threads: 0 });
    let made = 0;
    for (let seed = 0; seed < runs(30); seed++) {
      const shape = { mostNpus: 6, mostSwitches: 3, bothWays: seed % 2 === 0, latencies: [0, 500_000, 700_001] };
      const topology = drawnNetwork(drawsOf(seed), shape);
      const collective = COLLECTIVE_KINDS[seed % COLLECTIVE_KINDS.length] as NamedCollective;
      const sizeBytes = [720_720, 5_040, 7_207_200][seed % 3] as number;
      for (const algorithm of applicableTo(topology, wholeCollective(topology, collective, sizeBytes))) {
        if (["tacos-ilp", "taccl", "sccl"].includes(algorithm)) continue;
        const { report } = await synthesize(engine, topology, { collective, sizeBytes, algorithm });
        expect(report.limit.us, `${seed} ${algorithm}: ${report.limit.because}`).toBeLessThanOrEqual(report.time.us);
        made++;
      }
    }
    await engine.close();
    expect(made).toBeGreaterThan(seen(150));
  });

  it("are not above the optimum of trees (Zhao 2026, B.7), and nearly always the same", async () => {
    const lp = await openHighs();
    const rate = async (problem: Parameters<Kernels["rate"]>[0]) => jsKernels.rate(problem);
    const count = triesAll ? 81 : 16;
    const engine = await openEngine({ threads: 0, backend: "js" });
    const [met, cuts] = [[] as number[], [] as number[]];
    for (let seed = 0; seed < count; seed++) {
      const topology = drawnNetwork(drawsOf(seed), { mostNpus: 6, mostSwitches: 3, bothWays: seed % 2 === 0 });
      const members = Int32Array.from({ length: topology.npuCount }, (_, npu) => npu);
      const { rate: best, optimal } = await allReduceRates(topology, members, { rate, lp });
      expect(optimal).toBe(true);
      const collective = wholeCollective(topology, "allreduce", 720_720);
      const optimum = divide(multiply(rational(720_720), rational(PS_PER_SECOND)), best);
      const { ps } = limitWithBottleneck(jsKernels, topology, collective);
      expect(compare(ps, optimum)).toBeLessThanOrEqual(0);
      const sums = await sumsLimit(engine, topology, collective);
      expect(sums?.ps, `${seed}`).toEqual(optimum);
      if (compare(ps, optimum) === 0) met.push(seed);
      if (compare(cutsByOracle(topology, collective), optimum) === 0) cuts.push(seed);
    }
    await engine.close();
    expect(met.length).toBeGreaterThan(cuts.length);
    expect(met.length / count).toBeGreaterThan(0.9);
  });
});

describe("limits with latency", () => {
  it("are the same on every backend", async () => {
    const backends = await availableKernels();
    for (let seed = 0; seed < runs(40); seed++) {
      const shape = { mostNpus: 9, mostSwitches: 4, able: seed % 2 === 1, latencies: [0, 500_000, 700_000] };
      const topology = drawnNetwork(drawsOf(seed), shape);
      for (const kind of KINDS) {
        const [first, ...others] = backends.map((kernels) => limitOf(topology, kind, 720_720, kernels));
        for (const other of others) expect(other).toEqual(first);
      }
    }
  });

  it("count the way there and the bytes after one another, and both only once", () => {
    // 1 MB over 1 GB/s and 5 us
    const line = presetTopology("line:2@1GB/s,5us");
    expect(limitOf(line, "broadcast", 1e6).ps).toEqual(rational(1005e6));
    expect(describeWitness(line, limitOf(line, "broadcast", 1e6))).toBe(
      "NPU 0 sends 1 MB through 1 GB/s, 5 us or more on the way",
    );
    // three NPUs in a row: a byte needs 10 us from end to end, which is less than the bytes take over one link
    expect(limitOf(presetTopology("line:3@1GB/s,5us"), "broadcast", 1e6).ps).toEqual(rational(1005e6));
    expect(limitOf(presetTopology("line:3@1GB/s,5us"), "broadcast", 1).ps).toEqual(rational(10e6));
  });

  it("are at least those without, and at most those without plus the latency of all links", () => {
    let raised = 0;
    fc.assert(
      fc.property(fc.nat(), fc.constantFrom(...KINDS), (seed, kind) => {
        const shape = { mostNpus: 6, mostSwitches: 3, able: seed % 3 === 0, latencies: [0, 500_000, 3_000_000] };
        const topology = drawnNetwork(drawsOf(seed), shape);
        const late = limitOf(topology, kind).ps;
        const early = limitOf(still(topology), kind).ps;
        const all = topology.linkLatencyPs.reduce((sum, ps) => sum + ps, 0);
        expect(compare(late, early)).toBeGreaterThanOrEqual(0);
        expect(toNumber(late)).toBeLessThanOrEqual(toNumber(early) + all);
        if (compare(late, early) > 0) raised++;
      }),
      { numRuns: runs(150) },
    );
    expect(raised).toBeGreaterThan(seen(60));
  });
});
