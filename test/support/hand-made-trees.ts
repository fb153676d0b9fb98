import { rational } from "../../src/model/numbers/rational.ts";
import { topologyBuilder } from "../../src/model/topology/topology-builder.ts";
import { everyone } from "./everyone.ts";
import { network, ring, star, task } from "./hand-made-schedules.ts";
import type { PlainFlow, PlainTree } from "./plain-trees.ts";

/** Tree flows made by hand, all of them optimal; links of 1 GB/s. */

const GB = 1_000_000_000;

const turned = (n: number, by = 1): number[] => Array.from({ length: n }, (_, v) => (v + by) % n);

const plain = (flow: Pick<PlainFlow, "topology" | "collective" | "forests"> & Partial<PlainFlow>): PlainFlow => ({
  concurrent: false,
  symmetry: null,
  certificate: null,
  ...flow,
});

/** Links v to v + 1, one way. */
const round = (n: number, root: number): PlainTree => ({
  root,
  copies: 1,
  edges: Array.from({ length: n - 1 }, (_, i) => [(root + i) % n]),
});
/** The same backwards: contributions to the root run over these links. */
const roundIn = (n: number, root: number): PlainTree => ({
  root,
  copies: 1,
  edges: Array.from({ length: n - 1 }, (_, i) => [(root - 1 - i + 2 * n) % n]),
});

/** An all-gather on a ring of one direction: n/(n-1) GB/s. */
export const ringTrees = (n: number): PlainFlow =>
  plain({
    topology: ring(n),
    collective: task("allgather", n),
    forests: [{ direction: "out", y: rational(GB, n - 1), trees: turned(n, 0).map((root) => round(n, root)) }],
    certificate: { kind: "cut", direction: "out", nodes: everyone(n - 1) },
  });

/** The same, one tree for all. */
export const turnedRing = (n: number): PlainFlow => ({
  ...ringTrees(n),
  forests: [{ direction: "out", y: rational(GB, n - 1), trees: [round(n, 0)] }],
  symmetry: { sizes: [n], steps: [turned(n)] },
});

/** A reduce-scatter on the same ring. */
export const ringInTrees = (n: number): PlainFlow =>
  plain({
    topology: ring(n),
    collective: task("reducescatter", n),
    forests: [{ direction: "in", y: rational(GB, n - 1), trees: turned(n, 0).map((root) => roundIn(n, root)) }],
    certificate: { kind: "cut", direction: "in", nodes: everyone(n - 1) },
  });

/** Its all-reduce: reduce-scatter, then all-gather, or both at once. */
export const ringAllReduceTrees = (n: number, concurrent = false): PlainFlow => {
  const y = rational(GB, (n - 1) * (concurrent ? 2 : 1));
  return plain({
    topology: ring(n),
    collective: task("allreduce", n),
    forests: [
      { direction: "in", y, trees: ringInTrees(n).forests[0].trees },
      { direction: "out", y, trees: ringTrees(n).forests[0].trees },
    ],
    concurrent,
    certificate: { kind: "cut", direction: "out", nodes: everyone(n - 1) },
  });
};

/** Four NPUs on a switch (links v up, 4 + v down): each root sends to the others one by one. */
export const starTrees = (): PlainFlow =>
  plain({
    topology: star,
    collective: task("allgather", 4),
    forests: [
      {
        direction: "out",
        y: rational(GB, 3),
        trees: turned(4, 0).map((root) => ({
          root,
          copies: 1,
          edges: [1, 2, 3].map((hop) => [root, 4 + ((root + hop) % 4)]),
        })),
      },
    ],
    certificate: { kind: "cut", direction: "out", nodes: Int32Array.of(0, 1, 2, 4) },
  });

/** A line of three NPUs, the one in the middle outside the group: it only forwards. */
export const relayTrees = (): PlainFlow =>
  plain({
    topology: network(3, [
      [0, 1],
      [1, 2],
      [2, 1],
      [1, 0],
    ]),
    collective: task("allgather", 2, 0, Int32Array.of(0, 2)),
    forests: [
      {
        direction: "out",
        y: rational(GB),
        trees: [
          { root: 0, copies: 1, edges: [[0, 1]] },
          { root: 2, copies: 1, edges: [[2, 3]] },
        ],
      },
    ],
    certificate: { kind: "cut", direction: "out", nodes: Int32Array.of(0) },
  });

/** Two boxes of two GPUs: 3 GB/s both ways within a box, 1 GB/s from each GPU to one switch and back. Broadcast from GPU 0. */
export const boxTrees = (): PlainFlow => {
  const builder = topologyBuilder("boxes");
  for (let v = 0; v < 4; v++) builder.addNpu(`g${v}`);
  const hub = builder.addSwitch("ib");
  builder.addDuplex(0, 1, 3 * GB, 0); // 0, 1
  builder.addDuplex(2, 3, 3 * GB, 0); // 2, 3
  for (let v = 0; v < 4; v++) builder.addDuplex(v, hub, GB, 0); // 4 + 2 v up, 5 + 2 v down
  return plain({
    topology: builder.build(),
    collective: task("broadcast", 4),
    forests: [
      {
        direction: "out",
        y: rational(GB),
        trees: [
          { root: 0, copies: 1, edges: [[0], [4, 9], [2]] },
          { root: 0, copies: 1, edges: [[0], [6, 11], [3]] },
        ],
      },
    ],
    certificate: { kind: "cut", direction: "out", nodes: Int32Array.of(0, 1) },
  });
};

export const HAND_MADE_TREES: Readonly<Record<string, PlainFlow>> = {
  ring: ringTrees(4),
  "turned ring": turnedRing(5),
  "ring backwards": ringInTrees(4),
  "all-reduce in phases": ringAllReduceTrees(3),
  "all-reduce at once": ringAllReduceTrees(3, true),
  star: starTrees(),
  relay: relayTrees(),
  boxes: boxTrees(),
};
