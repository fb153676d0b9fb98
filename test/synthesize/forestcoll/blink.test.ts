import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { InputError } from "../../../src/base/errors.ts";
import { jsKernels } from "../../../src/engine/kernels/js/kernels.ts";
import { openHighs } from "../../../src/engine/milp/highs.ts";
import type { NamedCollective } from "../../../src/model/collective/collective.ts";
import { format, rational } from "../../../src/model/numbers/rational.ts";
import type { Topology } from "../../../src/model/topology/topology.ts";
import { topologyBuilder } from "../../../src/model/topology/topology-builder.ts";
import { blink, fastestRoot } from "../../../src/synthesize/forestcoll/blink.ts";
import { packingNetwork } from "../../../src/synthesize/forestcoll/packing.ts";
import { judgeCertificate, throughputOf } from "../../../src/verify/trees/certificate.ts";
import { verifyTreeFlow } from "../../../src/verify/trees/tree-flow.ts";
import { availableKernels } from "../../support/backends.ts";
import { connectedTopology } from "../../support/connected-topology.ts";
import { runs } from "../../support/runs.ts";
import { treeContext, treeRequest, type Wish } from "../../support/tree-requests.ts";

const [kernels] = await availableKernels();
const context = { ...treeContext(kernels), lp: openHighs };
const rate = async (problem: Parameters<typeof jsKernels.rate>[0]) => jsKernels.rate(problem);

async function made(network: Topology | string, kind: NamedCollective, wish?: Wish) {
  const synthesis = await blink.make(treeRequest(network, kind, wish), context);
  expect(verifyTreeFlow(synthesis.flow).violations).toEqual([]);
  return synthesis;
}

/** Returns links both ways between neighbours in a row, so many GB/s each. */
function row(bandwidths: readonly number[]): Topology {
  const builder = topologyBuilder("row");
  for (let v = 0; v <= bandwidths.length; v++) builder.addNpu(`${v}`);
  bandwidths.forEach((gbps, v) => {
    builder.addDuplex(v, v + 1, gbps * 1e9, 0);
  });
  return builder.build();
}

describe("blink", () => {
  it.each([
    ["ring:5", "broadcast", 100],
    ["torus:3x3", "reduce", 200],
    ["dgx-a100:1", "broadcast", 300],
    ["dgx-a100:2", "broadcast", 200],
    ["dgx-a100:2", "reduce", 200],
    ["dgx-a100:16", "broadcast", 200],
    ["mi250:2", "broadcast", 256],
  ] as const)("reaches the optimum of a single root on %s for %s: %i GB/s", async (preset, kind, gbps) => {
    const { flow } = await made(preset, kind, { rootRank: 2 });
    expect(judgeCertificate(flow).proof?.optimal).toBe(true);
    expect(throughputOf(flow)).toEqual(rational(gbps * 1e9));
    expect([...new Set(flow.forests[0].root)]).toEqual([2]);
  });

  it.each([
    ["two NPUs send and receive at once", row([10]), true, 10],
    ["a row: sums run one way, results the other", row([10, 10, 10]), true, 10],
    ["a ring: every link has both to carry", "ring:5", false, 50],
    ["a switch: ports between the ends of a chain have both to carry", "switch:6", false, 25],
  ])("takes an all-reduce as it is faster: %s", async (_, network, concurrent, gbps) => {
    const { flow } = await made(network, "allreduce");
    expect(flow.concurrent).toBe(concurrent);
    expect(format(throughputOf(flow))).toBe(format(rational(gbps * 1e9)));
  });

  it("is never slower than two phases", async () => {
    await fc.assert(
      fc.asyncProperty(connectedTopology(7), async (topology) => {
        const { flow } = await made(topology, "allreduce");
        const root = flow.forests[0].root[0];
        const broadcast = await made(topology, "broadcast", { rootRank: root });
        const reduce = await made(topology, "reduce", { rootRank: root });
        const [a, b] = [broadcast, reduce].map((phase) => throughputOf(phase.flow));
        const own = throughputOf(flow);
        // 1 / (1/a + 1/b) <= own
        expect(a.num * b.num * own.den <= own.num * (a.num * b.den + b.num * a.den)).toBe(true);
      }),
      { numRuns: runs(60) },
    );
  });

  it("takes the root from which a broadcast is fastest, the least of equal ones", async () => {
    const counted = async (topology: Topology) => {
      const members = Int32Array.from(Array(topology.npuCount).keys());
      const network = packingNetwork(topology, members, topology.linkBytesPerSecond, "out");
      let calls = 0;
      const root = await fastestRoot(network, (problem) => {
        calls++;
        return jsKernels.rate(problem);
      });
      let best = { root: -1, capacity: -1n };
      for (let v = 0; v < members.length; v++) {
        const { nodeCount, npuCount, linkSource, linkTarget, bandwidth } = network;
        const weight = Float64Array.from(members, (u) => (u === v ? 1 : 0));
        const { capacity } = await rate({ nodeCount, npuCount, linkSource, linkTarget, capacity: bandwidth, weight });
        if (capacity > best.capacity) best = { root: v, capacity };
      }
      expect(root).toBe(best.root);
      return calls;
    };
    await fc.assert(
      fc.asyncProperty(connectedTopology(), async (topology) => {
        await counted(topology);
      }),
      { numRuns: runs(100) },
    );
    expect(await counted(treeRequest("dgx-a100:4", "allreduce").topology)).toBeLessThan(6);
  });

  it("serves groups, whose outsiders forward, and fixed numbers of trees", async () => {
    const { flow } = await made("torus:3x3", "allreduce", { members: [8, 1, 4] });
    expect([8, 1, 4]).toContain(flow.forests[0].root[0]);
    const fixed = await made("dgx-a100:2", "broadcast", { copiesPerRoot: 3 });
    expect(fixed.flow.forests[0].copies.reduce((a, b) => a + b, 0)).toBe(3);
  });

  it("refuses what it cannot do, with the place", async () => {
    await expect(made("ring:4", "allreduce", { members: [1] })).rejects.toThrow(InputError);
    expect(blink.collectives).not.toContain("allgather");
  });
});
