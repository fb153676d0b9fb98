import { multiply, type Rational, rational } from "../numbers/rational.ts";
import { copiesOf, type Forest } from "./tree-flow.ts";

/** The part of a forest that says which links its copies cross. */
export type ForestLinks = Pick<Forest, "copies" | "linkOffset" | "links">;

/**
 * Returns how many copies of the listed trees cross each link, [links]; an edge leaves out as many of its leading links as
 * `skips` says. Exact: in doubles where no sum leaves 2^53 - 1, else in BigInt. O(links of all edges).
 */
export function copiesOnLinks(
  forest: ForestLinks,
  edges: number,
  linkCount: number,
  skips: Uint8Array | null = null,
): bigint[] {
  const { copies } = forest;
  const sums = new Float64Array(linkCount);
  eachLink(forest, edges, skips, (link, tree) => {
    sums[link] += copies[tree];
  });
  // sums only grow, so one that was rounded on the way is not below 2^53
  if (sums.every((sum) => sum <= Number.MAX_SAFE_INTEGER)) return Array.from(sums, BigInt);
  const exact = new Array<bigint>(linkCount).fill(0n);
  const own = Array.from(copies, BigInt);
  eachLink(forest, edges, skips, (link, tree) => {
    exact[link] += own[tree];
  });
  return exact;
}

function eachLink(
  { copies, linkOffset, links }: ForestLinks,
  edges: number,
  skips: Uint8Array | null,
  visit: (link: number, tree: number) => void,
): void {
  for (let tree = 0; tree < copies.length; tree++) {
    for (let e = tree * edges; e < (tree + 1) * edges; e++) {
      const from = linkOffset[e] + (skips === null ? 0 : skips[e]);
      for (let i = from; i < linkOffset[e + 1]; i++) visit(links[i], tree);
    }
  }
}

/**
 * Returns the greatest bandwidth y of a copy with which `loads` [links] copies fit on all links: the least of usable / load, in
 * bytes per second; null where no link carries any.
 */
export function fittingBandwidth(loads: readonly bigint[], usable: Float64Array): Rational | null {
  let num = 0n;
  let den = 0n;
  for (let link = 0; link < loads.length; link++) {
    if (loads[link] === 0n) continue;
    const room = BigInt(usable[link]);
    if (den > 0n && room * den >= num * loads[link]) continue;
    num = room;
    den = loads[link];
  }
  return den === 0n ? null : rational(num, den);
}

/** Returns the data per second of a forest without symmetry: all its copies times the bandwidth of one. */
export const rateOfForest = (forest: Forest): Rational =>
  multiply(rational(copiesOf(forest, null)), forest.copyBytesPerSecond);
