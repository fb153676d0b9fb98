import { PairMap } from "../../model/numbers/pairs.ts";
import type { Parts } from "./parts.ts";

/** Thread blocks, those of a rank by channel, then by peers. */
export interface Blocks {
  /** [blocks] rank, channel, peers (-1: none). */
  readonly rank: number[];
  readonly channel: number[];
  readonly recvPeer: number[];
  readonly sendPeer: number[];
  /** [hops] the block that sends it, and the one that receives it. */
  readonly sender: Int32Array;
  readonly receiver: Int32Array;
}

interface Draft {
  readonly rank: number;
  readonly channel: number;
  recvPeer: number;
  sendPeer: number;
}

/**
 * Returns the thread blocks that use the wires: one for each connection of a rank, one for both where it passes on what it
 * receives. Where a rank has more than `enough`, others that receive and send on the same channel are joined too: instructions
 * are in the order of events in any block, so none waits for one that comes later. O(hops + blocks log blocks).
 */
export function blocksOf(parts: Parts, wires: Wires, enough: number): Blocks {
  const { source, target, pair, sendsTo, comesFrom } = parts;
  const connection = connectionsOf(parts, wires);
  /** [connections] */
  const sending: (Draft | undefined)[] = [];
  const receiving: (Draft | undefined)[] = [];
  const drafts: Draft[][] = Array.from({ length: parts.ranks }, () => []);
  const draftAt = (rank: number, channel: number): Draft => {
    const draft = { rank, channel, recvPeer: -1, sendPeer: -1 };
    drafts[rank].push(draft);
    return draft;
  };
  for (let hop = 0; hop < source.length; hop++) {
    const on = wires.fused[hop];
    if (on < 0) continue;
    const rank = target[hop];
    const draft = receiving[connection[hop]] ?? sending[connection[on]] ?? draftAt(rank, wires.channel[hop]);
    draft.recvPeer = comesFrom[pair[hop]];
    draft.sendPeer = sendsTo[pair[on]];
    receiving[connection[hop]] = draft;
    sending[connection[on]] = draft;
  }
  for (let hop = 0; hop < source.length; hop++) {
    if (sending[connection[hop]] === undefined) {
      const draft = draftAt(source[hop], wires.channel[hop]);
      draft.sendPeer = sendsTo[pair[hop]];
      sending[connection[hop]] = draft;
    }
    if (receiving[connection[hop]] === undefined) {
      const draft = draftAt(target[hop], wires.channel[hop]);
      draft.recvPeer = comesFrom[pair[hop]];
      receiving[connection[hop]] = draft;
    }
  }
  const joined = new Map<Draft, Draft>();
  const blocks = drafts.flatMap((own) =>
    join(own, enough, joined).sort(
      (a, b) =>
        a.channel - b.channel ||
        orderOfPeer(a.rank, a.recvPeer) - orderOfPeer(b.rank, b.recvPeer) ||
        orderOfPeer(a.rank, a.sendPeer) - orderOfPeer(b.rank, b.sendPeer),
    ),
  );
  const number = new Map(blocks.map((draft, b) => [draft, b]));
  const numberOf = (draft: Draft | undefined): number => {
    const own = draft as Draft;
    return number.get(joined.get(own) ?? own) as number;
  };
  const senders = Int32Array.from(sending, numberOf);
  const receivers = Int32Array.from(receiving, numberOf);
  return {
    rank: blocks.map(({ rank }) => rank),
    channel: blocks.map(({ channel }) => channel),
    recvPeer: blocks.map(({ recvPeer }) => recvPeer),
    sendPeer: blocks.map(({ sendPeer }) => sendPeer),
    sender: connection.map((c) => senders[c]),
    receiver: connection.map((c) => receivers[c]),
  };
}

/**
 * Returns what orders the peers of a rank; -1, nobody, comes first. All blocks begin at once and links serve them in this order. In the
 * order of peers all ranks would begin with the same one, for whose links they would wait. So the ranks of an aligned power of two,
 * such as the GPUs of a box, have different ones at each place, and both ends of a way have it at the same place. Reduce-scatter of
 * 64 MiB on a DGX A100: 197 us in place of 218.
 */
const orderOfPeer = (rank: number, peer: number): number => (peer < 0 ? -1 : rank ^ peer);

/** Returns the connection of each hop: one for each channel and pair of ranks, numbered as hops come to them. */
function connectionsOf({ pair }: Parts, { channel }: Wires): Int32Array {
  const numbers = new PairMap();
  return channel.map((c, hop) => numbers.number(c, pair[hop]));
}

/** Returns a rank's blocks; while there are too many, one that only sends goes into one of its channel that only receives. */
function join(own: readonly Draft[], enough: number, joined: Map<Draft, Draft>): Draft[] {
  let many = own.length;
  if (many <= enough) return [...own];
  const open = new Map<number, Draft[]>();
  for (const draft of own) {
    if (draft.sendPeer >= 0) continue;
    const there = open.get(draft.channel);
    if (there === undefined) open.set(draft.channel, [draft]);
    else there.push(draft);
  }
  return own.filter((draft) => {
    if (draft.recvPeer >= 0 || many <= enough) return true;
    const host = open.get(draft.channel)?.pop();
    if (host === undefined) return true;
    host.sendPeer = draft.sendPeer;
    joined.set(draft, host);
    many--;
    return false;
  });
}

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
 * Who uses which pairs of ranks (from, to) of which channel. A thread block receives from one peer and sends to one, so on a channel
 * each pair through which a rank receives what it passes on is matched with one through which it does.
 */
export interface Channels {
  /** Returns how often a pair is in use. */
  uses(channel: number, pair: number): number;
  /** Returns whether both ranks have this many peers to spare, or the pair already. */
  hasRoom(channel: number, pair: number, sends?: number, receives?: number): boolean;
  use(channel: number, pair: number): void;
  /** Returns whether a block could receive through one pair and send through the other. */
  mayMatch(channel: number, from: number, to: number): boolean;
  match(channel: number, from: number, to: number): void;
}

/** Returns channels that nobody uses; they take memory when they are. */
export function freeChannels({ pairSource, pairTarget, ranks }: Parts, { peersPerChannel }: WireLimits): Channels {
  const pairs = pairSource.length;
  const tables: {
    readonly uses: Uint32Array;
    readonly sends: Uint16Array;
    readonly receives: Uint16Array;
    readonly next: Int32Array;
    readonly before: Int32Array;
  }[] = [];
  const tableOf = (channel: number) => {
    while (tables.length <= channel) {
      tables.push({
        uses: new Uint32Array(pairs),
        sends: new Uint16Array(ranks),
        receives: new Uint16Array(ranks),
        next: new Int32Array(pairs).fill(-1),
        before: new Int32Array(pairs).fill(-1),
      });
    }
    return tables[channel];
  };
  return {
    uses: (channel, pair) => tableOf(channel).uses[pair],
    hasRoom(channel, pair, more = 1, moreReceived = 1) {
      const { uses, sends, receives } = tableOf(channel);
      if (uses[pair] > 0) return true;
      return (
        sends[pairSource[pair]] + more <= peersPerChannel &&
        receives[pairTarget[pair]] + moreReceived <= peersPerChannel
      );
    },
    use(channel, pair) {
      const { uses, sends, receives } = tableOf(channel);
      if (uses[pair]++ > 0) return;
      sends[pairSource[pair]]++;
      receives[pairTarget[pair]]++;
    },
    mayMatch(channel, from, to) {
      const { next, before } = tableOf(channel);
      return next[from] === to || (next[from] < 0 && before[to] < 0);
    },
    match(channel, from, to) {
      const { next, before } = tableOf(channel);
      next[from] = to;
      before[to] = from;
    },
  };
}

/**
 * Returns whether an arrival may be passed on in one instruction. Chunks of an instruction go one by one, so those that go
 * through several blocks at once are under way in all of them. A contribution's way up may not go on into the sum's way down if
 * there is more than one chunk: a rank on both would have to begin the second before it has ended the first. Nor where sums
 * come last.
 */
export function mayFuse({ reduces, chunks, sumsLast }: Parts, arrival: number, hop: number): boolean {
  return hop >= 0 && (reduces[arrival] === reduces[hop] || (chunks[hop] === 1 && !sumsLast));
}
