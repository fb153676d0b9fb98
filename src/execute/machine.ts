import { type Program, placeOfInstruction } from "../model/program/program.ts";
import { CONNECTIONS, chunksPerMessage } from "../model/program/runtimes.ts";
import type { Fault } from "./fault.ts";
import type { Layout } from "./layout.ts";
import { type Counters, countersOf, type Elements, type Memory } from "./memory.ts";
import type { Wiring } from "./wiring.ts";

/** First number of each kind of resource that instructions wait for; beyond `packet`: chunks of all ranks. */
interface Resources {
  /** Something to receive from a connection, and room to send into one. */
  readonly arrival: number;
  readonly room: number;
  readonly published: number;
  readonly event: number;
  readonly barrier: number;
  readonly packet: number;
}

/** One thread's share of a running program: what is private to it, and the memory of all. */
export interface Machine {
  readonly program: Program;
  readonly wiring: Wiring;
  readonly layout: Layout;
  readonly memory: Memory;
  readonly room: Room;
  /** Chunks that a connection holds at most. */
  readonly slots: number;
  readonly counters: Counters;
  readonly resources: Resources;
  /** [instructions] waits that are over, chunks that are done, and 1: a chunk is read but not yet written. */
  readonly waited: Int32Array;
  readonly moved: Int32Array;
  readonly holding: Uint8Array;
  /** [instructions] its number among those that came to a barrier, -1: it has not come. */
  readonly ticket: Int32Array;
  /** [blocks] first register of its window, and a slice of elements for each register. */
  readonly registerOf: Int32Array;
  readonly registers: Elements;
  /** Elements of every chunk that this pass moves. */
  from: number;
  length: number;
  /** Called where a resource may have become free. */
  wake: (resource: number) => void;
  fault: (fault: Fault) => void;
  instructions: number;
  /** Bytes that crossed from one rank to another. */
  bytes: number;
}

const silent = (): void => {};

/** Returns a machine that runs the given ranks on a memory; nothing is begun. O(instructions). */
export function machineOf(
  program: Program,
  wiring: Wiring,
  layout: Layout,
  memory: Memory,
  room: Room,
  ranks: readonly number[],
): Machine {
  const counters = countersOf(program, wiring);
  const n = program.op.length;
  const registerOf = new Int32Array(program.blockId.length);
  let registers = 0;
  for (const r of ranks) {
    for (let b = program.blockOffset[r]; b < program.blockOffset[r + 1]; b++) {
      registerOf[b] = registers;
      registers += wiring.widthOfBlock[b];
    }
  }
  const Kind = memory.slots.constructor as new (length: number) => Elements;
  return {
    program,
    wiring,
    layout,
    memory,
    room,
    slots: roomChunks(room),
    counters,
    resources: resourcesOf(program, wiring),
    waited: new Int32Array(n),
    moved: new Int32Array(n),
    holding: new Uint8Array(n),
    ticket: new Int32Array(n).fill(-1),
    registerOf,
    registers: new Kind(registers * layout.sliceElements),
    from: 0,
    length: layout.sliceElements,
    wake: silent,
    fault: silent,
    instructions: 0,
    bytes: 0,
  };
}

function resourcesOf(program: Program, { connectionCount }: Wiring): Resources {
  const published = 2 * connectionCount;
  const event = published + program.blockId.length;
  const barrier = event + program.eventInitial.length;
  const packet = barrier + program.barrierBlocks.length;
  return { arrival: 0, room: connectionCount, published, event, barrier, packet };
}

/** Prepares a pass over elements [from, from + length) of every chunk. */
export function beginMachine(machine: Machine, from: number, length: number): void {
  machine.waited.fill(0);
  machine.moved.fill(0);
  machine.holding.fill(0);
  machine.ticket.fill(-1);
  machine.from = from;
  machine.length = length;
}

/** What a connection holds before its sender has to wait. */
export interface Room {
  /** Messages. */
  readonly messages: number;
  /** Chunks of one instruction that travel as one message. */
  readonly chunks: number;
}

/**
 * Returns what connections of the runtimes hold in a call of `sizeBytes`: several chunks are a message where they are small; over MPI
 * an instruction is one message, and only one may be on its way.
 */
export const roomOf = (program: Program, sizeBytes: number): Room =>
  program.mpi === undefined
    ? { messages: CONNECTIONS[program.protocol].messages, chunks: chunksPerMessage(program, sizeBytes) }
    : { messages: 1, chunks: program.chunks.reduce((most, chunks) => Math.max(most, chunks), 1) };

/** Returns the chunks that a connection holds at most. */
export const roomChunks = ({ messages, chunks }: Room): number => messages * chunks;

/** Returns who waits for what, in words. */
export function waitText(
  program: Program,
  wiring: Wiring,
  layout: Layout,
  resources: Resources,
  instruction: number,
  resource: number,
): string {
  const block = wiring.blockOfInstruction[instruction];
  const rank = wiring.rankOfBlock[block];
  return `${placeOfInstruction(program, instruction, block, rank)} waits ${awaited(program, wiring, layout, resources, resource)}`;
}

function awaited(program: Program, wiring: Wiring, layout: Layout, resources: Resources, resource: number): string {
  if (resource >= resources.packet) {
    const chunk = resource - resources.packet;
    let rank = 0;
    while (layout.rankStart[rank + 1] <= chunk) rank++;
    return `for packets in the memory of gpu ${rank} (chunk ${chunk - layout.rankStart[rank]} of all)`;
  }
  if (resource >= resources.barrier) {
    const barrier = resource - resources.barrier;
    return `at barrier ${program.barrierId[barrier]} for ${program.barrierBlocks[barrier]} thread blocks`;
  }
  if (resource >= resources.event) {
    const event = resource - resources.event;
    const [own, peer] = [program.eventRank[event], program.eventPeer[event]];
    return own === peer ? `for semaphore ${program.eventId[event]}` : `for a signal from gpu ${peer}`;
  }
  if (resource >= resources.published) {
    const block = resource - resources.published;
    return `for thread block ${program.blockId[block]}`;
  }
  if (resource >= resources.room) {
    const connection = resource - resources.room;
    return `until gpu ${wiring.targetRank[connection]} receives what it sent before`;
  }
  return `for data from gpu ${wiring.sourceRank[resource]}`;
}

/** Which of the instructions that can go on goes on. */
export interface Order {
  /** Any of them; the one that was tried last; the one that was not tried for the longest time. */
  readonly pick: "random" | "newest" | "oldest";
  /** [blocks] below CLASSES: a block goes on only where no block of a lower class can. Null: all alike. */
  readonly classOfBlock: Uint8Array | null;
}

export const CLASSES = 8;
export const RANDOM_ORDER: Order = { pick: "random", classOfBlock: null };
