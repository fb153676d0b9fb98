import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { jsKernels } from "../../../src/engine/kernels/js/kernels.ts";
import { type NpuParts, tryPartition } from "../../../src/model/bounds/byte-partition.ts";
import type { Bound, Witness } from "../../../src/model/bounds/witness.ts";
import { nothingYet } from "../../../src/model/bounds/witness.ts";
import type { Collective } from "../../../src/model/collective/collective.ts";
import { add, multiply, rational } from "../../../src/model/numbers/rational.ts";
import { presetTopology } from "../../../src/model/presets/preset.ts";
import type { Topology } from "../../../src/model/topology/topology.ts";
import { limitWithBottleneck } from "../../../src/run/bottleneck.ts";
import { partitionFaults } from "../../../src/verify/flows/partition-limit.ts";
import { ABLE, withTraits } from "../../support/able-switches.ts";
import { drawnNetwork, drawsOf } from "../../support/partition-limits.ts";
import { runs, seen } from "../../support/runs.ts";
import { wholeCollective } from "../../support/synthesis.ts";

type PartitionWitness = Extract<Witness, { kind: "partition" }>;
const GIB = 2 ** 30;

/** Returns the limit, which a partition must prove. */
function limitOf(topology: Topology, collective: Collective): Bound & { readonly witness: PartitionWitness } {
  const { ps, witness } = limitWithBottleneck(jsKernels, topology, collective);
  if (witness.kind !== "partition") throw new Error(`proved by ${witness.kind}`);
  return { ps, witness };
}

const boxes = presetTopology("dgx-h100:4");
const reduced = wholeCollective(boxes, "allreduce", GIB);

describe("partitions as proofs", () => {
  it.each(["dgx-h100:4", "dgx-a100:3", "mi250:1", "mesh:4x3", "dragonfly:4x5@400,200GB/s,0us", "torus:4x4@1GB/s,0us"])(
    "prove the limit of an all-reduce on %s, and not a picosecond more",
    (preset) => {
      const topology = presetTopology(preset);
      const collective = wholeCollective(topology, "allreduce", GIB);
      const limit = limitOf(topology, collective);
      expect(partitionFaults(topology, collective, limit)).toEqual([]);
      const more = { ...limit, ps: add(limit.ps, rational(1)) };
      expect(partitionFaults(topology, collective, more)).toEqual([expect.stringContaining("can cross by")]);
    },
  );

  it("prove what the model says of any parts, on either side, for every collective", () => {
    let judged = 0;
    fc.assert(
      fc.property(fc.nat(), fc.constantFrom("allreduce", "allgather", "broadcast"), (seed, kind) => {
        const draws = drawsOf(seed);
        const latencies = [0, 500_000, 700_001];
        const topology = drawnNetwork(draws, { mostNpus: 9, mostSwitches: 5, able: seed % 2 === 0, latencies });
        const parts = 2 + draws.below(topology.npuCount - 1);
        const part = Int32Array.from({ length: topology.npuCount }, (_, npu) =>
          npu < parts ? npu : draws.below(parts),
        );
        const collective = wholeCollective(topology, kind, 720_720);
        const given: NpuParts = { part, parts };
        for (const { raise } of tryPartition(nothingYet(), topology, collective, given)) {
          const best = nothingYet();
          raise(best);
          expect(partitionFaults(topology, collective, best)).toEqual([]);
          const more = { ...best, ps: multiply(best.ps, rational(1_000_001, 1_000_000)) };
          expect(partitionFaults(topology, collective, more).length).toBeGreaterThan(0);
          judged++;
        }
      }),
      { numRuns: runs(300) },
    );
    expect(judged).toBeGreaterThan(seen(250));
  });

  const mutants: [string, (witness: PartitionWitness) => Partial<PartitionWitness>, string][] = [
    ["a part too many", ({ parts }) => ({ parts: parts + 1 }), "4 of 5 parts have NPUs"],
    ["a part that is not there", ({ parts }) => ({ parts: parts - 1 }), "there is no part 3"],
    ["an NPU in none", ({ nodes }) => ({ nodes: [[-1, 1, 0], [0, 7, 0], ...nodes.slice(1)] }), "0 is in no part"],
    ["an NPU in another", ({ nodes }) => ({ nodes: [[1, 1, 0], [0, 7, 0], ...nodes.slice(1)] }), "cross"],
    ["a node too few", ({ nodes }) => ({ nodes: nodes.slice(0, -1) }), "the runs are not the nodes"],
    ["a node too many", ({ nodes }) => ({ nodes: [...nodes, [0, 1, 0]] }), "the runs are not the nodes"],
    ["half a node", ({ nodes }) => ({ nodes: [[0, 0.5, 0], ...nodes] }), "the runs are not the nodes"],
    [
      "an NVSwitch in no part",
      () => ({
        nodes: [
          [0, 8, 0],
          [1, 8, 0],
          [2, 8, 0],
          [3, 8, 0],
          [-1, 12, 0],
        ],
      }),
      "must be in a part",
    ],
    [
      "a rail in a part",
      () => ({
        nodes: [
          [0, 8, 0],
          [1, 8, 0],
          [2, 8, 0],
          [3, 8, 0],
          [0, 4, 1],
          [0, 8, 0],
        ],
      }),
      "only forwards",
    ],
    ["an NVSwitch along", () => ({ along: [[0, 32, 1]] }), "does not only forward"],
    ["an NPU along", () => ({ along: [[0, 9, 1]] }), "does not only forward"],
    ["switches behind the last", () => ({ along: [[0, 43, 2]] }), "there is no such switch"],
    ["switches of part 9", () => ({ along: [[9, 43, 1]] }), "there is no part 9"],
    ["a rail along, which more leaves", () => ({ along: [[0, 36, 1]] }), "bytes a second cross"],
    ["more bytes", () => ({ bytes: "8589934592" }), "bytes must cross"],
    ["less bandwidth", () => ({ bytesPerSecond: "1" }), "bytes a second cross"],
    ["more latency", ({ leastLagPs = 0 }) => ({ leastLagPs: leastLagPs + 1 }), "the least latency is"],
    [
      "other latencies",
      ({ lags = [] }) => ({ lags: lags.map(({ ps, GBps }) => ({ ps, GBps: GBps / 2 })) }),
      "the latencies",
    ],
    [
      "no word of latency, but a time with it",
      () => ({ leastLagPs: undefined, lags: undefined }) as never,
      "can cross by",
    ],
  ];
  it.each(mutants)("are refused with %s", (_, change, fault) => {
    const { ps, witness } = limitOf(boxes, reduced);
    const faults = partitionFaults(boxes, reduced, { ps, witness: { ...witness, ...change(witness) } });
    expect(faults.join("; ")).toContain(fault);
  });

  it("are refused on the side on which nothing is counted, and where switches between the parts merge what is", () => {
    const { ps, witness } = limitOf(boxes, reduced);
    for (const [kind, side] of [
      ["allgather", "in"],
      ["broadcast", "in"],
      ["reducescatter", "out"],
      ["alltoall", "out"],
    ] as const) {
      const other = { ...reduced, kind };
      expect(partitionFaults(boxes, other, { ps, witness: { ...witness, side } })[0]).toContain("is not counted");
    }
    const able = withTraits(boxes, () => ABLE);
    expect(partitionFaults(able, reduced, { ps, witness })).toContain("rail0 must be in a part");
    const sums = withTraits(boxes, (node) => (node < 36 ? ABLE : { aggregation: true }));
    expect(partitionFaults(sums, reduced, { ps, witness })).toEqual([]);
    expect(partitionFaults(sums, reduced, { ps, witness: { ...witness, side: "in" } })).toContain(
      "rail0 must be in a part",
    );
    expect(partitionFaults(boxes, reduced, { ps, witness: { kind: "nothing" } })).toEqual([
      "the witness is no partition",
    ]);
  });
});
