import {
  INPUT,
  OUTPUT,
  type Program,
  SCRATCH,
  WAIT_BARRIER,
  WAIT_EVENT,
  WAIT_INSTRUCTION,
} from "../../src/model/program/program.ts";
import {
  type Operand,
  type ProgramBuilder,
  type ProgramHeader,
  programBuilder,
} from "../../src/model/program/program-builder.ts";
import { programHeader } from "./program-header.ts";

/** Correct programs in which blocks depend on each other in every way that there is. */

const all = (ranks: number, chunks: number): Int32Array => new Int32Array(ranks).fill(chunks);

const header = (
  machine: Program["machine"],
  collective: Program["collective"],
  ranks: number,
  loopChunks: number,
  more: Partial<ProgramHeader> = {},
): ProgramHeader => programHeader(machine, collective, ranks, loopChunks, { protocol: "LL", channelCount: 8, ...more });

const at = (rank: number, buffer: number, index: number): Operand => ({ rank, buffer, index });
const after = (...steps: readonly number[]) => steps.map((on) => ({ kind: WAIT_INSTRUCTION, on }));
const others = (ranks: number, rank: number): number[] =>
  Array.from({ length: ranks - 1 }, (_, d) => (rank + d + 1) % ranks);

/** All-gather on a ring, fit for calls in place and out of place: the copy of the own part is none in place. */
export function ringAllGatherEither(ranks: number, chunks: number): Program {
  const builder = programBuilder();
  for (let r = 0; r < ranks; r++) {
    builder.addRank();
    const part = (back: number): Operand => at(r, OUTPUT, ((r - back + ranks) % ranks) * chunks);
    builder.addBlock({ id: 0, sendPeer: (r + 1) % ranks, recvPeer: (r + ranks - 1) % ranks });
    builder.add({ op: "s", chunks, sends: true, sources: [at(r, INPUT, 0)] });
    for (let step = 1; step < ranks; step++)
      builder.add({
        op: step < ranks - 1 ? "rcs" : "r",
        chunks,
        receives: true,
        sends: step < ranks - 1,
        destinations: [part(step)],
      });
    builder.addBlock({ id: 1 });
    builder.add({ op: "cpy", chunks, sources: [at(r, INPUT, 0)], destinations: [part(0)] });
  }
  const more = { inputChunks: all(ranks, chunks), outOfPlace: true };
  return builder.build(header("msccl", "allgather", ranks, ranks * chunks, more));
}

/** All-reduce by all pairs, as RCCL's file: into scratch, sums that wait by nops, and the sums out again. */
export function allPairsAllReduce(ranks: number, chunks: number): Program {
  const builder = programBuilder();
  for (let r = 0; r < ranks; r++) {
    builder.addRank();
    const own = r * chunks;
    const received: number[] = [];
    const sumBegins = builder.instructions() + 4 * (ranks - 1);
    const sum = sumBegins + 2 * (ranks - 1) - 2;
    for (const [d, peer] of others(ranks, r).entries()) {
      builder.addBlock({ id: d, sendPeer: peer, recvPeer: peer });
      builder.add({ op: "s", chunks, sends: true, sources: [at(r, INPUT, peer * chunks)] });
      const scratch = at(r, SCRATCH, d * chunks);
      received.push(builder.add({ op: "r", chunks, receives: true, publishes: true, destinations: [scratch] }));
      builder.add({ op: "s", chunks, sends: true, sources: [at(r, INPUT, own)], waits: after(sum) });
      builder.add({ op: "r", chunks, receives: true, destinations: [at(r, INPUT, peer * chunks)] });
    }
    builder.addBlock({ id: ranks - 1 });
    for (const step of received.slice(1)) builder.add({ op: "nop", waits: after(step) });
    for (let d = 0; d < ranks - 1; d++)
      builder.add({
        op: "re",
        chunks,
        sources: [at(r, INPUT, own), at(r, SCRATCH, d * chunks)],
        destinations: [at(r, INPUT, own)],
        waits: d === 0 ? after(received[0]) : [],
        publishes: d === ranks - 2,
      });
  }
  const scratchChunks = all(ranks, (ranks - 1) * chunks);
  return builder.build(
    header("msccl", "allreduce", ranks, ranks * chunks, { scratchChunks, outputChunks: all(ranks, 0) }),
  );
}

/** All-reduce on a binary tree, out of place: sums of children in scratch, copies down in fused and waiting blocks. */
export function treeAllReduce(ranks: number, chunks: number): Program {
  const builder = programBuilder();
  for (let r = 0; r < ranks; r++) {
    builder.addRank();
    const parent = r === 0 ? -1 : (r - 1) >> 1;
    const children = [2 * r + 1, 2 * r + 2].filter((child) => child < ranks);
    const sum = at(r, SCRATCH, 0);
    let last = -1;
    for (const [c, child] of children.entries()) {
      builder.addBlock({ id: c, recvPeer: child, channel: 0 });
      last = builder.add({
        op: "rrc",
        chunks,
        receives: true,
        sources: [c === 0 ? at(r, INPUT, 0) : sum],
        destinations: [c === children.length - 1 && r === 0 ? at(r, OUTPUT, 0) : sum],
        waits: c === 0 ? [] : after(last),
        publishes: true,
      });
    }
    if (r > 0) {
      builder.addBlock({ id: 2, sendPeer: parent, channel: 0 });
      const source = children.length > 0 ? sum : at(r, INPUT, 0);
      builder.add({ op: "s", chunks, sends: true, sources: [source], waits: children.length > 0 ? after(last) : [] });
      builder.addBlock({ id: 3, recvPeer: parent, sendPeer: children[0] ?? -1, channel: 1 });
      const forwards = children.length > 0;
      last = builder.add({
        op: forwards ? "rcs" : "r",
        chunks,
        receives: true,
        sends: forwards,
        destinations: [at(r, OUTPUT, 0)],
        publishes: true,
      });
    }
    for (const [c, child] of children.entries()) {
      if (r > 0 && c === 0) continue;
      builder.addBlock({ id: 4 + c, sendPeer: child, channel: 1 });
      builder.add({ op: "s", chunks, sends: true, sources: [at(r, OUTPUT, 0)], waits: after(last) });
    }
  }
  const more = { inPlace: false, outOfPlace: true, scratchChunks: all(ranks, chunks) };
  return builder.build(header("msccl", "allreduce", ranks, chunks, more));
}

/** What one rank reads goes round and comes back into the same chunks in another block: ordered chunk by chunk only. */
export function roundTrip(ranks: number, chunks: number): Program {
  const builder = programBuilder();
  for (let r = 0; r < ranks; r++) {
    builder.addRank();
    const next = (r + 1) % ranks;
    const previous = (r + ranks - 1) % ranks;
    if (r > 0) {
      builder.addBlock({ id: 0, sendPeer: next, recvPeer: previous });
      builder.add({ op: "rrs", chunks, receives: true, sends: true, sources: [at(r, INPUT, 0)] });
      continue;
    }
    builder.addBlock({ id: 0, sendPeer: next });
    builder.add({ op: "s", chunks, sends: true, sources: [at(0, INPUT, 0)] });
    builder.addBlock({ id: 1, recvPeer: previous });
    builder.add({ op: "r", chunks, receives: true, destinations: [at(0, INPUT, 0)] });
  }
  return builder.build(header("msccl", "reduce", ranks, chunks));
}

/** Gather, scatter, broadcast and reduce between the root and each other rank. */
export function direct(
  collective: "gather" | "scatter" | "broadcast" | "reduce",
  ranks: number,
  rootRank: number,
): Program {
  const builder = programBuilder();
  const parts = collective === "gather" || collective === "scatter";
  const up = collective === "gather" || collective === "reduce";
  const loopChunks = parts ? ranks : 2;
  const chunks = parts ? 1 : 2;
  for (let r = 0; r < ranks; r++) {
    builder.addRank();
    let last = -1;
    if (r === rootRank) {
      builder.addBlock({ id: 0 });
      const source = at(r, INPUT, collective === "scatter" ? r : 0);
      const destination = at(r, OUTPUT, collective === "gather" ? r : 0);
      last = builder.add({ op: "cpy", chunks, sources: [source], destinations: [destination], publishes: true });
    }
    for (const [d, peer] of others(ranks, r).entries()) {
      if (r !== rootRank && peer !== rootRank) continue;
      const sends = up ? r !== rootRank : r === rootRank;
      const other = sends ? (r === rootRank ? peer : r) : r === rootRank ? peer : r;
      builder.addBlock({ id: d + 1, ...(sends ? { sendPeer: peer } : { recvPeer: peer }) });
      if (sends) {
        builder.add({ op: "s", chunks, sends, sources: [at(r, INPUT, collective === "scatter" ? other : 0)] });
        continue;
      }
      const output = at(r, OUTPUT, collective === "gather" ? other : 0);
      const reduces = collective === "reduce";
      last = builder.add({
        op: reduces ? "rrc" : "r",
        chunks,
        receives: true,
        sources: reduces ? [output] : [],
        destinations: [output],
        waits: reduces ? after(last) : [],
        publishes: true,
      });
    }
  }
  const more = {
    rootRank,
    inPlace: !parts,
    outOfPlace: true,
    inputChunks: all(ranks, collective === "gather" ? 1 : loopChunks),
    outputChunks: all(ranks, collective === "scatter" ? 1 : loopChunks),
  };
  return builder.build(header("msccl", collective, ranks, loopChunks, more));
}

/** All-to-all out of place, each pair with a block at both ends. */
export function allToAll(ranks: number): Program {
  const builder = programBuilder();
  for (let r = 0; r < ranks; r++) {
    builder.addRank();
    builder.addBlock({ id: 0 });
    builder.add({ op: "cpy", chunks: 1, sources: [at(r, INPUT, r)], destinations: [at(r, OUTPUT, r)] });
    for (const [d, peer] of others(ranks, r).entries()) {
      builder.addBlock({ id: d + 1, sendPeer: peer, recvPeer: peer });
      builder.add({ op: "s", chunks: 1, sends: true, sources: [at(r, INPUT, peer)] });
      builder.add({ op: "r", chunks: 1, receives: true, destinations: [at(r, OUTPUT, peer)] });
    }
  }
  return builder.build(header("msccl", "alltoall", ranks, ranks, { inPlace: false, outOfPlace: true }));
}

/** One event for each ordered pair of ranks: [waits][posts]. */
const channels = (builder: ProgramBuilder, ranks: number, id: number): number[][] =>
  Array.from({ length: ranks }, (_, rank) =>
    Array.from({ length: ranks }, (_, peer) =>
      rank === peer ? -1 : builder.addEvent({ rank, peer, id, via: "memory" }),
    ),
  );

const take = (...events: readonly number[]) => events.map((on) => ({ kind: WAIT_EVENT, on }));

/** All-reduce by reading and writing the peers, in place, between two handshakes: MSCCL++'s rres. */
export function readReduceSend(ranks: number): Program {
  const builder = programBuilder();
  const event = channels(builder, ranks, 0);
  for (let r = 0; r < ranks; r++) {
    builder.addRank();
    builder.addBlock({ id: 0 });
    const peers = others(ranks, r);
    const everyone = [r, ...peers].map((rank) => at(rank, INPUT, r));
    for (let round = 0; round < 2; round++) {
      builder.add({ op: "nop" });
      builder.add({ op: "signal", posts: peers.map((peer) => event[peer][r]) });
      builder.add({ op: "wait", waits: take(...peers.map((peer) => event[r][peer])) });
      builder.add({ op: "nop" });
      if (round === 0) builder.add({ op: "rres", chunks: 1, sources: everyone, destinations: everyone });
    }
  }
  return builder.build(header("mscclpp", "allreduce", ranks, ranks, { outputChunks: all(ranks, 0) }));
}

/** All-gather through a second block: it copies to scratch, hands over by a semaphore, and puts with a signal of its own. */
export function semaphoreAllGather(ranks: number): Program {
  const builder = programBuilder();
  const event = channels(builder, ranks, 0);
  for (let r = 0; r < ranks; r++) {
    builder.addRank();
    const full = builder.addEvent({ rank: r, peer: r, id: 0, via: "local" });
    const peers = others(ranks, r);
    builder.addBlock({ id: 0 });
    builder.add({ op: "copy", chunks: 2, sources: [at(r, INPUT, 0)], destinations: [at(r, SCRATCH, 0)] });
    builder.add({ op: "nop" });
    for (const _ of peers) builder.add({ op: "sem_release", posts: [full] });
    builder.add({ op: "copy", chunks: 2, sources: [at(r, INPUT, 0)], destinations: [at(r, OUTPUT, 2 * r)] });
    builder.addBlock({ id: 1 });
    for (const peer of peers) {
      builder.add({ op: "sem_acquire", waits: take(full) });
      builder.add({ op: "nop" });
      const destinations = [at(peer, OUTPUT, 2 * r)];
      builder.add({
        op: "pws",
        via: "port",
        chunks: 2,
        sources: [at(r, SCRATCH, 0)],
        destinations,
        posts: [event[peer][r]],
      });
    }
    builder.add({ op: "wait", waits: take(...peers.map((peer) => event[r][peer])) });
  }
  const more = { inPlace: false, outOfPlace: true, inputChunks: all(ranks, 2), scratchChunks: all(ranks, 2) };
  return builder.build(header("mscclpp", "allgather", ranks, 2 * ranks, more));
}

/** All-gather by two blocks that both take from one semaphore, to which a third posts for both of them. */
export function sharedSemaphore(ranks: number): Program {
  const builder = programBuilder();
  const events = [0, 1].map((id) => channels(builder, ranks, id));
  for (let r = 0; r < ranks; r++) {
    builder.addRank();
    const copied = builder.addEvent({ rank: r, peer: r, id: 0, via: "local" });
    const peers = others(ranks, r);
    builder.addBlock({ id: 0 });
    builder.add({ op: "copy", chunks: 2, sources: [at(r, INPUT, 0)], destinations: [at(r, OUTPUT, 2 * r)] });
    builder.add({ op: "nop" });
    for (const _ of events) builder.add({ op: "sem_release", posts: [copied] });
    for (const [k, event] of events.entries()) {
      builder.addBlock({ id: k + 1 });
      builder.add({ op: "sem_acquire", waits: take(copied) });
      builder.add({ op: "nop" });
      for (const peer of peers) {
        const part = { buffer: OUTPUT, index: 2 * r + k };
        builder.add({ op: "put", chunks: 1, sources: [{ rank: r, ...part }], destinations: [{ rank: peer, ...part }] });
      }
      builder.add({ op: "nop" });
      builder.add({ op: "signal", posts: peers.map((peer) => event[peer][r]) });
      builder.add({ op: "wait", waits: take(...peers.map((peer) => event[r][peer])) });
    }
  }
  const more = { inPlace: false, outOfPlace: true, inputChunks: all(ranks, 2) };
  return builder.build(header("mscclpp", "allgather", ranks, 2 * ranks, more));
}

/** All-reduce with two rounds over one barrier: everyone's blocks copy, meet, add, meet, and copy back. */
export function barrierReduce(blocks: number): Program {
  const builder = programBuilder();
  const event = channels(builder, 2, 0);
  for (let r = 0; r < 2; r++) {
    builder.addRank();
    const barrier = builder.addBarrier({ rank: r, id: 0, blocks });
    const meet = { op: "barrier", waits: [{ kind: WAIT_BARRIER, on: barrier }] } as const;
    for (let b = 0; b < blocks; b++) {
      const neighbour = (b + 1) % blocks;
      builder.addBlock({ id: b });
      builder.add({ op: "put", chunks: 1, sources: [at(r, INPUT, b)], destinations: [at(1 - r, SCRATCH, b)] });
      builder.add(meet);
      if (b === 0) {
        builder.add({ op: "signal", posts: [event[1 - r][r]] });
        builder.add({ op: "wait", waits: take(event[r][1 - r]) });
      }
      builder.add(meet);
      const own = at(r, INPUT, neighbour);
      builder.add({ op: "re", chunks: 1, sources: [own, at(r, SCRATCH, neighbour)], destinations: [own] });
    }
  }
  const more = { scratchChunks: all(2, blocks), outputChunks: all(2, 0) };
  return builder.build(header("mscclpp", "allreduce", 2, blocks, more));
}

/** All-reduce by packets, in place, as MSCCL++'s allreduce_pkt: what a block overwrites, another read before it sent it. */
export function packetAllReduceInPlace(ranks: number, chunks: number): Program {
  const builder = programBuilder();
  const packet = (rank: number, index: number): Operand => ({ ...at(rank, SCRATCH, index), packet: true });
  const row = (of: number, by: number): number => (by - of - 1 + ranks) % ranks;
  for (let r = 0; r < ranks; r++) {
    builder.addRank();
    const peers = others(ranks, r);
    for (const [d, peer] of peers.entries()) {
      builder.addBlock({ id: d });
      const place = packet(peer, row(peer, r) * chunks);
      builder.add({ op: "ppkt", chunks, sources: [at(r, INPUT, peer * chunks)], destinations: [place] });
      if (d === 0)
        for (let k = 0; k < chunks; k++) {
          const own = at(r, INPUT, r * chunks + k);
          const came = peers.map((from) => packet(r, row(r, from) * chunks + k));
          const sums = peers.map((to) => packet(to, (ranks - 1 + row(to, r)) * chunks + k));
          builder.add({ op: "respkt", chunks: 1, sources: [own, ...came], destinations: [own, ...sums] });
        }
      const result = packet(r, (ranks - 1 + row(r, others(ranks, r)[(d + 1) % peers.length])) * chunks);
      const into = at(r, INPUT, others(ranks, r)[(d + 1) % peers.length] * chunks);
      builder.add({ op: "upkt", chunks, sources: [result], destinations: [into] });
    }
  }
  const more = { scratchChunks: all(ranks, 2 * (ranks - 1) * chunks), outputChunks: all(ranks, 0) };
  return builder.build(header("mscclpp", "allreduce", ranks, ranks * chunks, more));
}

/** All-gather between two boxes: packets made in scratch, and moved as they lie by a proxy (MSCCL++'s ppkt on a port channel). */
export function packetsThroughPort(): Program {
  const builder = programBuilder();
  for (let r = 0; r < 2; r++) {
    builder.addRank();
    builder.addBlock({ id: 0 });
    const [made, came] = [0, 1].map((index): Operand => ({ ...at(r, SCRATCH, index), packet: true }));
    builder.add({ op: "cpkt", chunks: 1, sources: [at(r, INPUT, 0)], destinations: [made] });
    builder.add({ op: "nop" });
    const there: Operand = { ...at(1 - r, SCRATCH, 1), packet: true };
    builder.add({ op: "ppkt", via: "port", chunks: 1, sources: [at(r, SCRATCH, 0)], destinations: [there] });
    builder.add({ op: "upkt", chunks: 1, sources: [came], destinations: [at(r, OUTPUT, 1 - r)] });
    builder.add({ op: "copy", chunks: 1, sources: [at(r, INPUT, 0)], destinations: [at(r, OUTPUT, r)] });
  }
  const more = { inPlace: false, outOfPlace: true, inputChunks: all(2, 1), scratchChunks: all(2, 2) };
  return builder.build(header("mscclpp", "allgather", 2, 2, more));
}

export const programCases = (): { readonly name: string; readonly program: Program }[] => [
  { name: "ring all-gather, either", program: ringAllGatherEither(4, 2) },
  { name: "all-reduce by all pairs", program: allPairsAllReduce(3, 2) },
  { name: "all-reduce on a tree", program: treeAllReduce(5, 2) },
  { name: "round trip", program: roundTrip(3, 3) },
  { name: "gather", program: direct("gather", 3, 1) },
  { name: "scatter", program: direct("scatter", 3, 1) },
  { name: "broadcast", program: direct("broadcast", 3, 2) },
  { name: "reduce", program: direct("reduce", 4, 1) },
  { name: "all-to-all", program: allToAll(3) },
  { name: "read, reduce and send", program: readReduceSend(3) },
  { name: "all-gather through semaphores", program: semaphoreAllGather(3) },
  { name: "all-gather with a shared semaphore", program: sharedSemaphore(3) },
  { name: "all-reduce with a barrier", program: barrierReduce(3) },
  { name: "packets through a port", program: packetsThroughPort() },
  { name: "all-reduce by packets, in place", program: packetAllReduceInPlace(3, 2) },
];
