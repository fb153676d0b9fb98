import { type Messages, messagesOf } from "../../model/program/messages.ts";
import {
  blockCount,
  blockOfInstructions,
  instructionCount,
  type Program,
  rankOfBlocks,
  WAIT_BARRIER,
  WAIT_EVENT,
  WAIT_INSTRUCTION,
} from "../../model/program/program.ts";

/**
 * Who meets whom, as far as it does not depend on the course of time. Instructions are the program's, `-1` is nobody.
 */
export interface Wiring extends Messages {
  readonly rankOf: Int32Array;
  readonly blockOf: Int32Array;
  /** [blocks] connection that the block sends into, or receives from; -1 where it never does. */
  readonly sendsTo: Int32Array;
  readonly receivesFrom: Int32Array;
  readonly connections: readonly Connection[];
  /** [waits] for an instruction: the first one from it on, in its block, that publishes. */
  readonly publisher: Int32Array;
  /** [waits] for an event: posts, initial ones included, after which it is sure to go on, whoever else waits. */
  readonly needed: Float64Array;
  /** [waits] for an event: posts, initial ones included, without which it cannot go on. */
  readonly least: Float64Array;
  /** [waits] for a barrier: how often its block has come to it before. */
  readonly generation: Int32Array;
  /** [events] instructions that post, block by block; blocks that wait, ascending. */
  readonly posters: readonly (readonly number[])[];
  readonly waiters: readonly (readonly number[])[];
  /** [barriers] blocks that come, ascending. */
  readonly comers: readonly (readonly number[])[];
}

/** One FIFO: from a rank to a peer on a channel. */
export interface Connection {
  readonly from: number;
  readonly to: number;
  readonly channel: number;
  /** Blocks that send into it, and that receive from it: one each where all is well. */
  readonly senders: number[];
  readonly receivers: number[];
  /** Instructions that send, and that receive, block by block. */
  readonly sends: number[];
  readonly receives: number[];
}

/** Returns the wiring of a program. O(instructions + operands + events x blocks that wait for them). */
export function wiringOf(program: Program): Wiring {
  const blockOf = blockOfInstructions(program);
  const rankOf = rankOfBlocks(program);
  const waits = program.waitOn.length;
  const publisher = new Int32Array(waits).fill(-1);
  const generation = new Int32Array(waits);
  const next = nextPublishers(program);
  const barrierUses = new Map<number, number>();
  const comers: Set<number>[] = Array.from(program.barrierRank, () => new Set());
  for (let i = 0; i < instructionCount(program); i++)
    for (let w = program.waitOffset[i]; w < program.waitOffset[i + 1]; w++) {
      const on = program.waitOn[w];
      if (program.waitKind[w] === WAIT_INSTRUCTION) publisher[w] = next[on];
      if (program.waitKind[w] !== WAIT_BARRIER) continue;
      const use = on * blockCount(program) + blockOf[i];
      generation[w] = barrierUses.get(use) ?? 0;
      barrierUses.set(use, generation[w] + 1);
      comers[on].add(blockOf[i]);
    }
  return {
    rankOf,
    blockOf,
    ...connect(program, rankOf),
    publisher,
    generation,
    comers: comers.map((blocks) => [...blocks].sort((a, b) => a - b)),
    ...eventWiring(program, blockOf),
  };
}

/** Returns for each instruction the first from it on, in its block, that publishes. */
function nextPublishers(program: Program): Int32Array {
  const next = new Int32Array(instructionCount(program));
  for (let b = 0; b < blockCount(program); b++) {
    let found = -1;
    for (let i = program.instructionOffset[b + 1] - 1; i >= program.instructionOffset[b]; i--) {
      if (program.publishes[i] === 1) found = i;
      next[i] = found;
    }
  }
  return next;
}

function connect(program: Program, rankOf: Int32Array) {
  const sendsTo = new Int32Array(blockCount(program)).fill(-1);
  const receivesFrom = new Int32Array(blockCount(program)).fill(-1);
  const connections: Connection[] = [];
  const known = new Map<string, number>();
  const connection = (from: number, to: number, channel: number): number => {
    const key = `${from} ${to} ${channel}`;
    const number = known.get(key) ?? connections.length;
    if (number === connections.length) {
      known.set(key, number);
      connections.push({ from, to, channel, senders: [], receivers: [], sends: [], receives: [] });
    }
    return number;
  };
  for (let b = 0; b < blockCount(program); b++) {
    for (let i = program.instructionOffset[b]; i < program.instructionOffset[b + 1]; i++) {
      if (program.sends[i] === 1) {
        if (sendsTo[b] < 0) {
          sendsTo[b] = connection(rankOf[b], program.sendPeer[b], program.channel[b]);
          connections[sendsTo[b]].senders.push(b);
        }
        connections[sendsTo[b]].sends.push(i);
      }
      if (program.receives[i] === 1) {
        if (receivesFrom[b] < 0) {
          receivesFrom[b] = connection(program.recvPeer[b], rankOf[b], program.channel[b]);
          connections[receivesFrom[b]].receivers.push(b);
        }
        connections[receivesFrom[b]].receives.push(i);
      }
    }
  }
  return { sendsTo, receivesFrom, connections, ...messagesOf(program) };
}

/** An event that several blocks take from may have given all that the others ask for before it gives to one. */
function eventWiring(program: Program, blockOf: Int32Array) {
  const posters: number[][] = Array.from(program.eventRank, () => []);
  const taken: Map<number, number>[] = Array.from(program.eventRank, () => new Map());
  const least = new Float64Array(program.waitOn.length);
  for (let i = 0; i < instructionCount(program); i++) {
    for (let p = program.postOffset[i]; p < program.postOffset[i + 1]; p++) posters[program.postOn[p]].push(i);
    for (let w = program.waitOffset[i]; w < program.waitOffset[i + 1]; w++) {
      if (program.waitKind[w] !== WAIT_EVENT) continue;
      const of = taken[program.waitOn[w]];
      least[w] = (of.get(blockOf[i]) ?? 0) + 1;
      of.set(blockOf[i], least[w]);
    }
  }
  const total = taken.map((of) => [...of.values()].reduce((sum, count) => sum + count, 0));
  const needed = new Float64Array(program.waitOn.length);
  for (let i = 0; i < instructionCount(program); i++)
    for (let w = program.waitOffset[i]; w < program.waitOffset[i + 1]; w++) {
      if (program.waitKind[w] !== WAIT_EVENT) continue;
      const event = program.waitOn[w];
      needed[w] = total[event] - (taken[event].get(blockOf[i]) ?? 0) + least[w];
    }
  return { posters, needed, least, waiters: taken.map((of) => [...of.keys()].sort((a, b) => a - b)) };
}

/** The chunks that some instruction reads as packets, and which of them were written as packets so far. */
interface PacketCells {
  readonly count: number;
  /** Returns a cell that the instruction reads and nobody wrote yet, or -1. */
  readonly unwritten: (instruction: number) => number;
  /** Marks what the instruction writes; `each` gets the cells that somebody reads. */
  readonly write: (instruction: number, each: (cell: number) => void) => void;
  /** Returns the instructions that write a cell as packets. */
  readonly writers: (cell: number) => readonly number[];
}

const NONE: PacketCells = { count: 0, unwritten: () => -1, write: () => {}, writers: () => [] };

/** Returns the packets of a program; nothing is allocated where it has none. O(operands + chunks of packets). */
export function packetCells(program: Program): PacketCells {
  if (!program.operandPacket.includes(1)) return NONE;
  const cells = new Map<string, number>();
  const reads: number[][] = [];
  const key = (operand: number, chunk: number): string =>
    `${program.operandRank[operand]} ${program.operandBuffer[operand]} ${program.operandIndex[operand] + chunk}`;
  forPackets(program, "read", (i, operand, chunk) => {
    const name = key(operand, chunk);
    const cell = cells.get(name) ?? cells.size;
    cells.set(name, cell);
    reads[i] ??= [];
    reads[i].push(cell);
  });
  const writes: number[][] = [];
  const writers: number[][] = Array.from({ length: cells.size }, () => []);
  forPackets(program, "write", (i, operand, chunk) => {
    const cell = cells.get(key(operand, chunk));
    if (cell === undefined) return;
    writes[i] ??= [];
    writes[i].push(cell);
    writers[cell].push(i);
  });
  const written = new Uint8Array(cells.size);
  const seen = new Int32Array(instructionCount(program));
  return {
    count: cells.size,
    unwritten(i) {
      const wanted = reads[i] ?? [];
      while (seen[i] < wanted.length && written[wanted[seen[i]]] === 1) seen[i]++;
      return seen[i] < wanted.length ? wanted[seen[i]] : -1;
    },
    write(i, each) {
      for (const cell of writes[i] ?? []) {
        written[cell] = 1;
        each(cell);
      }
    },
    writers: (cell) => writers[cell],
  };
}

/** Calls `each` for every chunk that is read or written as packets, instruction by instruction. */
export function forPackets(
  program: Program,
  side: "read" | "write",
  each: (instruction: number, operand: number, chunk: number) => void,
): void {
  for (let i = 0; i < instructionCount(program); i++) {
    const middle = program.operandOffset[i] + program.sourceCount[i];
    const from = side === "read" ? program.operandOffset[i] : middle;
    const to = side === "read" ? middle : program.operandOffset[i + 1];
    for (let operand = from; operand < to; operand++)
      if (program.operandPacket[operand] === 1) for (let k = 0; k < program.chunks[i]; k++) each(i, operand, k);
  }
}

/** Returns how many chunks operands and messages move in all, a double. O(instructions). */
export function chunkTotal(program: Program): number {
  let total = 0;
  for (let i = 0; i < instructionCount(program); i++) {
    const operands = program.operandOffset[i + 1] - program.operandOffset[i];
    total += program.chunks[i] * (operands + program.sends[i] + program.receives[i]);
  }
  return total;
}

/** Returns how many of those chunks are packets. O(instructions + operands). */
export function packetTotal(program: Program): number {
  let total = 0;
  for (let i = 0; i < instructionCount(program); i++)
    for (let o = program.operandOffset[i]; o < program.operandOffset[i + 1]; o++)
      total += program.chunks[i] * program.operandPacket[o];
  return total;
}

/** Words of clocks that may be written in all, which takes some minutes, and kept at a time, which is 1 GiB. */
export const WRITTEN = 2 ** 34;
export const KEPT = 2 ** 28;

/**
 * Returns whether the clocks of all instructions can be written, rank by rank: a word for each block that touches the rank's
 * memory. O(instructions + operands).
 */
export function clocksFit(program: Program): boolean {
  const { blockOffset, rankCount } = program;
  // of msccl, at most its own
  const offset = program.machine === "msccl" ? blockOffset : touchersOf(program).offset;
  let most = 0;
  for (let r = 0; r < rankCount; r++) most = Math.max(most, offset[r + 1] - offset[r]);
  const instructions = instructionCount(program);
  return instructions * offset[rankCount] <= WRITTEN && (instructions + 2 * blockCount(program)) * most <= KEPT;
}

/** Returns the blocks that touch the memory of each rank, ascending: those of rank r are offset[r] .. offset[r + 1] - 1. O(operands). */
export function touchersOf(program: Program): { readonly offset: Int32Array; readonly blocks: Int32Array } {
  const { rankCount, instructionOffset, operandOffset, operandRank } = program;
  const each = (use: (rank: number, block: number) => void): void => {
    const last = new Int32Array(rankCount).fill(-1);
    for (let block = 0; block < blockCount(program); block++) {
      const end = operandOffset[instructionOffset[block + 1]];
      for (let o = operandOffset[instructionOffset[block]]; o < end; o++) {
        const rank = operandRank[o];
        if (last[rank] === block) continue;
        last[rank] = block;
        use(rank, block);
      }
    }
  };
  const offset = new Int32Array(rankCount + 1);
  each((rank) => {
    offset[rank + 1]++;
  });
  for (let rank = 0; rank < rankCount; rank++) offset[rank + 1] += offset[rank];
  const next = offset.slice();
  const blocks = new Int32Array(offset[rankCount]);
  each((rank, block) => {
    blocks[next[rank]++] = block;
  });
  return { offset, blocks };
}
