import { describe, expect, test } from "vitest";
import { type Collective, collective } from "../../../src/model/collective/collective.ts";
import { rational } from "../../../src/model/numbers/rational.ts";
import type { Topology } from "../../../src/model/topology/topology.ts";
import { topologyBuilder } from "../../../src/model/topology/topology-builder.ts";
import { verifyTreeFlow } from "../../../src/verify/trees/tree-flow.ts";
import type { Violation } from "../../../src/verify/violation.ts";
import { everyone } from "../../support/everyone.ts";
import {
  boxTrees,
  HAND_MADE_TREES,
  relayTrees,
  ringAllReduceTrees,
  ringInTrees,
  ringTrees,
  starTrees,
  turnedRing,
} from "../../support/hand-made-trees.ts";
import { builtTrees, copiedTrees, type PlainFlow } from "../../support/plain-trees.ts";
import { outOfRange } from "../../support/refusals.ts";
import { judgeTrees } from "../../support/tree-flow-oracle.ts";

const changed = (flow: PlainFlow, change: (flow: PlainFlow) => void): PlainFlow => {
  const copy = copiedTrees(flow);
  change(copy);
  return copy;
};
const edgesOf = (flow: PlainFlow, tree: number): number[][] => flow.forests[0].trees[tree].edges;
const allToAll = (n: number) =>
  collective({ kind: "alltoall", groups: [everyone(n)], sizeBytes: n, chunksPerNpu: 1, rootRank: 0 });

type LinkRow = readonly [from: number, to: number, bandwidth: number, latency: number];

function linked(npus: number, rows: readonly LinkRow[]): Topology {
  const builder = topologyBuilder("linked");
  for (let v = 0; v < npus; v++) builder.addNpu(`g${v}`);
  for (const row of rows) builder.addLink(...row);
  return builder.build();
}

/** Each flow and all that is wrong with it. */
const BROKEN: Readonly<Record<string, readonly [PlainFlow, ...Violation[]]>> = {
  "a path with a gap": [
    changed(starTrees(), (flow) => edgesOf(flow, 1).splice(0, 1, [1, 2])),
    {
      kind: "broken-path",
      npu: 1,
      forest: 0,
      tree: 1,
      edge: 0,
      link: 1,
      message:
        "out-tree 1 at rank 1 (g1): edge 0 over links g1>s0, g2>s0 goes on over link g2>s0, which does not leave s0",
    },
    {
      kind: "link-overload",
      forest: 0,
      link: 2,
      message: "4 copies of the out-forest hold 4000000000/3 bytes/s of link g2>s0, more than its 1000000000 bytes/s",
    },
  ],
  "an edge without links": [
    changed(ringTrees(3), (flow) => edgesOf(flow, 2).splice(1, 1, [])),
    {
      kind: "broken-path",
      npu: 2,
      forest: 0,
      tree: 2,
      edge: 1,
      message: "out-tree 2 at rank 2 (g2): edge 1 has no links",
    },
  ],
  "a path through a member": [
    changed(ringTrees(3), (flow) => edgesOf(flow, 0).splice(0, 1, [0, 1])),
    {
      kind: "broken-path",
      npu: 0,
      forest: 0,
      tree: 0,
      edge: 0,
      link: 0,
      message: "out-tree 0 at rank 0 (g0): edge 0 over links g0>g1, g1>g2 passes rank 1 (g1), a member",
    },
    {
      kind: "link-overload",
      forest: 0,
      link: 1,
      message: "3 copies of the out-forest hold 1500000000 bytes/s of link g1>g2, more than its 1000000000 bytes/s",
    },
  ],
  "an edge that starts too early": [
    changed(ringInTrees(3), (flow) => edgesOf(flow, 0).reverse()),
    {
      kind: "not-a-tree",
      npu: 0,
      forest: 0,
      tree: 0,
      edge: 0,
      link: 1,
      message: "in-tree 0 at rank 0 (g0): edge 0 over link g1>g2 starts at rank 2 (g2), where the tree has not been",
    },
  ],
  "an edge that returns": [
    changed(ringTrees(2), (flow) => flow.forests[0].trees.push({ root: 0, copies: 1, edges: [[1]] })),
    {
      kind: "not-a-tree",
      npu: 0,
      forest: 0,
      tree: 2,
      edge: 0,
      link: 1,
      message: "out-tree 2 at rank 0 (g0): edge 0 over link g1>g0 starts at rank 1 (g1), where the tree has not been",
    },
    {
      kind: "wrong-copies",
      npu: 0,
      forest: 0,
      message: "rank 0 (g0) is the root of 2 of 3 copies, but 1 of 2 chunks start there",
    },
    {
      kind: "wrong-copies",
      npu: 1,
      forest: 0,
      message: "rank 1 (g1) is the root of 1 of 3 copies, but 1 of 2 chunks start there",
    },
    {
      kind: "link-overload",
      forest: 0,
      link: 1,
      message: "2 copies of the out-forest hold 2000000000 bytes/s of link g1>g0, more than its 1000000000 bytes/s",
    },
  ],
  "an edge to where the tree has been": [
    changed(boxTrees(), (flow) => edgesOf(flow, 0).splice(2, 1, [1])),
    {
      kind: "not-a-tree",
      npu: 0,
      forest: 0,
      tree: 0,
      edge: 2,
      link: 1,
      message: "out-tree 0 at rank 0 (g0): edge 2 over link g1>g0 ends at rank 0 (g0), where the tree has been",
    },
  ],
  "an edge to a switch": [
    changed(starTrees(), (flow) => edgesOf(flow, 3).splice(2, 1, [3])),
    {
      kind: "not-a-tree",
      npu: 3,
      forest: 0,
      tree: 3,
      edge: 2,
      link: 3,
      message: "out-tree 3 at rank 3 (g3): edge 2 over link g3>s0 ends at s0, which is no member",
    },
  ],
  "a root outside the group": [
    changed(relayTrees(), (flow) => {
      flow.forests[0].trees[0].root = 1;
    }),
    {
      kind: "not-a-tree",
      npu: 1,
      forest: 0,
      tree: 0,
      message: "out-tree 0 at g1 (outside the group) has no member for its root",
    },
    {
      kind: "wrong-copies",
      npu: 0,
      forest: 0,
      message: "rank 0 (g0) is the root of 0 of 2 copies, but 1 of 2 chunks start there",
    },
    {
      kind: "wrong-copies",
      npu: 1,
      forest: 0,
      message: "g1 (outside the group) is the root of 1 of 2 copies, but 0 of 2 chunks start there",
    },
  ],
  "more copies than fit": [
    changed(turnedRing(3), (flow) => {
      flow.forests[0].y = rational(500_000_001);
    }),
    ...[0, 1, 2].map((link) => ({
      kind: "link-overload" as const,
      forest: 0,
      link,
      message: `2 copies of the out-forest hold 1000000002 bytes/s of link g${link}>g${(link + 1) % 3}, more than its 1000000000 bytes/s`,
    })),
  ],
  "forests that fit one by one but not together": [
    changed(ringAllReduceTrees(2), (flow) => {
      flow.concurrent = true;
      flow.forests[0].y = rational(1, 3);
    }),
    ...[0, 1].map((link) => ({
      kind: "link-overload" as const,
      link,
      message: `1 copy of the in-forest and 1 copy of the out-forest hold 3000000001/3 bytes/s of link g${link}>g${1 - link}, more than its 1000000000 bytes/s`,
    })),
  ],
  "roots that differ between the phases": [
    changed(ringAllReduceTrees(2), (flow) => {
      flow.forests[1].trees[1].copies = 2;
      flow.forests[1].y = rational(1);
    }),
    {
      kind: "wrong-copies",
      npu: 1,
      message: "rank 1 (g1) is the root of 1 copy in the in-forest but of 2 in the out-forest",
    },
  ],
  "a reduce-scatter with out-trees": [
    { ...ringTrees(2), collective: ringInTrees(2).collective },
    { kind: "wrong-forests", message: 'this reducescatter takes forests "in" but has "out"' },
  ],
  "an all-reduce the other way round": [
    changed(ringAllReduceTrees(2), (flow) => flow.forests.reverse()),
    { kind: "wrong-forests", message: 'this allreduce takes forests "in" then "out" but has "out" then "in"' },
  ],
  "an all-gather side by side with nothing": [
    { ...ringTrees(2), concurrent: true },
    { kind: "wrong-forests", message: "a single forest cannot run side by side with another" },
  ],
  "an all-to-all": [
    { ...ringTrees(2), collective: allToAll(2) },
    {
      kind: "wrong-forests",
      message:
        "trees do not make this alltoall: they are for chunks copied from one member to all, summed from all to one, or summed for all",
    },
  ],
  "a map that takes two nodes to one": [
    { ...turnedRing(3), symmetry: { sizes: [3], steps: [[1, 1, 0]] } },
    { kind: "false-symmetry", message: "map 0 of the symmetry takes two nodes to rank 1 (g1)" },
  ],
  "a map of an NPU to a switch": [
    { ...starTrees(), symmetry: { sizes: [2], steps: [[4, 1, 2, 3, 0]] } },
    { kind: "false-symmetry", message: "map 0 of the symmetry takes rank 0 (g0) to s0, a node of another kind" },
  ],
  "a map of a member to an outsider": [
    { ...relayTrees(), symmetry: { sizes: [3], steps: [[1, 2, 0]] } },
    {
      kind: "false-symmetry",
      message: "map 0 of the symmetry takes rank 0 (g0) to g1 (outside the group), a node of another kind",
    },
  ],
  "a map of another order": [
    { ...turnedRing(3), symmetry: { sizes: [4], steps: [[1, 2, 0]] } },
    {
      kind: "false-symmetry",
      message: "map 0 of the symmetry does not bring rank 0 (g0) back in 4 steps, for it does so in 3",
    },
  ],
  "a map against the links": [
    { ...turnedRing(3), symmetry: { sizes: [2], steps: [[0, 2, 1]] } },
    { kind: "false-symmetry", message: "map 0 of the symmetry takes link g0>g1 to none like it" },
  ],
  "maps that do not commute": [
    {
      ...starTrees(),
      symmetry: {
        sizes: [4, 2],
        steps: [
          [1, 2, 3, 0, 4],
          [1, 0, 2, 3, 4],
        ],
      },
    },
    { kind: "false-symmetry", message: "map 1 of the symmetry does not commute with map 0 at rank 0 (g0)" },
  ],
};

/** Columns that are none, and the sentence. */
const MALFORMED: readonly (readonly [(flow: ReturnType<typeof builtTrees>) => object, string])[] = [
  [() => ({ forests: [] }), "a tree flow has one forest or two, not 0"],
  [
    ({ collective: own }) => ({
      collective: { ...own, kind: "custom", groupCount: 2, groupMembers: Int32Array.of(0, 1, 2, 3), groupSize: 2 },
    }),
    "trees are for one group of NPUs, not for 2 of 2 with 4 chunks",
  ],
  [of({ direction: "up" }), "forest 0 has direction up, neither out nor in"],
  [of({ copyBytesPerSecond: { num: 0n, den: 1n } }), "forest 0 gives its copies no bandwidth"],
  [of({ root: new Int32Array(0) }), "forest 0 has no trees"],
  [of({ copies: new Float64Array(3) }), "forest 0 does not have the columns of 4 trees over 4 members"],
  [of({ root: Int32Array.of(0, 1, 2, 9) }), "forest 0 has tree 3 rooted at node 9, which is no NPU"],
  [of({ copies: Float64Array.of(1, 0, 1, 1) }), "forest 0 has 0 copies of tree 1, not a whole number above 0"],
  [of({ copies: Float64Array.of(1, 0.5, 1, 1) }), "forest 0 has 0.5 copies of tree 1, not a whole number above 0"],
  [of({ links: new Int32Array(11) }), "forest 0 does not have the links of its edges"],
  [of({ links: new Int32Array(12).fill(4) }), "forest 0 has link number 4, which the network does not have"],
  [
    ({ forests: [own] }) => ({ forests: [{ ...own, linkOffset: own.linkOffset.map((at) => (at === 5 ? 7 : at)) }] }),
    "forest 0 has no list of links for edge 5",
  ],
  [() => ({ symmetry: { sizes: [2, 2], steps: [everyone(4)] } }), "the symmetry has 2 sizes and 1 maps"],
  [
    () => ({ symmetry: { sizes: [0], steps: [everyone(4)] } }),
    "the symmetry has sizes 0, not whole numbers below 2^53 in all",
  ],
  [() => ({ symmetry: { sizes: [1], steps: [everyone(3)] } }), "map 0 of the symmetry is for 3 nodes, not for 4"],
  [
    () => ({ symmetry: { sizes: [1], steps: [Int32Array.of(0, 1, 2, 4)] } }),
    "map 0 of the symmetry takes node 3 to 4, which is no node",
  ],
];

function of(change: object): (flow: ReturnType<typeof builtTrees>) => object {
  return ({ forests }) => ({ forests: [{ ...forests[0], ...change }] });
}

describe("verifyTreeFlow", () => {
  test.each(Object.entries(HAND_MADE_TREES))("finds nothing wrong with the %s", (_, flow) => {
    expect(verifyTreeFlow(builtTrees(flow))).toEqual({ violations: [], violationCount: 0, truncated: false });
    expect(judgeTrees(flow).valid).toBe(true);
  });

  test.each(Object.entries(BROKEN))("names %s", (_, [flow, ...violations]) => {
    const found = verifyTreeFlow(builtTrees(flow));
    expect(found.violations).toEqual(violations);
    expect(found.violationCount).toBe(violations.length);
    expect(judgeTrees(flow).valid).toBe(false);
  });

  test.each(MALFORMED)("refuses columns that make no flow: %#", (change, message) => {
    const flow = builtTrees(ringTrees(4));
    const [violation] = verifyTreeFlow({ ...flow, ...change(flow) }).violations;
    expect(violation).toMatchObject({ kind: "malformed", message });
  });

  test("names a node that a path passes twice", () => {
    const twice = changed(starTrees(), (own) => {
      own.collective = collective({
        kind: "allgather",
        groups: [Int32Array.of(0, 2)],
        sizeBytes: 2,
        chunksPerNpu: 1,
        rootRank: 0,
      });
      own.forests[0].trees = [
        { root: 0, copies: 1, edges: [[0, 5, 1, 6]] },
        { root: 2, copies: 1, edges: [[2, 4]] },
      ];
    });
    expect(verifyTreeFlow(builtTrees(twice)).violations.map(({ message }) => message)).toEqual([
      "out-tree 0 at rank 0 (g0): edge 0 over links g0>s0, s0>g1, g1>s0, s0>g2 passes s0 twice",
    ]);
  });

  test("takes parallel links onto equal ones, in whatever order they were declared", () => {
    const links = (back: readonly (readonly [number, number])[]): readonly LinkRow[] => [
      [0, 1, 5, 1],
      [0, 1, 7, 0],
      ...back.map(([bandwidth, latency]): LinkRow => [1, 0, bandwidth, latency]),
    ];
    const swapped = (rows: readonly LinkRow[]): readonly Violation[] => {
      const trees = [
        { root: 0, copies: 1, edges: [[0]] },
        { root: 1, copies: 1, edges: [[2]] },
      ];
      const flow: PlainFlow = { ...ringTrees(2), topology: linked(2, rows), symmetry: { sizes: [2], steps: [[1, 0]] } };
      flow.forests = [{ direction: "out", y: rational(1), trees }];
      return verifyTreeFlow(builtTrees(flow)).violations;
    };
    const none = { kind: "false-symmetry", message: "map 0 of the symmetry takes link g0>g1#2 to none like it" };
    const [five, seven] = [[5, 1] as const, [7, 0] as const];
    expect(swapped(links([seven, five]))).toEqual([]);
    expect(swapped(links([five, seven]))).toEqual([]);
    expect(swapped(links([five, [8, 0]]))).toEqual([none]);
    expect(swapped(links([five, [7, 1]]))).toEqual([none]);
    expect(swapped(links([five]))).toEqual([none]);
    const more = { ...none, message: "map 0 of the symmetry takes link g1>g0#3 to none like it" };
    expect(swapped(links([five, seven, [8, 0]]))).toEqual([more]);
  });

  test.each<[string, readonly LinkRow[], number[]]>([
    [
      "parallel links to links elsewhere",
      [
        [0, 1, 5, 0],
        [0, 1, 5, 0],
        [1, 0, 5, 0],
        [1, 2, 5, 0],
      ],
      [1, 0, 2, 3],
    ],
    [
      "pairs of links to others than pairs",
      [
        [0, 2, 5, 0],
        [0, 2, 5, 0],
        [0, 3, 5, 0],
        [0, 4, 5, 0],
        [1, 2, 5, 0],
        [1, 3, 5, 0],
        [1, 3, 5, 0],
        [1, 4, 5, 0],
      ],
      [1, 0, 2, 3, 4],
    ],
    [
      "a link to one of an earlier node",
      [
        [0, 3, 5, 0],
        [1, 3, 5, 0],
      ],
      [1, 2, 0, 3],
    ],
    [
      "a link to one of a later node",
      [
        [0, 3, 5, 0],
        [1, 2, 5, 0],
        [1, 3, 5, 0],
      ],
      [1, 0, 2, 3],
    ],
  ])("refuses a map that takes %s", (_, rows, step) => {
    const flow: PlainFlow = {
      ...ringTrees(step.length),
      topology: linked(step.length, rows),
      symmetry: { sizes: [6], steps: [step] },
    };
    for (const tree of flow.forests[0].trees) tree.edges = tree.edges.map(() => [0]);
    expect(verifyTreeFlow(builtTrees(flow)).violations.map(({ kind }) => kind)).toEqual(["false-symmetry"]);
    expect(judgeTrees(flow).falseSymmetry).toBe(true);
  });

  test.each<[string, Partial<Collective>]>([
    ["starts outside the group", { pre: { kind: "one", npu: Int32Array.of(0, 1) } }],
    [
      "goes to an outsider",
      { post: { kind: "sets", offset: Int32Array.of(0, 2, 4), members: Int32Array.of(0, 1, 0, 2) } },
    ],
    ["goes to one member", { post: { kind: "one", npu: Int32Array.of(2, 0) } }],
    ["is to be summed", { reduces: true }],
  ])("says that trees are not for a chunk that %s", (_, part) => {
    const flow = relayTrees();
    const own: PlainFlow = { ...flow, collective: { ...flow.collective, kind: "custom", ...part } };
    expect(verifyTreeFlow(builtTrees(own)).violations[0].message).toMatch(/^trees do not make this custom/);
    expect(judgeTrees(own).wrongForests).toBe(true);
  });

  test("counts what it does not keep", () => {
    const flow = changed(ringTrees(4), (own) => {
      own.forests[0].y = rational(400_000_000);
    });
    const { violations, violationCount, truncated } = verifyTreeFlow(builtTrees(flow), { limit: 1 });
    expect([violations.length, violationCount, truncated]).toEqual([1, 4, true]);
    expect(() => verifyTreeFlow(builtTrees(flow), { limit: -1 })).toThrow(outOfRange("options.limit", -1));
  });

  test("is exact where doubles are not", () => {
    const copies = Number.MAX_SAFE_INTEGER;
    // three of them are an odd number above 2^54
    const flow = changed(ringTrees(4), (own) => {
      for (const tree of own.forests[0].trees) tree.copies = copies;
      own.forests[0].y = rational(1_000_000_000n, 3n * BigInt(copies));
    });
    expect(verifyTreeFlow(builtTrees(flow)).violations).toEqual([]);
    flow.forests[0].y = rational(1_000_000_000n * 10n ** 30n + 1n, 3n * BigInt(copies) * 10n ** 30n);
    expect(verifyTreeFlow(builtTrees(flow)).violationCount).toBe(4);
  });
});
