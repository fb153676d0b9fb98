import { BYTES_PER_GB, formatShare } from "../../../model/numbers/units.ts";
import type { TreesView, TreeView, WireColumns } from "../../protocol.ts";
import type { Made } from "../../state/store.ts";

/** What trees do to wires. */

/** A wire that a tree's data runs over in one direction. */
interface Step {
  readonly wire: number;
  /** The data runs from a to b. */
  readonly forward: boolean;
  /** Edges from the root, of the nearest edge that runs here. */
  readonly depth: number;
}

type Ends = Pick<WireColumns, "a" | "b">;

/** Calls back for each wire of each edge, with the direction of the data. O(wires of all edges). */
export function walk(
  { a, b }: Ends,
  { direction, from, depth, wireOffset, wires }: TreeView,
  visit: (wire: number, forward: boolean, depth: number) => void,
): void {
  for (let edge = 0; edge < from.length; edge++) {
    let at = from[edge];
    for (let i = wireOffset[edge]; i < wireOffset[edge + 1]; i++) {
      const wire = wires[i];
      const outwards = a[wire] === at;
      visit(wire, outwards === (direction === "out"), depth[edge]);
      at = (outwards ? b[wire] : a[wire]) as number;
    }
  }
}

/** Returns the wires that a tree uses, each direction once, those far from the root first. O(steps log steps). */
export function stepsOf(ends: Ends, tree: TreeView): Step[] {
  const found = new Map<number, Step>();
  walk(ends, tree, (wire, forward, depth) => {
    const key = 2 * wire + (forward ? 0 : 1);
    const before = found.get(key);
    if (before === undefined || depth < before.depth) found.set(key, { wire, forward, depth });
  });
  return [...found.values()].sort((x, y) => y.depth - x.depth || x.wire - y.wire);
}

/** How much several trees use wires, by direction: 2 * wire from a to b, 2 * wire + 1 back. */
export interface Uses {
  /** Trees that run there. */
  readonly trees: Int32Array;
  /** Copies that hold their rate there, once for each edge. */
  readonly copies: Float64Array;
}

export const noUses = ({ a }: Pick<Ends, "a">): Uses => ({
  trees: new Int32Array(2 * a.length),
  copies: new Float64Array(2 * a.length),
});

/** Adds a tree. O(wires of its edges). */
export function addTree(ends: Ends, uses: Uses, tree: TreeView): void {
  const seen = new Set<number>();
  walk(ends, tree, (wire, forward) => {
    const way = 2 * wire + (forward ? 0 : 1);
    uses.copies[way] += tree.copies;
    seen.add(way);
  });
  for (const way of seen) uses.trees[way]++;
}

/**
 * Returns for each direction of a wire the share of its bandwidth that is held, copies at this many bytes per second each; without
 * a rate the trees there as a share of the most that run anywhere.
 */
export function sharesOf(
  { forward, backward }: Pick<WireColumns, "forward" | "backward">,
  { trees, copies }: Uses,
  copyBytesPerSecond: number | null,
): Float32Array {
  const most = trees.reduce((a, b) => Math.max(a, b), 1);
  return Float32Array.from(copies, (number, way) => {
    if (copyBytesPerSecond === null) return trees[way] / most;
    const bytesPerSecond = ((way & 1) === 0 ? forward : backward)[way >> 1] as number;
    return bytesPerSecond > 0 ? (number * copyBytesPerSecond) / bytesPerSecond : 0;
  });
}

/** Returns each wire's share: that of its busier direction. */
export const busierWay = (shares: Float32Array): Float32Array =>
  Float32Array.from({ length: shares.length / 2 }, (_, wire) => Math.max(shares[2 * wire], shares[2 * wire + 1]));

/** Returns the ways that are used most, by share, at most this many. O(ways log ways). */
export const busiestWays = (shares: Float32Array, most: number): number[] =>
  [...shares.keys()]
    .filter((way) => shares[way] > 0)
    .sort((a, b) => shares[b] - shares[a] || a - b)
    .slice(0, most);

/** Rows of the list of a forest's trees. */

export type ForestView = TreesView["forests"][number];

export type Row =
  | { readonly kind: "root"; readonly root: number; readonly trees: number }
  | { readonly kind: "tree"; readonly tree: number /** Among the trees of all rows. */; readonly index: number };

/**
 * Returns the rows of a forest: trees by root in the order of the nodes, under a row for their root where roots have several.
 * `wanted` keeps some roots only. O(trees log trees).
 */
export function rowsOf({ root }: ForestView, wanted: (root: number) => boolean = () => true): Row[] {
  const order = [...root.keys()].filter((tree) => wanted(root[tree]));
  order.sort((a, b) => root[a] - root[b] || a - b);
  const trees = new Map<number, number>();
  for (const tree of order) trees.set(root[tree], (trees.get(root[tree]) ?? 0) + 1);
  const hasHeads = [...trees.values()].some((count) => count > 1);
  const rows: Row[] = [];
  let last = -1;
  for (const [index, tree] of order.entries()) {
    const own = root[tree];
    if (hasHeads && own !== last) rows.push({ kind: "root", root: own, trees: trees.get(own) as number });
    last = own;
    rows.push({ kind: "tree", tree, index });
  }
  return rows;
}

/** Returns the trees of a root. O(trees). */
export const treesOf = ({ root }: ForestView, of: number): number[] =>
  [...root.keys()].filter((tree) => root[tree] === of);

/** Returns the tree that is `by` further than another in the rows; the first where it is not there, itself at the ends. O(rows). */
export function treeBeside(rows: readonly Row[], tree: number, by: number): number {
  const trees = rows.flatMap((row) => (row.kind === "tree" ? [row.tree] : []));
  const at = trees.indexOf(tree);
  if (at < 0) return trees[0] ?? tree;
  return trees[Math.max(0, Math.min(trees.length - 1, at + by))];
}

/** A tree as a nested list: nodes one after the other as long as there is one next, then the branches. */
export interface Outline {
  readonly nodes: readonly number[];
  readonly branches: readonly Outline[];
}

/** Returns the outline of a tree from its root, branches in the order of the edges. O(edges), no recursion per node. */
export function outlineOf({ root, from, to }: Pick<TreeView, "root" | "from" | "to">): Outline {
  const next = new Map<number, number[]>();
  for (let edge = 0; edge < from.length; edge++) {
    const known = next.get(from[edge]);
    if (known === undefined) next.set(from[edge], [to[edge]]);
    else known.push(to[edge]);
  }
  const stemFrom = (node: number): { nodes: number[]; branches: Outline[] } => {
    const nodes = [node];
    for (let after = next.get(node); after?.length === 1; after = next.get(after[0])) nodes.push(after[0]);
    return { nodes, branches: [] };
  };
  const whole = stemFrom(root);
  const open = [whole];
  for (let stem = open.pop(); stem !== undefined; stem = open.pop()) {
    for (const branch of next.get(stem.nodes[stem.nodes.length - 1]) ?? []) {
      const found = stemFrom(branch);
      stem.branches.push(found);
      open.push(found);
    }
  }
  return whole;
}

/** Returns why trees are not faster: the proof where they reach the bound, else the bound and which links are full. */
export function rateSentences({
  boundRate,
  share,
  because,
  fullest,
}: Pick<TreesView, "boundRate" | "share" | "because" | "fullest">): string[] {
  if (share >= 1) return [sentence(`No trees can beat this: ${because}`)];
  return [sentence(`The bound is ${boundRate} (${formatShare(share)} reached): ${because}`), heldBack(fullest)];
}

/** Returns which links hold trees back that do not reach the bound. */
export const heldBack = (fullest: string): string => sentence(`What holds these trees back: ${fullest}`);

/** Returns a text with a full stop last. */
const sentence = (text: string): string => (/[.!?]$/.test(text) ? text : `${text}.`);

/** Returns the bytes per second of one copy of a tree; null where the report does not tell. */
export function copyBytesPerSecond({ schedule: { report } }: Made): number | null {
  const rate = report.throughput?.copyGBps;
  return rate === undefined ? null : rate * BYTES_PER_GB;
}
