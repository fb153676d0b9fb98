import type { Parts } from "./parts.ts";
import type { Versions } from "./versions.ts";
import { freeChannels, mayFuse, type WireLimits, type Wires } from "./wires.ts";

/**
 * Returns wires for parts that go their own ways, or null where channels are too few. Hops between two ranks share a
 * connection, unless one departs before the one before it has arrived; those of other instances, and of other residues of parts
 * modulo `spread`, have others.
 *
 * An arrival is passed on at once where its block sends to that peer anyway (of those that the rank passes on to from a peer,
 * that to which it does most often), where the hop is the next to that peer, and where the connection is free at that moment.
 * O(hops x (log hops + channels)).
 */
export function stepWires(parts: Parts, versions: Versions, limits: WireLimits, spread: number): Wires | null {
  const { source, target, part, events, instance, instances, departsAt, arrivesAt, moves } = parts;
  const ranks = moves.rankCount;
  const planes = instances * spread;
  const planeOf = (hop: number): number => instance[part[hop]] * spread + (part[hop] % spread);
  const partners = matchPartners(parts, versions);
  const channels = freeChannels(ranks, limits);
  const channel = new Int32Array(source.length).fill(-1);
  const fused = new Int32Array(source.length).fill(-1);
  const before = hopsBefore(parts, planes, planeOf);
  /** Last hop that took a connection: channel, then the two ranks. */
  const latest: Int32Array[] = [];
  const isFree = (c: number, hop: number, at: number): boolean => {
    if (latest[c] === undefined) latest[c] = new Int32Array(ranks * ranks).fill(-1);
    const other = latest[c][source[hop] * ranks + target[hop]];
    return (other < 0 || arrivesAt[other] < at) && channels.hasRoom(c, source[hop], target[hop]);
  };
  const take = (c: number, hop: number): void => {
    channel[hop] = c;
    latest[c][source[hop] * ranks + target[hop]] = hop;
    channels.use(c, source[hop], target[hop]);
  };

  let channelCount = planes;
  for (let at = 0; at < events.length; at++) {
    const hop = events[at] >> 1;
    if (events[at] % 2 === 0) {
      if (channel[hop] >= 0) continue;
      let c = planeOf(hop);
      while (c < limits.channels && !isFree(c, hop, at)) c += planes;
      if (c >= limits.channels) return null;
      channelCount = Math.max(channelCount, c + 1);
      take(c, hop);
      continue;
    }
    const on = versions.onward[hop];
    const rank = target[hop];
    if (!mayFuse(parts, versions, hop, on) || partners.get(rank * ranks + source[hop]) !== target[on]) continue;
    if (before[on] >= 0 && departsAt[before[on]] > at) continue;
    if (channel[on] >= 0 || !isFree(channel[hop], on, at)) continue;
    take(channel[hop], on);
    fused[hop] = on;
  }
  return { channelCount, channel, fused };
}

/** Returns the hop that departs before each between the same ranks in the same plane, -1 for none. */
function hopsBefore(parts: Parts, planes: number, planeOf: (hop: number) => number): Int32Array {
  const { source, target, events, moves } = parts;
  const before = new Int32Array(source.length).fill(-1);
  const latest = new Map<number, number>();
  for (const event of events) {
    if (event % 2 === 1) continue;
    const hop = event >> 1;
    const key = (source[hop] * moves.rankCount + target[hop]) * planes + planeOf(hop);
    before[hop] = latest.get(key) ?? -1;
    latest.set(key, hop);
  }
  return before;
}

/** Returns to which peer a rank passes on most often what comes from a peer (key: rank * ranks + peer), no peer twice. */
function matchPartners(parts: Parts, versions: Versions): ReadonlyMap<number, number> {
  const { source, target, moves } = parts;
  const ranks = moves.rankCount;
  const often = new Map<number, number>();
  for (let hop = 0; hop < source.length; hop++) {
    const on = versions.onward[hop];
    if (!mayFuse(parts, versions, hop, on)) continue;
    const key = (target[hop] * ranks + source[hop]) * ranks + target[on];
    often.set(key, (often.get(key) ?? 0) + 1);
  }
  const partners = new Map<number, number>();
  const taken = new Set<number>();
  for (const [key] of [...often].sort((a, b) => b[1] - a[1] || a[0] - b[0])) {
    const from = Math.floor(key / ranks);
    const to = Math.floor(from / ranks) * ranks + (key % ranks);
    if (partners.has(from) || taken.has(to)) continue;
    partners.set(from, key % ranks);
    taken.add(to);
  }
  return partners;
}
