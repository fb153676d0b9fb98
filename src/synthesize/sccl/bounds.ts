import { visitSets } from "../../model/bounds/families.ts";
import type { Topology } from "../../model/topology/topology.ts";
import type { Load, SyncProblem } from "./problem.ts";

/** Up to so many NPUs every set of them is tried. */
const ALL_SETS = 12;

/** Returns chunks that must enter a set of NPUs. */
function entering({ items }: SyncProblem, within: Uint8Array): number {
  let chunks = 0;
  for (const { sources, targets, demand } of items) {
    if (sources.some((v) => within[v] === 1)) continue;
    if (demand === null) chunks += targets.some((v) => within[v] === 1) ? 1 : 0;
    else
      targets.forEach((v, t) => {
        if (within[v] === 1) chunks += demand[t];
      });
  }
  return chunks;
}

/**
 * Returns how many chunks may enter a set in a round: each arc into it by the load of its own, or, where that is less, by
 * loads of several arcs (ports), those first that save most. Arcs are counted once.
 */
function room({ arcs, loads }: SyncProblem, within: Uint8Array): number {
  const own = new Float64Array(arcs.source.length);
  for (const { arcs: users, capacity } of loads) {
    const enters = within[arcs.source[users[0]]] === 0 && within[arcs.target[users[0]]] === 1;
    if (users.length === 1 && enters) own[users[0]] = capacity;
  }
  const savedBy = ({ arcs: users, capacity }: Load): number => users.reduce((sum, a) => sum + own[a], -capacity);
  let chunks = 0;
  let ports = loads.filter((load) => load.arcs.length > 1);
  for (;;) {
    ports = ports.filter((load) => savedBy(load) > 0);
    const best = ports.reduce<Load | null>((a, b) => (a === null || savedBy(b) > savedBy(a) ? b : a), null);
    if (best === null) break;
    chunks += best.capacity;
    for (const a of best.arcs) own[a] = 0;
  }
  return chunks + own.reduce((sum, capacity) => sum + capacity, 0);
}

/** Array cells that may be read to find sets. */
const SET_BUDGET = 1_000_000;

/** Returns sets of NPUs of a network whose borders are likely to be narrow: boxes, what faster links join, slabs. */
export function likelySets(topology: Topology): Int32Array[] {
  const sets: Int32Array[] = [];
  if (topology.npuCount <= ALL_SETS) return sets;
  visitSets(
    topology,
    null,
    { left: SET_BUDGET },
    {
      visit: (nodes, _, again) => {
        if (!again) sets.push(nodes.filter((v) => v < topology.npuCount));
      },
      worthTrying: () => false,
      prefixes: () => null,
    },
  );
  return sets;
}

/**
 * Returns a number of rounds that no schedule can do with less: chunks that must enter a set of NPUs over what enters it in a
 * round, for all sets of a small network, else for single NPUs, these sets, and all that lack one of them.
 * O(sets x (items + arcs)).
 */
export function leastRounds(problem: SyncProblem, sets: readonly Int32Array[] = []): number {
  const { npuCount } = problem;
  let most = 0;
  const attempt = (within: Uint8Array): void => {
    const chunks = entering(problem, within);
    if (chunks > 0) most = Math.max(most, Math.ceil(chunks / room(problem, within)));
  };
  if (npuCount <= ALL_SETS) {
    const within = new Uint8Array(npuCount);
    for (let set = 1; set < 2 ** npuCount - 1; set++) attempt(within.map((_, v) => (set >> v) & 1));
    return most;
  }
  for (const set of [...Array.from({ length: npuCount }, (_, v) => Int32Array.of(v)), ...sets]) {
    const within = new Uint8Array(npuCount);
    for (const v of set) within[v] = 1;
    attempt(within);
    attempt(within.map((one) => 1 - one));
  }
  return most;
}
