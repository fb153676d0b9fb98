import { describe, expect, it } from "vitest";
import { random } from "../../src/base/random.ts";
import { jsKernels } from "../../src/engine/kernels/js/kernels.ts";
import { multiply, rational } from "../../src/model/numbers/rational.ts";
import { presetTopology } from "../../src/model/presets/preset.ts";
import { linkCount, type Topology } from "../../src/model/topology/topology.ts";
import { expandTrees } from "../../src/model/trees/tree-expansion.ts";
import type { TreeFlow } from "../../src/model/trees/tree-flow.ts";
import { heightsOf } from "../../src/model/trees/tree-times.ts";
import { simulateTreeFlow, treeFlowClock } from "../../src/simulate/trees/tree-flow.ts";
import { nvls } from "../../src/synthesize/trees/nvls.ts";
import { verifyTreeFlow } from "../../src/verify/trees/tree-flow.ts";
import { ABLE, drawnAbleFlow, withTraits } from "../support/able-switches.ts";
import { playedPs } from "../support/played-trees.ts";
import { outOfRange } from "../support/refusals.ts";
import { starFlow } from "../support/tree-flows.ts";
import { treeContext, treeRequest } from "../support/tree-requests.ts";

const KINDS = ["allgather", "reducescatter", "broadcast", "reduce", "allreduce"] as const;
const context = treeContext(jsKernels);

/** Returns the network with latencies that differ from link to link. */
const uneven = (topology: Topology, seed: number): Topology => {
  const draws = random(seed, 77);
  return { ...topology, linkLatencyPs: topology.linkLatencyPs.map(() => draws.below(1000) * 1000) };
};

describe("the clock of flows whose switches duplicate and sum", () => {
  it.each(KINDS)("tells what playing it chunk by chunk takes: %s", (kind) => {
    const draws = random(21, 4);
    for (let round = 0; round < 80; round++) {
      const concurrent = kind === "allreduce" && round % 2 === 0;
      const flow = drawnAbleFlow(kind, draws, { concurrent, copies: concurrent ? 1 : 3 });
      const late = { ...flow, topology: uneven(flow.topology, round) };
      for (const pieces of [1, 2, 5]) {
        expect(simulateTreeFlow(late, pieces).ps).toBe(playedPs(late, pieces));
      }
    }
  });

  it("is told by the way of the data where a switch is fed from nearer to the root than an edge starts", () => {
    // 0 sends to 1 and 2, 2 sends to 3: all through the switch, which has the data from 0 already
    const star = starFlow(4, 1e9, 1000, 4000);
    const { links, linkOffset } = star.forests[0];
    const topology = withTraits(star.topology, () => ABLE);
    const link = (a: number, b: number): number =>
      [...topology.linkSource.keys()].find(
        (e) => topology.linkSource[e] === a && topology.linkTarget[e] === b,
      ) as number;
    expect(links.length).toBe(linkOffset[linkOffset.length - 1]);
    const edges = [
      [link(0, 4), link(4, 1)],
      [link(0, 4), link(4, 2)],
      [link(2, 4), link(4, 3)],
    ];
    const chained: TreeFlow = {
      ...star,
      topology,
      inNetwork: true,
      collective: treeRequest(topology, "broadcast").collective,
      forests: [
        {
          direction: "out",
          root: Int32Array.of(0),
          copies: Float64Array.of(1),
          linkOffset: Float64Array.of(0, 2, 4, 6),
          links: Int32Array.from(edges.flat()),
          copyBytesPerSecond: { num: 1_000_000_000n, den: 1n },
        },
      ],
    };
    expect(heightsOf(chained).greatest).toBe(1);
    expect(treeFlowClock(chained)(1, 1000)).toBe(1_000_000 + 2 * 1000);
    const { inNetwork: _, ...plain } = chained;
    expect(heightsOf(plain).greatest).toBe(2);
    expect(treeFlowClock(plain)(1, 1000)).toBe(2 * (1_000_000 + 2 * 1000));
  });

  it("holds links for what crosses them, and no longer than it takes", async () => {
    const { flow } = await nvls.make(treeRequest("dgx-h100:1", "allreduce"), context);
    const { ps, linkBusyPs } = simulateTreeFlow(flow, 64);
    // 8 roots: 7 contributions and a result up, 7 results and a sum down, each 1/8 of 1 MiB at 450 GB/s
    for (const busy of linkBusyPs) {
      expect(Math.abs(busy - (2 ** 20 / 450e9) * 1e12)).toBeLessThan(1e3);
      expect(busy).toBeLessThan(ps);
    }
    const listed = simulateTreeFlow(expandTrees(flow), 64);
    expect(listed).toMatchObject({ ps, model: "network/cut-through" });
    for (const [link, busy] of listed.linkBusyPs.entries()) expect(busy).toBeCloseTo(linkBusyPs[link] as number, 6);
    const draws = random(5, 5);
    for (let round = 0; round < 40; round++) {
      const any = drawnAbleFlow(KINDS[round % 5], draws);
      const all = simulateTreeFlow(any, 3);
      expect(all.linkBusyPs.length).toBe(linkCount(any.topology));
      expect(Math.max(...all.linkBusyPs)).toBeLessThanOrEqual(all.ps * (1 + 1e-12));
    }
  });

  it("takes of an NVSwitch box two hops and 9/8 S / b", async () => {
    const { flow } = await nvls.make(treeRequest("dgx-h100:1", "allreduce"), context);
    const clock = treeFlowClock(flow);
    for (const pieces of [1, 2, 100]) {
      const serial = Math.ceil((2 ** 30 / 8 / pieces) * (9 / 450e9) * 1e12);
      expect(Math.abs(clock(pieces, 2 ** 30) - ((pieces + 1) * serial + 4 * 500_000))).toBeLessThanOrEqual(2 * pieces);
    }
    expect(presetTopology("dgx-h100:1").linkLatencyPs[0]).toBe(500_000);
  });

  it("takes maps that repeat the trees of a root as more, thinner trees, and refuses billions of them", async () => {
    const { flow } = await nvls.make(treeRequest("dgx-h100:2", "allreduce"), context);
    const repeated = (times: number): TreeFlow => ({
      ...flow,
      certificate: null,
      symmetry: { sizes: [8 * times, 2], steps: flow.symmetry?.steps ?? [] },
      forests: flow.forests.map((forest) => ({
        ...forest,
        copyBytesPerSecond: multiply(forest.copyBytesPerSecond, rational(1, times)),
      })),
    });
    expect(verifyTreeFlow(repeated(2 ** 40)).violations).toEqual([]);
    expect(simulateTreeFlow(repeated(16), 4).ps).toBe(simulateTreeFlow(flow, 4).ps);
    expect(() => simulateTreeFlow(repeated(2 ** 40), 4)).toThrow(outOfRange("the symmetry", 2 ** 40, 4000000));
  });
});
