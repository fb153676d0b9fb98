import type { Pouring } from "./balance-pour.ts";

/**
 * The JavaScript twin of native/kernels/balance_whole.h: edges that carry a part of a shard are kept free of circles, so that
 * few shards are cut. Loads of ports do not change.
 */

/** Edges with broken flow that close no circle, in lists by their two ends: a class c as c, a port k as classes + k. */
interface Forest {
  readonly first: Int32Array;
  /** [2 * edges] The next edge at its class, at its port. */
  readonly next: Int32Array;
  readonly previous: Int32Array;
  readonly via: Int32Array;
  readonly seen: Int32Array;
  readonly queue: Int32Array;
  search: number;
}

/** Shifts units around circles of edges that carry a part of a shard until there are none. */
export function cutFew(p: Pouring, unit: number): void {
  const { classes, ports, flow } = p;
  const edges = p.offset[classes];
  let broken = 0;
  for (let e = 0; e < edges; e++) if (flow[e] % unit !== 0) broken++;
  if (broken < 4) return;
  const ends = classes + ports;
  const forest: Forest = {
    first: new Int32Array(ends).fill(-1),
    next: new Int32Array(2 * edges),
    previous: new Int32Array(ends),
    via: new Int32Array(ends),
    seen: new Int32Array(ends),
    queue: new Int32Array(ends),
    search: 0,
  };
  for (let e = 0; e < edges; e++) if (flow[e] % unit !== 0) insert(p, forest, e, unit);
}

function insert(p: Pouring, forest: Forest, edge: number, unit: number): void {
  const { classes, flow, edgeClass, edgePort } = p;
  const top = edgeClass[edge];
  const bottom = classes + edgePort[edge];
  if (connect(p, forest, top, bottom)) {
    // The ways back from the port: edges lose and gain in turn, the first and the last lose.
    let amount = unit - (flow[edge] % unit);
    for (let at = bottom, loses = true; at !== top; at = forest.previous[at], loses = !loses) {
      const part = flow[forest.via[at]] % unit;
      amount = Math.min(amount, loses ? part : unit - part);
    }
    flow[edge] += amount;
    for (let at = bottom, loses = true; at !== top; at = forest.previous[at], loses = !loses) {
      const on = forest.via[at];
      flow[on] += loses ? -amount : amount;
      if (flow[on] % unit === 0) unlink(p, forest, on);
    }
  }
  if (flow[edge] % unit !== 0) link(p, forest, edge);
}

/** Searches the forest from one end to another; the way back is in previous and via. */
function connect(p: Pouring, forest: Forest, from: number, to: number): boolean {
  const { first, next, previous, via, seen, queue } = forest;
  const search = ++forest.search;
  seen[from] = search;
  queue[0] = from;
  for (let taken = 0, reached = 1; taken < reached; taken++) {
    const at = queue[taken];
    const side = at < p.classes ? 0 : 1;
    for (let e = first[at]; e >= 0; e = next[2 * e + side]) {
      const other = side === 0 ? p.classes + p.edgePort[e] : p.edgeClass[e];
      if (seen[other] === search) continue;
      seen[other] = search;
      previous[other] = at;
      via[other] = e;
      if (other === to) return true;
      queue[reached++] = other;
    }
  }
  return false;
}

function link(p: Pouring, { first, next }: Forest, edge: number): void {
  const ends = [p.edgeClass[edge], p.classes + p.edgePort[edge]];
  for (const [side, end] of ends.entries()) {
    next[2 * edge + side] = first[end];
    first[end] = edge;
  }
}

function unlink(p: Pouring, { first, next }: Forest, edge: number): void {
  const ends = [p.edgeClass[edge], p.classes + p.edgePort[edge]];
  for (const [side, end] of ends.entries()) {
    if (first[end] === edge) {
      first[end] = next[2 * edge + side];
      continue;
    }
    let before = first[end];
    while (next[2 * before + side] !== edge) before = next[2 * before + side];
    next[2 * before + side] = next[2 * edge + side];
  }
}
