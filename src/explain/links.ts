import { type Rational, toNumber } from "../model/numbers/rational.ts";
import { formatBandwidth, formatShare } from "../model/numbers/units.ts";
import { linkNames, type Topology } from "../model/topology/topology.ts";

const SHOWN = 4;

/** Returns the busiest links in a sentence: how many are as full as the fullest, which, and how full the others are. */
export function busiestLinks(topology: Topology, use: ArrayLike<number>, what = "busy"): string {
  let most = 0;
  let sum = 0;
  for (let link = 0; link < use.length; link++) {
    most = Math.max(most, use[link]);
    sum += use[link];
  }
  if (most === 0) return "nothing moves";
  const tight: number[] = [];
  for (let link = 0; link < use.length; link++) if (use[link] >= most * (1 - 1e-9)) tight.push(link);
  const names = linkNames(topology);
  const shown = tight
    .slice(0, SHOWN)
    .map((link) => `${names[link]} (${formatBandwidth(topology.linkBytesPerSecond[link])})`);
  const rest = tight.length > SHOWN ? ` and ${tight.length - SHOWN} more` : "";
  const all = tight.length === use.length;
  const which = all ? `all ${use.length} links` : `${shown.join(", ")}${rest}`;
  const others = all ? "" : `; links are ${formatShare(sum / use.length)} ${what} on average`;
  return `${which} ${tight.length === 1 ? "is" : "are"} ${formatShare(most)} ${what}${others}`;
}

/** Returns the part of each link's bandwidth that `bytesPerSecond` times its loads takes, [links]. */
export function usesOfLoads(
  topology: Topology,
  loads: readonly (readonly bigint[])[],
  rates: readonly Rational[],
): Float64Array {
  const use = new Float64Array(topology.linkSource.length);
  loads.forEach((copies, f) => {
    const rate = toNumber(rates[f]);
    for (let link = 0; link < use.length; link++)
      use[link] += (Number(copies[link]) * rate) / topology.linkBytesPerSecond[link];
  });
  return use;
}

/**
 * Returns the ring that each of this many nodes' only successor forms, from node 0 on; null where they form none that takes in
 * all (a node with -1 has none, or several).
 */
export function ringOf(successor: ArrayLike<number>): number[] | null {
  const ring: number[] = [];
  let at = 0;
  for (let i = 0; i < successor.length; i++) {
    ring.push(at);
    at = successor[at];
    if (!(at >= 0)) return null;
    if (at === 0) return ring.length === successor.length ? ring : null;
  }
  return null;
}

const NODES_SHOWN = 16;

/** Returns a ring in words: "0 → 1 → 2 → 0". */
export function ringText(ring: readonly number[], name: (node: number) => string): string {
  const shown = ring.slice(0, NODES_SHOWN).map(name);
  return [...shown, ...(ring.length > NODES_SHOWN ? ["..."] : []), name(ring[0])].join(" → ");
}
