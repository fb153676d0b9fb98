import type { PackedTrees } from "../../engine/contract/kernels.ts";
import { spanningTrees } from "./arborescences.ts";
import type { Packing } from "./optimum.ts";
import { type ForestNetwork, type LogicalArc, type Strand, splitSwitches, taken } from "./splitting.ts";

/** Equal trees over the NPUs of a network with switches. */
export interface PaperTree {
  readonly root: number;
  readonly copies: bigint;
  /** [npus - 1] links of each edge, from an NPU that the tree has reached to a new one, through switches; parents first. */
  readonly edges: readonly (readonly number[])[];
}

/** Copies that fit on each link and that start at each NPU. */
type Copies = Pick<Packing, "capacity" | "copies">;

/**
 * Returns trees over NPUs 0 .. npuCount - 1, copies[v] of them rooted at v and no more than `capacity` [links] on any link, by
 * the dissertation's own procedures (Zhao 2026, algorithms 2 to 4): for small networks, numbers of any size, and where nothing
 * else succeeds. Throws InfeasibleError as `splitSwitches` does.
 */
export const paperForest = (network: ForestNetwork, packing: Copies): PackedTrees =>
  packedColumns(paperTrees(network, packing));

/** Returns the trees of `paperForest` one by one. */
export function paperTrees(network: ForestNetwork, { capacity, copies }: Copies): PaperTree[] {
  const arcs = splitSwitches(network, capacity, copies);
  return spanningTrees(arcs, copies).flatMap(({ root, copies: count, arcs: used }) => {
    const edges = used.map((arc) => alongLinks(arcs[arc], count, network));
    return intervals(edges, count).map((cut) => ({ root, copies: cut.copies, edges: cut.paths }));
  });
}

/** Returns where `copies` copies of an arc run. */
function alongLinks(arc: LogicalArc, copies: bigint, network: ForestNetwork): Strand[] {
  return taken(arc.strands, copies).map(({ links, amount }) => ({ links: withoutLoops(links, network), amount }));
}

/** Returns the walk without what it does between two visits of a node. */
function withoutLoops(links: readonly number[], { linkSource, linkTarget }: ForestNetwork): number[] {
  const path: number[] = [];
  for (const link of links) {
    path.push(link);
    const first = path.findIndex((earlier) => linkSource[earlier] === linkTarget[link]);
    if (first >= 0) path.length = first;
  }
  return path;
}

/** Cuts copies 0 .. copies - 1 where any edge changes its path. */
function intervals(edges: readonly (readonly Strand[])[], copies: bigint) {
  const cuts: { paths: (readonly number[])[]; copies: bigint }[] = [];
  const at = edges.map(() => 0);
  const left = edges.map(([first]) => first.amount);
  for (let rest = copies; rest > 0n; ) {
    const least = left.reduce((a, b) => (b < a ? b : a), rest);
    cuts.push({ paths: edges.map((strands, i) => strands[at[i]].links), copies: least });
    rest -= least;
    for (const [i, amount] of left.entries()) {
      left[i] = amount - least;
      if (left[i] === 0n && rest > 0n) left[i] = edges[i][++at[i]].amount;
    }
  }
  return cuts;
}

/** Returns the trees in columns; those of 2^53 copies or more as several. */
function packedColumns(trees: readonly PaperTree[]): PackedTrees {
  const most = BigInt(Number.MAX_SAFE_INTEGER);
  const listed: PaperTree[] = trees.flatMap((tree) => {
    const parts = Array.from({ length: Number((tree.copies - 1n) / most) }, () => ({ ...tree, copies: most }));
    return [...parts, { ...tree, copies: tree.copies - BigInt(parts.length) * most }];
  });
  const edges = listed.flatMap((tree) => tree.edges);
  const linkOffset = new Float64Array(edges.length + 1);
  for (const [i, links] of edges.entries()) linkOffset[i + 1] = linkOffset[i] + links.length;
  return {
    root: Int32Array.from(listed, ({ root }) => root),
    copies: Float64Array.from(listed, ({ copies }) => Number(copies)),
    linkOffset,
    links: Int32Array.from(edges.flat()),
  };
}
