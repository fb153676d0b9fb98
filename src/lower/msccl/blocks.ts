import type { Parts } from "./parts.ts";
import type { Wires } from "./wires.ts";

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
