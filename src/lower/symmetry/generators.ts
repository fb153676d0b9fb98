import { factorsOf } from "../../model/symmetry/translation.ts";
import type { Edges } from "./departures.ts";

/** So many groups of permutations are looked at. */
const MOST_GROUPS = 4;
/** So many ways to cut the numbers of ranks into digits are followed at a time. */
const MOST_CHAINS = 64;
/** So many ranks are tried as images of rank 0 of a walk. */
const MOST_WALKS = 8;

/**
 * Yields permutations of the ranks that may generate a group that takes each rank to each other in exactly one way, and that
 * keep who sends to whom, as labels have it. First shifts of the digits of the ranks' numbers, in bases that divide their number
 * (rotations, tori, hypercubes), then what walks along edges find (rings in any order). O(edges x square of the divisors).
 */
export function* groupsOf(edges: Edges): Generator<readonly Int32Array[]> {
  const ranks = edges.offset.length - 1;
  let found = 0;
  for (const shifts of digitGroups(edges, ranks)) {
    yield shifts;
    if (++found === MOST_GROUPS) return;
  }
  const walked = walkedGroup(edges, ranks);
  if (walked !== null) yield walked;
}

/** Yields groups of shifts of digits, those of the fewest digits first. */
function* digitGroups(edges: Edges, ranks: number): Generator<readonly Int32Array[]> {
  const divisors = [ranks, ...factorsOf(ranks).divisors.slice().reverse()];
  /** By weight and weight of the next digit: the shift, null: it does not keep all edges. */
  const known = new Map<number, Int32Array | null>();
  const shiftAt = (weight: number, next: number): Int32Array | null => {
    const key = weight * (ranks + 1) + next;
    const found = known.get(key);
    if (found !== undefined) return found;
    const images = shiftOf(ranks, weight, next);
    const kept = keepsEdges(edges, images) ? images : null;
    known.set(key, kept);
    return kept;
  };
  let chains: { readonly at: number; readonly images: readonly Int32Array[] }[] = [{ at: 1, images: [] }];
  while (chains.length > 0) {
    const longer: typeof chains = [];
    for (const { at, images } of chains) {
      for (const next of divisors) {
        if (next <= at || next % at !== 0 || longer.length > MOST_CHAINS) continue;
        const shift = shiftAt(at, next);
        if (shift === null) continue;
        if (next === ranks) yield [...images, shift];
        else longer.push({ at: next, images: [...images, shift] });
      }
    }
    chains = longer;
  }
}

/** Returns the ranks with one more in the digit of this weight, which counts up to the weight of the next. */
const shiftOf = (ranks: number, weight: number, next: number): Int32Array =>
  Int32Array.from({ length: ranks }, (_, rank) => rank - (rank % next) + (((rank % next) + weight) % next));

/** Returns whether a permutation of the ranks takes each edge to one of its label. O(edges) at most. */
export function keepsEdges({ offset, target, label, labelOf }: Edges, images: Int32Array): boolean {
  for (let rank = 0; rank < images.length; rank++)
    for (let e = offset[rank]; e < offset[rank + 1]; e++)
      if (labelOf(images[rank], images[target[e]]) !== label[e]) return false;
  return true;
}

/** Returns permutations that walks from rank 0 and from others in step with it find, if they take rank 0 everywhere. */
function walkedGroup(edges: Edges, ranks: number): readonly Int32Array[] | null {
  const generators: Int32Array[] = [];
  const { offset, target } = edges;
  const near = Array.from(target.subarray(offset[0], offset[1])).slice(0, MOST_WALKS);
  for (const start of near) {
    if (orbitOf(generators, ranks).has(start)) continue;
    const images = walkFrom(edges, start);
    if (images === null || !keepsEdges(edges, images)) continue;
    generators.push(images);
    if (orbitOf(generators, ranks).size === ranks) return generators;
  }
  return null;
}

/** Returns the ranks to which products of permutations take rank 0. */
function orbitOf(generators: readonly Int32Array[], ranks: number): Set<number> {
  const seen = new Set([0]);
  for (const rank of seen) {
    for (const images of generators) seen.add(images[rank]);
    if (seen.size === ranks) break;
  }
  return seen;
}

/**
 * Returns the permutation that takes rank 0 to `start` and its edges to edges of the same label; null where there is none, or it
 * cannot be told. Where two edges of a rank are alike, their images are told by those of others, or else taken such that the way
 * goes on and not back. O(edges), times those of a rank.
 */
function walkFrom({ offset, target, label }: Edges, start: number): Int32Array | null {
  const ranks = offset.length - 1;
  const images = new Int32Array(ranks).fill(-1);
  const origin = new Int32Array(ranks).fill(-1);
  const queue: number[] = [];
  const take = (rank: number, image: number): void => {
    images[rank] = image;
    origin[image] = rank;
    queue.push(rank);
  };
  take(0, start);
  for (const rank of queue) {
    const image = images[rank];
    const mine: number[] = [];
    const theirs: number[] = [];
    for (let e = offset[rank]; e < offset[rank + 1]; e++) if (images[target[e]] < 0) mine.push(e);
    for (let e = offset[image]; e < offset[image + 1]; e++) if (origin[target[e]] < 0) theirs.push(e);
    mine.sort((a, b) => Number(target[b] === start) - Number(target[a] === start));
    for (const e of mine) {
      const back = target[e] === start ? 0 : start;
      const other = theirs.find((to) => label[to] === label[e] && origin[target[to]] < 0 && target[to] !== back);
      if (other === undefined) return null;
      take(target[e], target[other]);
    }
  }
  return queue.length === ranks ? images : null;
}
