import type { Program } from "../model/program/program.ts";
import { type Room, roomChunks } from "./connections.ts";
import type { Fault } from "./fault.ts";
import type { Layout } from "./layout.ts";
import { type Counters, countersOf, type Elements, type Memory } from "./memory.ts";
import type { Wiring } from "./wiring.ts";

/** First number of each kind of resource that instructions wait for; beyond `packet`: chunks of all ranks. */
export interface Resources {
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
