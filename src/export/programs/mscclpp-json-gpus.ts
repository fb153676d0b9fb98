import { type Program, VIA, type Via } from "../../model/program/program.ts";

/** Kinds of channels between two ranks, in the order of a plan. */
export const PEER_VIAS = ["memory", "port"] as const;
export type PeerVia = (typeof PEER_VIAS)[number];

/** Returns whether what lies in another rank is reached over a channel between the two ranks. */
export const isPeerVia = (via: Via): via is PeerVia => via === "memory" || via === "port";

/** A buffer of another rank, and the kinds of channels over which it is reached. */
export interface RemoteBuffer {
  readonly rank: number;
  readonly buffer: number;
  readonly vias: Set<PeerVia>;
}

/** A buffer of all of some ranks, which a switch loads from or stores to at once. */
export interface SwitchChannel {
  readonly buffer: number;
  readonly ranks: readonly number[];
}

/** The tables of one kind of channels of a rank. */
interface Channels {
  /** Peers, one entry per channel: the k-th entry of a peer is channel k between the two. */
  readonly peers: number[];
  /** Position of channel k to a peer, by "peer k". */
  readonly position: Map<string, number>;
}

/** Tables of a rank, of which its thread blocks name entries. */
export interface GpuTables {
  readonly rank: number;
  readonly channels: Readonly<Record<PeerVia, Channels>>;
  readonly remotes: RemoteBuffer[];
  /** Position of a remote buffer, by "rank buffer". */
  readonly remotePosition: Map<string, number>;
  readonly switches: SwitchChannel[];
  /** Initial counts. */
  readonly semaphores: number[];
}

/** Returns the tables of all ranks with their channels and semaphores; blocks enter the rest. O(events). */
export function gpuTables(program: Program): GpuTables[] {
  const gpus = Array.from({ length: program.rankCount }, (_, rank) => ({
    rank,
    channels: { memory: noChannels(), port: noChannels() },
    remotes: [],
    remotePosition: new Map<string, number>(),
    switches: [],
    semaphores: [] as number[],
  }));
  const { eventRank, eventPeer, eventId, eventVia, eventInitial } = program;
  const all = Array.from(eventRank.keys());
  const between = all.filter((event) => isPeerVia(VIA[eventVia[event]]));
  const reach = (rank: number, peer: number, event: number): void =>
    addChannels(gpus[rank].channels[VIA[eventVia[event]] as PeerVia], peer, eventId[event]);
  // A rank's channels come in the order in which it waits on them, then those on which it only posts.
  for (const event of between) reach(eventRank[event], eventPeer[event], event);
  for (const event of between) reach(eventPeer[event], eventRank[event], event);
  for (const event of all) {
    if (VIA[eventVia[event]] !== "local") continue;
    const { semaphores } = gpus[eventRank[event]];
    while (semaphores.length <= eventId[event]) semaphores.push(0);
    semaphores[eventId[event]] = eventInitial[event];
  }
  return gpus;
}

const noChannels = (): Channels => ({ peers: [], position: new Map() });

/** Adds what is missing of the channels 0 .. id to a peer. */
function addChannels({ peers, position }: Channels, peer: number, id: number): void {
  for (let k = id; k >= 0 && !position.has(`${peer} ${k}`); k--) position.set(`${peer} ${k}`, -1);
  for (let k = 0; k <= id; k++) {
    if (position.get(`${peer} ${k}`) === -1) position.set(`${peer} ${k}`, peers.push(peer) - 1);
  }
}
