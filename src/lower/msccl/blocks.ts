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
  const { source, target, moves } = parts;
  const ranks = moves.rankCount;
  const connectionOf = (hop: number): number => (wires.channel[hop] * ranks + source[hop]) * ranks + target[hop];
  const sending = new Map<number, Draft>();
  const receiving = new Map<number, Draft>();
  const drafts: Draft[][] = Array.from({ length: ranks }, () => []);
  const draftAt = (rank: number, channel: number): Draft => {
    const draft = { rank, channel, recvPeer: -1, sendPeer: -1 };
    drafts[rank].push(draft);
    return draft;
  };
  for (let hop = 0; hop < source.length; hop++) {
    const on = wires.fused[hop];
    if (on < 0) continue;
    const rank = target[hop];
    const draft =
      receiving.get(connectionOf(hop)) ?? sending.get(connectionOf(on)) ?? draftAt(rank, wires.channel[hop]);
    draft.recvPeer = source[hop];
    draft.sendPeer = target[on];
    receiving.set(connectionOf(hop), draft);
    sending.set(connectionOf(on), draft);
  }
  for (let hop = 0; hop < source.length; hop++) {
    const connection = connectionOf(hop);
    if (!sending.has(connection)) {
      const draft = draftAt(source[hop], wires.channel[hop]);
      draft.sendPeer = target[hop];
      sending.set(connection, draft);
    }
    if (!receiving.has(connection)) {
      const draft = draftAt(target[hop], wires.channel[hop]);
      draft.recvPeer = source[hop];
      receiving.set(connection, draft);
    }
  }
  const joined = new Map<Draft, Draft>();
  const blocks = drafts.flatMap((own) =>
    join(own, enough, joined).sort(
      (a, b) => a.channel - b.channel || a.recvPeer - b.recvPeer || a.sendPeer - b.sendPeer,
    ),
  );
  const number = new Map(blocks.map((draft, b) => [draft, b]));
  const numberOf = (draft: Draft | undefined): number => {
    const own = draft as Draft;
    return number.get(joined.get(own) ?? own) as number;
  };
  const sender = new Int32Array(source.length);
  const receiver = new Int32Array(source.length);
  for (let hop = 0; hop < source.length; hop++) {
    sender[hop] = numberOf(sending.get(connectionOf(hop)));
    receiver[hop] = numberOf(receiving.get(connectionOf(hop)));
  }
  return {
    rank: blocks.map(({ rank }) => rank),
    channel: blocks.map(({ channel }) => channel),
    recvPeer: blocks.map(({ recvPeer }) => recvPeer),
    sendPeer: blocks.map(({ sendPeer }) => sendPeer),
    sender,
    receiver,
  };
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
 * Who uses which connections of which channel. A thread block receives from one peer and sends to one, so on a channel each peer
 * that a rank passes on from is matched with one that it passes on to.
 */
export interface Channels {
  /** Returns how often a connection is in use. */
  uses(channel: number, from: number, to: number): number;
  /** Returns whether both ranks have this many peers to spare, or the connection already. */
  hasRoom(channel: number, from: number, to: number, sends?: number, receives?: number): boolean;
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
    hasRoom(channel, from, to, sends = 1, receives = 1) {
      const { uses, peers } = tableOf(channel);
      if (uses[from * ranks + to] > 0) return true;
      return peers[2 * from] + sends <= peersPerChannel && peers[2 * to + 1] + receives <= peersPerChannel;
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
export function mayFuse({ reduces, chunks, sumsLast }: Parts, arrival: number, hop: number): boolean {
  return hop >= 0 && (reduces[arrival] === reduces[hop] || (chunks[hop] === 1 && !sumsLast));
}
