import type { Parts } from "./parts.ts";
import { FROM_START, type Versions } from "./versions.ts";

/** Which connection each hop takes, and which arrivals are passed on by the block that receives them. */
export interface Wires {
  readonly channelCount: number;
  /** [hops] */
  readonly channel: Int32Array;
  /** [hops] the hop that its target's block sends on in the same breath, -1 for none; of the same channel. */
  readonly fused: Int32Array;
}

/** What wires may take. */
export interface WireLimits {
  readonly channels: number;
  readonly peersPerChannel: number;
}

/**
 * Who uses which connections of which channel. A thread block receives from one peer and sends to one, so on a channel each peer
 * that a rank passes on from is matched with one that it passes on to.
 */
export interface Channels {
  /** Returns how often a connection is in use. */
  uses(channel: number, from: number, to: number): number;
  /** Returns whether both ranks have peers to spare, or the connection already. */
  hasRoom(channel: number, from: number, to: number): boolean;
  use(channel: number, from: number, to: number): void;
  /** Returns whether a block of the rank could receive from one peer and send to the other. */
  mayMatch(channel: number, rank: number, from: number, to: number): boolean;
  match(channel: number, rank: number, from: number, to: number): void;
}

/** Returns channels that nobody uses; they take memory when they are. */
export function freeChannels(ranks: number, { peersPerChannel }: WireLimits): Channels {
  const tables: { readonly uses: Uint32Array; readonly peers: Uint16Array; readonly matched: Int32Array }[] = [];
  const tableOf = (channel: number) => {
    while (tables.length <= channel) {
      tables.push({
        uses: new Uint32Array(ranks * ranks),
        peers: new Uint16Array(2 * ranks),
        matched: new Int32Array(2 * ranks * ranks).fill(-1),
      });
    }
    return tables[channel];
  };
  return {
    uses: (channel, from, to) => tableOf(channel).uses[from * ranks + to],
    hasRoom(channel, from, to) {
      const { uses, peers } = tableOf(channel);
      if (uses[from * ranks + to] > 0) return true;
      return peers[2 * from] < peersPerChannel && peers[2 * to + 1] < peersPerChannel;
    },
    use(channel, from, to) {
      const { uses, peers } = tableOf(channel);
      if (uses[from * ranks + to]++ > 0) return;
      peers[2 * from]++;
      peers[2 * to + 1]++;
    },
    mayMatch(channel, rank, from, to) {
      const { matched } = tableOf(channel);
      const there = matched[2 * (rank * ranks + from)];
      const back = matched[2 * (rank * ranks + to) + 1];
      return there === to || (there < 0 && back < 0);
    },
    match(channel, rank, from, to) {
      const { matched } = tableOf(channel);
      matched[2 * (rank * ranks + from)] = to;
      matched[2 * (rank * ranks + to) + 1] = from;
    },
  };
}

/**
 * Returns whether an arrival may be passed on in one instruction. Chunks of an instruction go one by one, so those that go
 * through several blocks at once are under way in all of them. A contribution's way up may not go on into the sum's way down if
 * there is more than one chunk: a rank on both would have to begin the second before it has ended the first. Nor where sums
 * come last.
 */
export function mayFuse(
  { reduces, size, part, sumsLast }: Parts,
  { carries }: Versions,
  arrival: number,
  hop: number,
): boolean {
  if (hop < 0 || carries[hop] === FROM_START) return false;
  return reduces[arrival] === reduces[hop] || (size[part[hop]] === 1 && !sumsLast);
}
