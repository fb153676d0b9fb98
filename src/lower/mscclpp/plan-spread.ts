import { MSCCLPP_RUNTIME } from "../../model/program/runtimes.ts";
import type { Channel, PeerVia, RankPhases } from "./plan-phases.ts";

/**
 * Returns what a rank does in a slice, spread over as few thread blocks as have channels to all its peers. Each writes to, and
 * waits for, peers of its own; the first does what is done within the rank. They meet before that and before they go on.
 * O(phases * blocks).
 */
export function spreadOverBlocks(rank: RankPhases): RankPhases[] {
  const peers = { memory: peersOf(rank, "memory"), port: peersOf(rank, "port") };
  const most = Math.max(peers.memory.size, peers.port.size);
  const blocks = Math.max(1, Math.ceil(most / MSCCLPP_RUNTIME.channelsPerBlock));
  if (blocks === 1) return [rank];
  const blockOf = ({ peer, via }: Channel): number =>
    Math.floor(((peers[via].get(peer) as number) * blocks) / peers[via].size);
  return Array.from({ length: blocks }, (_, block): RankPhases => {
    const own = <T extends Channel>(list: readonly T[]): T[] => list.filter((channel) => blockOf(channel) === block);
    const first = <T>(list: T[]): T[] => (block === 0 ? list : []);
    return {
      first: first(rank.first),
      phases: rank.phases.map(({ puts, signals, waits, sums }) => ({
        ...{ puts: own(puts), signals: own(signals), waits: own(waits), sums: first(sums) },
        blocksMeet: sums.length > 0,
      })),
      last: first(rank.last),
      writers: own(rank.writers),
      written: own(rank.written),
      readFrom: own(rank.readFrom),
      readers: own(rank.readers),
      spread: { blocksMeetLast: rank.last.length > 0 },
    };
  });
}

/** Returns the position of every peer that the rank has a channel to. */
function peersOf(rank: RankPhases, via: PeerVia): Map<number, number> {
  const lists = [rank.writers, rank.written, rank.readFrom, rank.readers];
  for (const { signals, waits } of rank.phases) lists.push(signals, waits);
  const peers = new Set(lists.flat().flatMap((channel) => (channel.via === via ? [channel.peer] : [])));
  return new Map([...peers].sort((a, b) => a - b).map((peer, position) => [peer, position]));
}
