import { InputError } from "../../base/errors.ts";
import type { Place } from "../../base/option-names.ts";
import { below, draw } from "../../base/random.ts";
import { linkNames, nodeCount, type Topology } from "./topology.ts";

/** Lists of what may fail, out of pools of a network's parts, by the names that `without` takes. */

export const FAILURE_POOLS = ["links", "nics", "switches", "npus", "boxes"] as const;
export type FailurePool = (typeof FAILURE_POOLS)[number];

/** Failures by number; none is made before it is asked for. */
export interface FailureSets {
  readonly count: number;
  /** Returns what fails together in a failure, 0 .. count - 1. */
  at(index: number): readonly string[];
}

/**
 * Returns the parts of a network in a pool: every cable (both ways fail together), cables by which boxes of NPUs are joined to what
 * is outside them, switches, NPUs, or boxes. Throws InputError where a network has none. O(nodes + links).
 */
export function poolOf(topology: Topology, pool: FailurePool, place: Place): readonly string[] {
  const { npuCount, nodeNames, nodeTraits } = topology;
  const names = ((): readonly string[] => {
    switch (pool) {
      case "npus":
        return nodeNames.slice(0, npuCount);
      case "switches":
        return nodeNames.slice(npuCount, nodeCount(topology));
      case "boxes":
        return [...boxesOf(topology)].filter((name) => !nodeNames.includes(name));
      case "links":
        return cablesOf(topology, () => true);
      case "nics": {
        const boxes = boxesOf(topology);
        const boxAt = (node: number): string | null => {
          const group = nodeTraits[node]?.group;
          return group !== undefined && boxes.has(group) ? group : null;
        };
        return cablesOf(topology, (from, to) => boxAt(from) !== boxAt(to));
      }
    }
  })();
  if (names.length > 0) return names;
  const lacks: Partial<Record<FailurePool, string>> = {
    nics: "boxes of NPUs, so none of its cables is a NIC's",
    boxes: "boxes",
  };
  throw new InputError(place, `a pool that ${topology.name} has`, pool)
    .as("not-applicable")
    .saying(`${place}: ${topology.name} has no ${lacks[pool] ?? pool}`);
}

/** Returns the groups of nodes that have NPUs. */
const boxesOf = ({ npuCount, nodeTraits }: Topology): ReadonlySet<string> =>
  new Set(nodeTraits.slice(0, npuCount).flatMap((traits) => (traits?.group === undefined ? [] : [traits.group])));

/** Returns the cables whose ends are taken, both ways as one, the k-th of parallel ones by its number. */
export function cablesOf(topology: Topology, isTaken: (from: number, to: number) => boolean): string[] {
  const { linkSource, linkTarget, nodeNames } = topology;
  const names = new Set<string>();
  for (const [link, name] of linkNames(topology).entries()) {
    const [from, to] = [linkSource[link] as number, linkTarget[link] as number];
    if (!isTaken(from, to)) continue;
    const ordinal = /#\d+$/.exec(name)?.[0] ?? "";
    const [a, b] = from < to ? [from, to] : [to, from];
    names.add(`${nodeNames[a]}-${nodeNames[b]}${ordinal}`);
  }
  return [...names];
}

/** Returns how many sets of `size` a pool of `count` has; no exact number above 2^53. */
export function setCount(count: number, size: number): number {
  let sets = 1;
  for (let i = 1; i <= size; i++) sets = (sets * (count - size + i)) / i;
  return Math.round(sets);
}

/** Returns every set of `size` names, in the order of their least members. O(size log names) each. */
export function everySet(names: readonly string[], size: number): FailureSets {
  return {
    count: setCount(names.length, size),
    at: (index) => {
      const set: string[] = [];
      let rest = index;
      for (let first = 0, left = size; left > 0; left--) {
        // the greatest next member before which there are no more than `rest` sets
        const before = (next: number): number =>
          setCount(names.length - first, left) - setCount(names.length - next, left);
        let [low, high] = [first, names.length - left];
        while (low < high) {
          const middle = Math.ceil((low + high) / 2);
          if (before(middle) <= rest) low = middle;
          else high = middle - 1;
        }
        rest -= before(low);
        set.push(names[low] as string);
        first = low + 1;
      }
      return set;
    },
  };
}

/** Returns sets of `size` different names, each drawn by the seed and its number alone. O(size^2) each. */
export function randomSets(names: readonly string[], size: number, times: number, seed: number): FailureSets {
  return {
    count: size > names.length ? 0 : times,
    at: (index) => {
      // Floyd's sampling: the i-th draw is below the last that may still be taken
      const taken: number[] = [];
      for (let i = names.length - size; i < names.length; i++) {
        const drawn = below(draw(seed, index, i), i + 1);
        taken.push(taken.includes(drawn) ? i : drawn);
      }
      return taken.sort((a, b) => a - b).map((at) => names[at] as string);
    },
  };
}
