import type { TreeView, WireColumns } from "../../protocol.ts";

/** What trees do to wires. */

/** A wire that a tree's data runs over in one direction. */
export interface Step {
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
    let at = from[edge] as number;
    for (let i = wireOffset[edge] as number; i < (wireOffset[edge + 1] as number); i++) {
      const wire = wires[i] as number;
      const outwards = a[wire] === at;
      visit(wire, outwards === (direction === "out"), depth[edge] as number);
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
 * Returns for each direction of a wire the share of its bandwidth that is held, copies at so many bytes per second each; without
 * a rate the trees there as a share of the most that run anywhere.
 */
export function sharesOf(
  { forward, backward }: Pick<WireColumns, "forward" | "backward">,
  { trees, copies }: Uses,
  copyBytesPerSecond: number | null,
): Float32Array {
  const most = trees.reduce((a, b) => Math.max(a, b), 1);
  return Float32Array.from(copies, (number, way) => {
    if (copyBytesPerSecond === null) return (trees[way] as number) / most;
    const bytesPerSecond = ((way & 1) === 0 ? forward : backward)[way >> 1] as number;
    return bytesPerSecond > 0 ? (number * copyBytesPerSecond) / bytesPerSecond : 0;
  });
}

/** Returns each wire's share: that of its busier direction. */
export const busierWay = (shares: Float32Array): Float32Array =>
  Float32Array.from({ length: shares.length / 2 }, (_, wire) =>
    Math.max(shares[2 * wire] as number, shares[2 * wire + 1] as number),
  );

/** Returns the ways that are used most, by share, at most so many. O(ways log ways). */
export const busiestWays = (shares: Float32Array, most: number): number[] =>
  [...shares.keys()]
    .filter((way) => (shares[way] as number) > 0)
    .sort((a, b) => (shares[b] as number) - (shares[a] as number) || a - b)
    .slice(0, most);

/** So many colours tell how far from the root a wire is. */
export const DEPTHS = 6;

/** Returns which of them a depth (1 ..) has in a tree so deep: one each where they suffice, else in equal parts. */
export const depthStep = (depth: number, deepest: number): number =>
  deepest <= DEPTHS ? depth - 1 : Math.min(DEPTHS - 1, Math.floor(((depth - 1) * DEPTHS) / deepest));
