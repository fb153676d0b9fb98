import type { SyncProblem } from "./problem.ts";

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
 * Returns how many chunks may enter a set in a round: each arc into it by the row of its own, or, where that is less, rows of
 * several arcs all of which enter (ports). Arcs are counted once.
 */
function room({ arcs, loads }: SyncProblem, within: Uint8Array): number {
  const enters = (a: number): boolean => within[arcs.source[a]] === 0 && within[arcs.target[a]] === 1;
  const own = new Float64Array(arcs.source.length);
  for (const load of loads) if (load.arcs.length === 1) own[load.arcs[0]] = load.capacity;
  const counted = new Uint8Array(arcs.source.length);
  let chunks = 0;
  for (const load of loads) {
    if (load.arcs.length === 1) continue;
    const free = load.arcs.filter((a) => enters(a) && counted[a] === 0);
    const apart = free.reduce((sum, a) => sum + own[a], 0);
    if (apart <= load.capacity) continue;
    chunks += load.capacity;
    for (const a of free) counted[a] = 1;
  }
  for (let a = 0; a < counted.length; a++) if (enters(a) && counted[a] === 0) chunks += own[a];
  return chunks;
}

/**
 * Returns a number of rounds that no schedule can do with less: chunks that must enter a set of NPUs over what enters it in a
 * round, for all sets of a small network, else for single NPUs and all but one. O(sets x (items + arcs)).
 */
export function leastRounds(problem: SyncProblem): number {
  const { npuCount } = problem;
  let most = 0;
  const attempt = (has: (v: number) => boolean): void => {
    const within = Uint8Array.from({ length: npuCount }, (_, v) => (has(v) ? 1 : 0));
    const chunks = entering(problem, within);
    if (chunks > 0) most = Math.max(most, Math.ceil(chunks / room(problem, within)));
  };
  if (npuCount <= ALL_SETS) {
    for (let set = 1; set < 2 ** npuCount - 1; set++) attempt((v) => ((set >> v) & 1) === 1);
    return most;
  }
  for (let one = 0; one < npuCount; one++) {
    attempt((v) => v === one);
    attempt((v) => v !== one);
  }
  return most;
}
