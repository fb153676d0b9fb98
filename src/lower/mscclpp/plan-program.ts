import { type Program, WAIT_BARRIER, WAIT_EVENT } from "../../model/program/program.ts";
import { type ProgramBuilder, type ProgramHeader, programBuilder } from "../../model/program/program-builder.ts";
import { MSCCLPP_RUNTIME } from "../../model/program/runtimes.ts";
import { bufferOf, indexOf, type Layout, NOWHERE, type Shape } from "./layout.ts";
import type { Channel, PacketPart, Part, PeerVia, PlanOp } from "./operations.ts";

/** Operations of the thread blocks of the ranks that have a part in a slice, by rank. */
export type SliceOps = ReadonlyMap<number, readonly (readonly PlanOp[])[]>;

/** What a plan says of itself. */
interface PlanName {
  readonly name: string;
  readonly inPlace: boolean;
  readonly protocol?: Program["protocol"];
}

/** Returns the header of a plan of a collective but for what its blocks say. */
export function planHeader(
  { collective, rankCount, rootRank }: Shape,
  { inputChunks, outputChunks, chunksOf }: Layout,
  { inPlace, name, protocol = "Simple" }: PlanName,
  scratchChunks: Int32Array = new Int32Array(rankCount),
): Omit<ProgramHeader, "channelCount"> {
  const loopChunks = Math.max(inputChunks, outputChunks);
  return {
    ...{ name, machine: "mscclpp", collective: collective.kind, rootRank, rankCount, protocol },
    ...{ inPlace, outOfPlace: !inPlace, minBytes: null, finer: 1 },
    maxBytes: mostBytesOf(loopChunks, scratchChunks, protocol),
    loopChunks,
    inputChunks: chunksOf?.input ?? new Int32Array(rankCount).fill(inputChunks),
    outputChunks: chunksOf?.output ?? new Int32Array(rankCount).fill(outputChunks),
    scratchChunks,
  };
}

/** In packets, scratch holds for each of two calls a place and its flags. */
const PACKETS_PER_CHUNK = 4;

/** Returns the greatest size for which 32-bit offsets reach all chunks of all buffers. */
function mostBytesOf(loopChunks: number, scratchChunks: Int32Array, protocol: Program["protocol"]): number {
  const { reachBytes, alignmentBytes } = MSCCLPP_RUNTIME;
  const scratch = scratchChunks.reduce((a, b) => Math.max(a, b), 0) * (protocol === "LL" ? PACKETS_PER_CHUNK : 1);
  return Math.floor(reachBytes / (Math.max(loopChunks, scratch) * alignmentBytes)) * alignmentBytes * loopChunks;
}

/** Channels of a plan: every slice has its own between each two of its ranks, so thread blocks share none. */
interface Channels {
  /** Returns the event on which one rank waits for another in a slice. */
  event(slice: number, rank: number, peer: number, via: PeerVia): number;
  /** Greatest number of channels of a kind between two ranks. */
  most(): number;
}

/**
 * Returns the program in which every rank has its thread blocks of each slice that it has a part in, and a barrier for each
 * slice over several blocks of which it is spread. What `header` lacks is counted here. O(operations).
 */
export function planProgram(slices: readonly SliceOps[], header: Omit<ProgramHeader, "channelCount">): Program {
  const builder = programBuilder();
  const channels = channelsOf(builder, header.rankCount);
  for (let rank = 0; rank < header.rankCount; rank++) {
    builder.addRank();
    let [id, barriers] = [0, 0];
    slices.forEach((ops, slice) => {
      const own = ops.get(rank) ?? [];
      const barrier = own.length > 1 ? builder.addBarrier({ rank, id: barriers++, blocks: own.length }) : -1;
      for (const block of own) {
        if (block.length === 0) continue;
        builder.addBlock({ id: id++ });
        for (const [step, op] of block.entries()) addOperation(builder, channels, { slice, rank, op, step, barrier });
      }
    });
  }
  return builder.build({ ...header, channelCount: channels.most() });
}

function channelsOf(builder: ProgramBuilder, rankCount: number): Channels {
  const ids = new Map<number, number>();
  const counts = new Map<number, number>();
  const events = new Map<number, number>();
  const pairOf = (one: number, other: number, via: PeerVia): number =>
    2 * (one * rankCount + other) + (via === "port" ? 1 : 0);
  const pairs = 2 * rankCount * rankCount;
  const idOf = (slice: number, rank: number, peer: number, via: PeerVia): number => {
    const pair = pairOf(Math.min(rank, peer), Math.max(rank, peer), via);
    let id = ids.get(slice * pairs + pair);
    if (id === undefined) {
      id = counts.get(pair) ?? 0;
      counts.set(pair, id + 1);
      ids.set(slice * pairs + pair, id);
    }
    return id;
  };
  return {
    event(slice, rank, peer, via) {
      const key = slice * pairs + pairOf(rank, peer, via);
      let event = events.get(key);
      if (event === undefined) {
        event = builder.addEvent({ rank, peer, id: idOf(slice, rank, peer, via), via });
        events.set(key, event);
      }
      return event;
    },
    most: () => [...counts.values()].reduce((most, many) => Math.max(most, many), 0),
  };
}

interface Placed {
  readonly slice: number;
  readonly rank: number;
  readonly op: PlanOp;
  readonly step: number;
  /** -1: none. */
  readonly barrier: number;
}

function addOperation(builder: ProgramBuilder, channels: Channels, placed: Placed): void {
  const { slice, rank, step, barrier } = placed;
  const { op, via, parts, channels: peers, packets = [] } = placed.op;
  const waited = ({ peer, via: by }: Channel) => ({ kind: WAIT_EVENT, on: channels.event(slice, rank, peer, by) });
  const posted = ({ peer, via: by }: Channel) => channels.event(slice, peer, rank, by);
  if (op === "wait" || op === "rlxwait") builder.add({ op, step, via, waits: peers.map(waited) });
  else if (op === "signal" || op === "rlxsignal") builder.add({ op, step, via, posts: peers.map(posted) });
  else if (op === "barrier") builder.add({ op, step, waits: [{ kind: WAIT_BARRIER, on: barrier }] });
  else if (parts.length + packets.length === 0) builder.add({ op, step, via });
  for (const part of parts) {
    const posts =
      (op === "pws" || op === "pwsf") && part.peer !== null ? [posted({ peer: part.peer, via: "port" })] : [];
    builder.add({ op, step, via, posts, ...operandsOf(rank, part) });
  }
  for (const part of packets) {
    // proxies need a channel, though nobody waits on it
    if (via === "port") for (const { peer } of part.sent) channels.event(0, peer, rank, via);
    builder.add({ op, step, via, ...packetOperandsOf(rank, part) });
  }
}

function packetOperandsOf(rank: number, { own, read, to, kept, sent, chunks }: PacketPart) {
  const plain = (at: number) => ({ rank, buffer: bufferOf(at), index: indexOf(at) });
  const packet = (owner: number, at: number) => ({
    rank: owner,
    buffer: bufferOf(at),
    index: indexOf(at),
    packet: true,
  });
  return {
    chunks,
    sources: [...own.map(plain), ...read.map((at) => packet(rank, at))],
    destinations: [
      ...(to === NOWHERE ? [] : [plain(to)]),
      ...(kept === NOWHERE ? [] : [packet(rank, kept)]),
      ...sent.map(({ peer, at }) => packet(peer, at)),
    ],
  };
}

function operandsOf(rank: number, { own, remote, to, peer, chunks }: Part) {
  const operand = (owner: number, at: number) => ({ rank: owner, buffer: bufferOf(at), index: indexOf(at) });
  return {
    chunks,
    sources: [...own.map((at) => operand(rank, at)), ...remote.map((read) => operand(read.peer, read.at))],
    destinations: [operand(peer ?? rank, to)],
  };
}
