import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { InputError } from "../../../src/base/errors.ts";
import { readSketch } from "../../../src/import/sketches/taccl-sketch.ts";
import { rational } from "../../../src/model/numbers/rational.ts";
import { presetTopology } from "../../../src/model/presets/preset.ts";
import { routeCount, routeTimes } from "../../../src/model/routes/routes.ts";
import { sketchNetwork } from "../../../src/model/sketch/network.ts";
import type { InternodeSketch, Sketch, SketchNetwork } from "../../../src/model/sketch/sketch.ts";
import { linkNames, type Topology } from "../../../src/model/topology/topology.ts";
import { topologyBuilder } from "../../../src/model/topology/topology-builder.ts";
import { outOfRange, type Refusal, refusalFrom, unexpected } from "../../support/refusals.ts";
import { runs, seen } from "../../support/runs.ts";
import { anySketch, flatSketch, OWN_SKETCH, onlyBetween, onlyInside, sharedNics } from "../../support/sketches.ts";

/** A route in words: "1>nic0.0>ib 1/2". */
const routesInWords = ({ topology, routes }: SketchNetwork): string[] => {
  const names = linkNames(topology);
  return Array.from({ length: routeCount(routes) }, (_, r) => {
    const from = routes.linkOffset[r];
    const ways = [...routes.links.subarray(from, routes.linkOffset[r + 1])].map((link, i) => {
      const [num, den] = [routes.shareNum[from + i], routes.shareDen[from + i]];
      return num === den ? names[link] : `${names[link]} ${num}/${den}`;
    });
    return ways.join(", ");
  });
};

const between = (npusPerBox: number, boxes: number, connections: InternodeSketch["connections"]): Sketch =>
  flatSketch(npusPerBox, {
    boxes,
    internode: onlyBetween(connections),
  });

function parallelPair(): Topology {
  const builder = topologyBuilder("pair");
  builder.addNumberedNpus(2);
  for (const [from, to] of [
    [1, 0],
    [0, 1],
    [0, 1],
  ] as const)
    builder.addLink(from, to, 1e9, 0);
  return builder.build({});
}

function twoPairs(): Topology {
  const builder = topologyBuilder("pairs");
  builder.addNumberedNpus(4);
  for (const [a, b] of [
    [0, 1],
    [2, 3],
  ] as const)
    builder.addDuplex(a, b, 1e9, 0);
  return builder.build({});
}

const onOwn = (change: (file: string) => string) =>
  refusalFrom(() => sketchNetwork(sharedNics(), readSketch(change(OWN_SKETCH), "s", sharedNics())));

describe("sketchNetwork", () => {
  it("joins a box through its switch and boxes through NICs, with shares of a split", () => {
    const network = sketchNetwork(sharedNics(), readSketch(OWN_SKETCH, "own", sharedNics()));
    const words = routesInWords(network);
    expect(words).toHaveLength(2 * 12 + 2 * 2);
    expect(words.filter((_, route) => network.leavesBox[route] === 1)).toEqual([
      "1>nic0.0, nic0.0>ib, ib>nic1.0, nic1.0>4",
      "3>nic0.1 1/2, nic0.1>ib 1/2, ib>nic1.1 1/2, nic1.1>6 1/2",
      "5>nic1.0, nic1.0>ib, ib>nic0.0, nic0.0>0",
      "7>nic1.1 1/2, nic1.1>ib 1/2, ib>nic0.1 1/2, nic0.1>2 1/2",
    ]);
    expect(words.slice(0, 3)).toEqual(["0>nvsw0, nvsw0>1", "0>nvsw0, nvsw0>2", "0>nvsw0, nvsw0>3"]);
    expect(network.policies).toEqual(["uc-min", "uc-min"]);
    const inside = [...network.hyperedge].filter((_, route) => network.leavesBox[route] === 0);
    expect(inside).toEqual([...Array<number>(12).fill(0), ...Array<number>(12).fill(1)]);
    expect([...network.boxOf]).toEqual([0, 0, 0, 0, 1, 1, 1, 1]);
    expect([...network.symmetries[0].npuTo]).toEqual([4, 5, 6, 7, 0, 1, 2, 3]);
  });

  it("uses all links and switches of a box where the strategy is none, NICs only between boxes", () => {
    const network = sketchNetwork(sharedNics(), between(4, 2, "direct-map"));
    expect(routeCount(network.routes)).toBe(2 * 12 + 2 * 4);
    expect(network.policies).toEqual(["none", "none"]);
    const torus = sketchNetwork(presetTopology("torus:3x3"), flatSketch(9));
    expect([routeCount(torus.routes), torus.policies]).toEqual([36, []]);
    expect([...torus.hyperedge]).toEqual(Array<number>(36).fill(-1));
  });

  it("keeps parallel links apart", () => {
    const network = sketchNetwork(parallelPair(), flatSketch(2));
    expect(routesInWords(network)).toEqual(["0>1", "0>1#2", "1>0"]);
  });

  it("lets NPUs of a box without links meet in the network's switch", () => {
    const network = sketchNetwork(presetTopology("switch:4"), between(2, 2, new Map([[0, [1]]])));
    expect(routesInWords(network)).toEqual([
      "0>sw0, sw0>1",
      "0>sw0, sw0>3",
      "1>sw0, sw0>0",
      "2>sw0, sw0>1",
      "2>sw0, sw0>3",
      "3>sw0, sw0>2",
    ]);
  });

  it("connects only boxes that something joins", () => {
    const network = sketchNetwork(presetTopology("mesh:2x3"), between(2, 3, "direct-map"));
    expect(routesInWords(network).filter((_, r) => network.leavesBox[r] === 1)).toEqual([
      "0>2",
      "1>3",
      "2>0",
      "2>4",
      "3>1",
      "3>5",
      "4>2",
      "5>3",
    ]);
  });

  it.each<readonly [what: string, run: () => Error, refusal: Refusal]>([
    [
      "another number of boxes",
      () => refusalFrom(() => sketchNetwork(sharedNics(), between(2, 4, "direct-map"))),
      unexpected("flat: nnodes", 4, 2),
    ],
    [
      "another number of NPUs",
      () => refusalFrom(() => sketchNetwork(presetTopology("torus:3x3"), flatSketch(8))),
      unexpected("flat: nnodes", "1 of 8 GPUs", 9),
    ],
    [
      "a switch that is not there",
      () =>
        refusalFrom(() =>
          sketchNetwork(
            presetTopology("dgx1"),
            flatSketch(8, {
              intranode: { strategy: "switch", switches: [[1, 2, 7]], policies: ["none"], connections: null },
            }),
          ),
        ),
      unexpected("flat: intranode_sketch.switches[0]", "1 -> 2"),
    ],
    [
      "a connection in a box that is not there",
      () =>
        refusalFrom(() =>
          sketchNetwork(
            presetTopology("dgx1"),
            flatSketch(8, {
              intranode: onlyInside([0, [1, 7]]),
            }),
          ),
        ),
      unexpected("flat: intranode_sketch.intranode_conn.0", "0 -> 7"),
    ],
    [
      "a connection between rails",
      () => refusalFrom(() => sketchNetwork(presetTopology("dgx-h100:2"), between(8, 2, "fully-connected"))),
      unexpected("flat: internode_sketch.internode_conn", "0 -> 9"),
    ],
    [
      "boxes that nothing joins",
      () => refusalFrom(() => sketchNetwork(twoPairs(), between(2, 2, "direct-map"))),
      unexpected("flat: internode_sketch", "none"),
    ],
    [
      "a rotation without an image",
      () => onOwn((text) => text.replace("[4, 8]", "[1, 4]")),
      unexpected("s: symmetry_offsets[0]", [1, 4], 4, 2, 5),
    ],
    [
      "a rotation onto other shares",
      () => onOwn((text) => text.replace("[4, 8]", "[2, 4]")),
      unexpected("s: symmetry_offsets[0]", [2, 4], 4, 3, 6),
    ],
    [
      "a rotation that relays do not follow",
      () =>
        refusalFrom(() =>
          sketchNetwork(sharedNics(), {
            ...between(4, 2, "fully-connected"),
            symmetries: [{ offset: 1, period: 4 }],
            internode: onlyBetween("fully-connected", new Map([0, 1, 2, 3].map((owner) => [owner, [0]]))),
          }),
        ),
      unexpected("flat: symmetry_offsets[0]", [1, 4]),
    ],
    [
      "too many connections",
      () => refusalFrom(() => sketchNetwork(presetTopology("switch:600"), flatSketch(600))),
      outOfRange("flat: connections", "more", 250000),
    ],
  ])("refuses %s", (_, run, refusal) => {
    expect(run()).toEqual(refusal);
  });

  it("has routes that walk from NPU to NPU over switches only, and rotations that keep times", () => {
    const networks: Record<string, Topology> = {
      4: presetTopology("torus:2x4"),
      8: sharedNics(),
      12: sharedNics(3),
      16: presetTopology("dgx-a100:2"),
      80: presetTopology("fat-tree:4x2"),
      81: presetTopology("ndv2:2"),
    };
    const bytes = rational(1_000_003n);
    let kept = 0;
    fc.assert(
      fc.property(
        fc.constantFrom(...Object.values(networks)).chain((topology) => {
          const boxes =
            topology.name === "torus:2x4"
              ? 1
              : new Set(topology.nodeTraits.slice(0, topology.npuCount).map(({ group }) => group)).size;
          return anySketch(boxes, topology.npuCount / boxes).map((sketch) => ({ topology, sketch }));
        }),
        ({ topology, sketch }) => {
          let network: SketchNetwork;
          try {
            network = sketchNetwork(topology, sketch);
          } catch (error) {
            if (error instanceof InputError) return;
            throw error;
          }
          kept++;
          checkWalks(network);
          const { slotPs } = routeTimes(topology, network.routes, bytes);
          for (const { npuTo, routeTo } of network.symmetries) {
            expect(new Set(npuTo).size).toBe(topology.npuCount);
            expect(new Set(routeTo).size).toBe(slotPs.length);
            routeTo.forEach((image, route) => {
              expect(slotPs[image]).toBe(slotPs[route]);
              expect(network.routes.source[image]).toBe(npuTo[network.routes.source[route]]);
              expect(network.routes.target[image]).toBe(npuTo[network.routes.target[route]]);
            });
          }
        },
      ),
      { numRuns: runs(150) },
    );
    expect(kept).toBeGreaterThan(seen(20));
  });
});

function checkWalks({ topology, routes, leavesBox, boxOf, hyperedge, policies }: SketchNetwork): void {
  let before = -1;
  for (let r = 0; r < routeCount(routes); r++) {
    let at = routes.source[r];
    for (let i = routes.linkOffset[r]; i < routes.linkOffset[r + 1]; i++) {
      const link = routes.links[i];
      expect(topology.linkSource[link]).toBe(at);
      at = topology.linkTarget[link];
      if (i + 1 < routes.linkOffset[r + 1]) expect(at).toBeGreaterThanOrEqual(topology.npuCount);
      expect(routes.shareNum[i]).toBeLessThanOrEqual(routes.shareDen[i]);
    }
    expect(at).toBe(routes.target[r]);
    const key = routes.source[r] * topology.npuCount + routes.target[r];
    expect(key).toBeGreaterThanOrEqual(before);
    before = key;
    expect(leavesBox[r]).toBe(Number(boxOf[routes.source[r]] !== boxOf[routes.target[r]]));
    expect(hyperedge[r]).toBeLessThan(policies.length);
  }
}
