import { InputError, inWords } from "../../base/errors.ts";
import type { Place } from "../../base/option-names.ts";
import { random } from "../../base/random.ts";
import { disjointSets } from "../graph/graph.ts";
import { gcd } from "../numbers/integers.ts";
import { linkNames, type Topology } from "./topology.ts";

/** Failures by their numbers, none of which is kept: what fails together in each, in names as `without` takes them. */
export interface FailureSets {
  /** Exact, at most 2^53. */
  readonly count: number;
  /** Returns what fails together in one of them, 0 .. count - 1. */
  at(index: number): readonly string[];
}

/**
 * What single failures are taken from. `links`: cables, both ways as one. `nics`: cables that join a box to what is outside, a network
 * or another box. `boxes`: all NPUs and switches of a box.
 */
export const POOLS = ["links", "nics", "switches", "npus", "boxes"] as const;
export type Pool = (typeof POOLS)[number];

/** Returns both ways of each cable as one name, in the order of links; one way where there is no other. O(links). */
function cables(topology: Topology, isOne: (link: number) => boolean): string[] {
  const { nodeNames, linkSource, linkTarget } = topology;
  const names = new Set<string>();
  linkNames(topology).forEach((name, link) => {
    if (!isOne(link)) return;
    const [from, to] = [linkSource[link], linkTarget[link]];
    const ordinal = name.slice(`${nodeNames[from]}>${nodeNames[to]}`.length);
    names.add(`${nodeNames[Math.min(from, to)]}-${nodeNames[Math.max(from, to)]}${ordinal}`);
  });
  return [...names];
}

/**
 * Returns the box of each node, "" outside of all: the one that it is marked with, and of switches without a mark the only box to which
 * they, and others without one that they are joined to, have links. O(nodes + links).
 */
function boxesOf({ nodeNames, nodeTraits, npuCount, linkSource, linkTarget }: Topology): readonly string[] {
  const marks = nodeNames.map((_, node) => nodeTraits[node]?.group ?? "");
  const isLoose = (node: number): boolean => node >= npuCount && marks[node] === "";
  const sets = disjointSets(nodeNames.length);
  for (let link = 0; link < linkSource.length; link++) {
    if (isLoose(linkSource[link]) && isLoose(linkTarget[link])) sets.join(linkSource[link], linkTarget[link]);
  }
  // by the least switch of a set: "" where NPUs of no box, or nodes of several, are joined to it
  const only = new Map<number, string>();
  const join = (node: number, other: number): void => {
    if (!isLoose(node) || isLoose(other)) return;
    const set = sets.least(node);
    const box = only.get(set) ?? marks[other];
    only.set(set, box === marks[other] ? box : "");
  };
  for (let link = 0; link < linkSource.length; link++) {
    join(linkSource[link], linkTarget[link]);
    join(linkTarget[link], linkSource[link]);
  }
  return marks.map((mark, node) => (isLoose(node) ? (only.get(sets.least(node)) ?? "") : mark));
}

/** Returns the cables that join boxes to what is outside of them. Throws InputError, which names `place`, where there are none. */
function nics(topology: Topology, place: Place): string[] {
  const { linkSource, linkTarget } = topology;
  const boxes = boxesOf(topology);
  const found = cables(topology, (link) => boxes[linkSource[link]] !== boxes[linkTarget[link]]);
  if (found.length === 0)
    throw lacking(topology, place, "nics", "no cable that joins a box to another one or to a switch");
  return found;
}

const lacking = ({ name }: Topology, place: Place, pool: Pool, what: string): InputError =>
  new InputError(place, "links, switches or npus", pool).saying(
    `${place} is ${pool}, but ${name} has ${what}; links stands for every cable`,
  );

/**
 * Returns what single failures of a kind there are, in names as `without` takes them, none twice. Throws InputError, which names
 * `place`, for NICs and boxes where the network has no boxes. O(nodes + links).
 */
export function poolOf(topology: Topology, pool: Pool, place: Place): readonly string[] {
  const { nodeNames, nodeTraits, npuCount } = topology;
  if (pool === "links") return cables(topology, () => true);
  if (pool === "npus") return nodeNames.slice(0, npuCount);
  if (pool === "switches") return nodeNames.slice(npuCount);
  const boxes = [...new Set(nodeTraits.flatMap((traits) => traits?.group ?? []))];
  if (boxes.length === 0) throw lacking(topology, place, pool, "no boxes");
  if (pool === "nics") return nics(topology, place);
  const nodes = new Set(nodeNames);
  return boxes.filter((box) => !nodes.has(box));
}

/** Returns a list of failures as it is. */
export const listOf = (failures: readonly (readonly string[])[]): FailureSets => ({
  count: failures.length,
  at: (index) => failures[index] as readonly string[],
});

/** Returns the number of ways to take k of n; Infinity above 2^53. O(k). */
export function waysToTake(n: number, k: number): number {
  let ways = k > n ? 0 : 1;
  for (let j = 1; j <= k && ways > 0; j++) {
    // ways * (n - k + j) / j, whose factors are coprime to what is left of j
    const shared = gcd(ways, j);
    ways = (ways / shared) * ((n - k + j) / (j / shared));
    if (ways > Number.MAX_SAFE_INTEGER) return Number.POSITIVE_INFINITY;
  }
  return ways;
}

/** Throws InputError for more members, or fewer than one, than there are. */
function checkMembers(names: readonly string[], k: number, place: Place): void {
  if (Number.isSafeInteger(k) && k >= 1 && k <= names.length) return;
  throw new InputError(place, `a number from 1 to ${names.length}, as many as there are,`, k).as("out-of-range");
}

/**
 * Returns every way in which k of some names fail together, in lexicographic order of their places. Throws InputError, which names
 * `place`, for a k below 1 or above their number, and for more ways than 2^53. O(k log names) a failure.
 */
export function everyOf(names: readonly string[], k: number, place: Place): FailureSets {
  checkMembers(names, k, place);
  const n = names.length;
  const count = waysToTake(n, k);
  if (count === Number.POSITIVE_INFINITY) {
    const expected = "at most 2^53 ways in which some fail together";
    throw new InputError(place, expected, inWords(`every ${k} of ${n}`)).as("out-of-range");
  }
  return {
    count,
    at(index) {
      // from the end, places counted from the end are the digits of a number in the combinatorial number system
      let rest = count - 1 - index;
      const found: string[] = [];
      for (let left = k, above = n; left > 0; left--) {
        let [low, high] = [left - 1, above - 1];
        while (low < high) {
          const middle = Math.ceil((low + high) / 2);
          if (waysToTake(middle, left) <= rest) low = middle;
          else high = middle - 1;
        }
        rest -= waysToTake(low, left);
        above = low;
        found.push(names[n - 1 - low] as string);
      }
      return found;
    },
  };
}

/**
 * Returns k of some names that fail together, drawn `times` times, each way as likely as any other: the same ones for the same seed and
 * number, whatever else is drawn. Throws InputError as everyOf does for k. O(k log k) a failure.
 */
export function randomOf(
  names: readonly string[],
  k: number,
  { times, seed, place }: { readonly times: number; readonly seed: number; readonly place: Place },
): FailureSets {
  checkMembers(names, k, place);
  return {
    count: times,
    at(index) {
      const draws = random(seed, index);
      const taken = new Set<number>();
      // Floyd's algorithm (Bentley 1987): no name twice
      for (let last = names.length - k; last < names.length; last++) {
        const one = draws.below(last + 1);
        taken.add(taken.has(one) ? last : one);
      }
      return [...taken].sort((a, b) => a - b).map((one) => names[one] as string);
    },
  };
}
