import type { PackedTrees } from "../../engine/contract/kernels.ts";
import type { Forest } from "../../model/trees/tree-flow.ts";
import type { PackingNetwork } from "./packing-network.ts";

/** Rounds of taking out further trees until the rest can be packed anew. */
const MOST_ROUNDS = 24;

/** A forest for the network before something failed, in the numbers of the network as it is now. */
export interface Damaged {
  /** Links are numbered as in `network`, -1 where a link is gone; roots are ranks. */
  readonly forest: Omit<Forest, "direction" | "copyBytesPerSecond">;
  readonly network: PackingNetwork;
  /** [links of the network] copies that fit now. */
  readonly capacity: Float64Array;
}

export interface Repair {
  readonly trees: PackedTrees;
  readonly kept: number;
  readonly changed: number;
}

/** Packs copies at roots into what is left of the capacities; a cut of the network where that is impossible; null: stuck. */
export type PackRest = (
  capacity: Float64Array,
  copies: Float64Array,
) => Promise<{ readonly trees: PackedTrees } | { readonly cut: Uint8Array } | null>;

/**
 * Returns the forest with the trees that used what has failed grown anew: first those that use a link that is gone or too
 * narrow now, and, while a set of nodes has too little left to enter it, further trees that enter it most often. Null when
 * that does not succeed. O(edges of the forest) a round.
 */
export async function repairForest(damaged: Damaged, pack: PackRest): Promise<Repair | null> {
  const { forest, network } = damaged;
  const edges = network.npuCount - 1;
  const linksOf = (t: number): Int32Array =>
    forest.links.subarray(forest.linkOffset[t * edges], forest.linkOffset[(t + 1) * edges]);
  const left = damaged.capacity.slice();
  const isKept = keepWhatFits(forest.copies, linksOf, left);
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const copies = new Float64Array(network.npuCount);
    for (let t = 0; t < isKept.length; t++) if (isKept[t] === 0) copies[forest.root[t]] += forest.copies[t];
    const outcome = await pack(left.slice(), copies);
    if (outcome === null) return null;
    if ("trees" in outcome) return joined(forest, isKept, linksOf, edges, outcome.trees);
    const out = mostEntering(outcome.cut, network, isKept, linksOf);
    if (out.length === 0) return null;
    for (const t of out) {
      isKept[t] = 0;
      for (const link of linksOf(t)) left[link] += forest.copies[t];
    }
  }
  return null;
}

/** Returns which trees, taken in turn, fit into `left` and use no link that is gone; takes their copies from it. */
function keepWhatFits(copies: Float64Array, linksOf: (t: number) => Int32Array, left: Float64Array): Uint8Array {
  const isKept = new Uint8Array(copies.length);
  for (let t = 0; t < copies.length; t++) {
    const links = linksOf(t);
    let done = 0;
    while (done < links.length && left[links[done]] >= copies[t]) left[links[done++]] -= copies[t];
    if (done === links.length) isKept[t] = 1;
    else while (done > 0) left[links[--done]] += copies[t];
  }
  return isKept;
}

/** Returns the kept trees that leave a cut most often, at most an eighth of all, the last ones first. */
function mostEntering(
  cut: Uint8Array,
  { linkSource, linkTarget }: PackingNetwork,
  isKept: Uint8Array,
  linksOf: (t: number) => Int32Array,
): number[] {
  const crossings = new Int32Array(isKept.length);
  for (let t = 0; t < isKept.length; t++) {
    if (isKept[t] === 0) continue;
    for (const link of linksOf(t)) if (cut[linkSource[link]] === 1 && cut[linkTarget[link]] === 0) crossings[t]++;
  }
  const most = crossings.reduce((a, b) => Math.max(a, b), 0);
  if (most === 0) return [];
  const out: number[] = [];
  const quota = Math.max(1, isKept.length >> 3);
  for (let t = isKept.length - 1; t >= 0 && out.length < quota; t--) if (crossings[t] === most) out.push(t);
  return out;
}

/** Returns the kept trees, then the new ones. */
function joined(
  forest: Damaged["forest"],
  isKept: Uint8Array,
  linksOf: (t: number) => Int32Array,
  edges: number,
  fresh: PackedTrees,
): Repair {
  const kept = isKept.reduce((count, bit) => count + bit, 0);
  const parts: { from: PackedTrees; tree: number; links: Int32Array }[] = [];
  for (let t = 0; t < isKept.length; t++) if (isKept[t] === 1) parts.push({ from: forest, tree: t, links: linksOf(t) });
  for (let t = 0; t < fresh.root.length; t++) {
    const links = fresh.links.subarray(fresh.linkOffset[t * edges], fresh.linkOffset[(t + 1) * edges]);
    parts.push({ from: fresh, tree: t, links });
  }
  const linkOffset = new Float64Array(parts.length * edges + 1);
  const links = new Int32Array(parts.reduce((length, part) => length + part.links.length, 0));
  parts.forEach(({ from, tree, links: own }, i) => {
    const start = linkOffset[i * edges];
    links.set(own, start);
    const shift = start - from.linkOffset[tree * edges];
    for (let e = 1; e <= edges; e++) linkOffset[i * edges + e] = from.linkOffset[tree * edges + e] + shift;
  });
  return {
    trees: {
      root: Int32Array.from(parts, ({ from, tree }) => from.root[tree]),
      copies: Float64Array.from(parts, ({ from, tree }) => from.copies[tree]),
      linkOffset,
      links,
    },
    kept,
    changed: fresh.root.length,
  };
}
