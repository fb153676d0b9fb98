import {
  INPUT,
  OUTPUT,
  type Program,
  SCRATCH,
  WAIT_BARRIER,
  WAIT_EVENT,
  WAIT_INSTRUCTION,
} from "../../src/model/program/program.ts";
import { type Operand, type ProgramBuilder, programBuilder } from "../../src/model/program/program-builder.ts";
import { programHeader } from "./program-header.ts";

/** Small programs, written down from what a textbook says of each algorithm. */

const at = (rank: number, buffer: number, index: number): Operand => ({ rank, buffer, index });

/** Ring all-gather, out of place: own part by a copy, then n - 1 steps, each of which forwards what came in the one before. */
export function ringAllGather(ranks: number): Program {
  const builder = programBuilder();
  for (let r = 0; r < ranks; r++) {
    builder.addRank();
    builder.addBlock({ id: 0, sendPeer: (r + 1) % ranks, recvPeer: (r + ranks - 1) % ranks });
    const part = (back: number): Operand => at(r, OUTPUT, (r + ranks - back) % ranks);
    builder.add({ op: "cpy", chunks: 1, sources: [at(r, INPUT, 0)], destinations: [part(0)] });
    builder.add({ op: "s", chunks: 1, sends: true, sources: [part(0)] });
    for (let step = 1; step < ranks; step++)
      builder.add(
        step < ranks - 1
          ? { op: "rcs", chunks: 1, receives: true, sends: true, destinations: [part(step)] }
          : { op: "r", chunks: 1, receives: true, destinations: [part(step)] },
      );
  }
  const inputChunks = new Int32Array(ranks).fill(1);
  return builder.build(
    programHeader("msccl", "allgather", ranks, ranks, { inPlace: false, outOfPlace: true, inputChunks }),
  );
}

/** Ring all-reduce in place, with fused instructions; `chunks` to a part. */
export function ringAllReduce(ranks: number, chunks = 1): Program {
  const builder = programBuilder();
  for (let r = 0; r < ranks; r++) {
    builder.addRank();
    builder.addBlock({ id: 0, sendPeer: (r + 1) % ranks, recvPeer: (r + ranks - 1) % ranks });
    const part = (back: number): Operand => at(r, INPUT, ((r + 2 * ranks - back) % ranks) * chunks);
    builder.add({ op: "s", chunks, sends: true, sources: [part(0)] });
    for (let step = 1; step < ranks - 1; step++)
      builder.add({ op: "rrs", chunks, receives: true, sends: true, sources: [part(step)] });
    const own = part(ranks - 1);
    builder.add({ op: "rrcs", chunks, receives: true, sends: true, sources: [own], destinations: [own] });
    for (let step = 0; step < ranks - 2; step++)
      builder.add({ op: "rcs", chunks, receives: true, sends: true, destinations: [part(step)] });
    builder.add({ op: "r", chunks, receives: true, destinations: [part(ranks - 2)] });
  }
  const outputChunks = new Int32Array(ranks);
  // Up to here all chunks of a step travel as one message.
  const maxBytes = 2 ** 20;
  return builder.build(programHeader("msccl", "allreduce", ranks, ranks * chunks, { outputChunks, maxBytes }));
}

/**
 * Reduce-scatter where every rank sends every other its part: one block per peer sends and receives into scratch; another block
 * waits for each of them and adds what it received, so nothing but waits keeps them in order.
 */
export function directReduceScatter(ranks: number): Program {
  const builder = programBuilder();
  for (let r = 0; r < ranks; r++) {
    builder.addRank();
    const received: number[] = [];
    for (let d = 1; d < ranks; d++) {
      const peer = (r + d) % ranks;
      builder.addBlock({ id: d - 1, sendPeer: peer, recvPeer: peer });
      builder.add({ op: "s", chunks: 1, sends: true, sources: [at(r, INPUT, peer)] });
      received.push(
        builder.add({ op: "r", chunks: 1, receives: true, publishes: true, destinations: [at(r, SCRATCH, d - 1)] }),
      );
    }
    builder.addBlock({ id: ranks - 1 });
    builder.add({ op: "cpy", chunks: 1, sources: [at(r, INPUT, r)], destinations: [at(r, OUTPUT, 0)] });
    received.forEach((on, d) => {
      const sum = at(r, OUTPUT, 0);
      const waits = [{ kind: WAIT_INSTRUCTION, on }];
      builder.add({ op: "re", chunks: 1, waits, sources: [sum, at(r, SCRATCH, d)], destinations: [sum] });
    });
  }
  const outputChunks = new Int32Array(ranks).fill(1);
  const scratchChunks = new Int32Array(ranks).fill(ranks - 1);
  const more = { inPlace: false, outOfPlace: true, outputChunks, scratchChunks };
  return builder.build(programHeader("msccl", "reducescatter", ranks, ranks, more));
}

/** Adds an event from each rank to each other, and returns their numbers: [waiting rank][posting rank]. */
function handshakes(builder: ProgramBuilder, ranks: number): number[][] {
  return Array.from({ length: ranks }, (_, rank) =>
    Array.from({ length: ranks }, (_, peer) =>
      rank === peer ? -1 : builder.addEvent({ rank, peer, id: 0, via: "memory" }),
    ),
  );
}

/** MSCCL++ all-gather, in place: everyone puts its part into everyone's output, signals, and waits. */
export function putAllGather(ranks: number): Program {
  const builder = programBuilder();
  const event = handshakes(builder, ranks);
  for (let r = 0; r < ranks; r++) {
    builder.addRank();
    const peers = Array.from({ length: ranks - 1 }, (_, d) => (r + 1 + d) % ranks);
    peers.forEach((peer, d) => {
      builder.addBlock({ id: d });
      const own = { buffer: OUTPUT, index: r };
      builder.add({ op: "put", chunks: 1, sources: [{ rank: r, ...own }], destinations: [{ rank: peer, ...own }] });
      builder.add({ op: "nop" });
      builder.add({ op: "signal", posts: [event[peer][r]] });
      builder.add({ op: "wait", waits: [{ kind: WAIT_EVENT, on: event[r][peer] }] });
    });
  }
  return builder.build(
    programHeader("mscclpp", "allgather", ranks, ranks, {
      inputChunks: new Int32Array(ranks).fill(1),
      channelCount: 1,
    }),
  );
}

/**
 * MSCCL++ all-reduce by packets, in place: block d puts the whole input as packets into scratch of a peer; block 0 meets the
 * others at a barrier, so that inputs are no longer read, and adds what came.
 */
export function packetAllReduce(ranks: number, chunks: number): Program {
  const builder = programBuilder();
  for (let r = 0; r < ranks; r++) {
    builder.addRank();
    const barrier = builder.addBarrier({ rank: r, id: 0, blocks: ranks - 1 });
    const meet = { op: "barrier", waits: [{ kind: WAIT_BARRIER, on: barrier }] } as const;
    for (let d = 1; d < ranks; d++) {
      const peer = (r + d) % ranks;
      builder.addBlock({ id: d - 1 });
      const packet = { rank: peer, buffer: SCRATCH, index: (ranks - d - 1) * chunks, packet: true };
      builder.add({ op: "ppkt", chunks, sources: [at(r, INPUT, 0)], destinations: [packet] });
      builder.add(meet);
      if (d > 1) continue;
      const came = Array.from({ length: ranks - 1 }, (_, k) => ({ ...at(r, SCRATCH, k * chunks), packet: true }));
      builder.add({ op: "repkt", chunks, sources: [at(r, INPUT, 0), ...came], destinations: [at(r, INPUT, 0)] });
    }
  }
  const scratchChunks = new Int32Array(ranks).fill((ranks - 1) * chunks);
  return builder.build(programHeader("mscclpp", "allreduce", ranks, chunks, { scratchChunks }));
}

/** Returns one of each. */
export const smallPrograms = (): { readonly name: string; readonly program: Program }[] => [
  { name: "ring all-gather", program: ringAllGather(5) },
  { name: "ring all-reduce", program: ringAllReduce(4) },
  { name: "ring all-reduce of several chunks", program: ringAllReduce(3, 4) },
  { name: "direct reduce-scatter", program: directReduceScatter(4) },
  { name: "all-gather by puts", program: putAllGather(4) },
  { name: "all-reduce by packets", program: packetAllReduce(4, 3) },
];
