import {
  blockCount,
  instructionCount,
  type Program,
  WAIT_BARRIER,
  WAIT_EVENT,
  WAIT_INSTRUCTION,
} from "../../model/program/program.ts";
import { packetCells, type Wiring } from "./wiring.ts";

/** What a block waits for. */
export const FOR_MESSAGE = 0;
export const FOR_SLOT = 1;
export const FOR_INSTRUCTION = 2;
export const FOR_EVENT = 3;
export const FOR_BARRIER = 4;
export const FOR_PACKETS = 5;

/** One course of a program. */
export interface Run {
  /** The instructions that came to an end, in the order in which they did. */
  readonly order: Int32Array;
  /** [blocks] the instruction that it is at, or -1: it has ended. */
  readonly at: Int32Array;
  /** [blocks] what those that have not ended wait for: FOR_..., and the connection, instruction, event, barrier or cell. */
  readonly waitsFor: Int8Array;
  readonly waitsOn: Int32Array;
  /** Most messages that a connection held. */
  readonly deepest: number;
}

/**
 * Returns a course of the program in which a connection holds up to `capacity` messages of `messageChunks` chunks at most: as
 * far as it gets. Which blocks get stuck does not depend on the order in which they run, for each takes what it takes from queues of its own (Kahn 1974, with
 * room in a queue as a message the other way); an event from which several blocks take is taken to have served the others
 * first. The more chunks a message takes, the less room is needed: whoever can end with small ones can with large ones. Of the
 * instructions of mscclpp between two nops each waits for the one before it, which keeps more waiting than the threads would.
 * O(chunks of messages + instructions + waits).
 */
export function run(program: Program, wiring: Wiring, capacity: number, messageChunks: number): Run {
  const course = courseOf(program, wiring, capacity, messageChunks);
  const { at, moved, ready, isReady, order, waitsFor, waitsOn } = course;
  const { instructionOffset } = program;
  while (course.waiting > 0) {
    const block = ready[course.head];
    course.head = (course.head + 1) % at.length;
    course.waiting--;
    isReady[block] = 0;
    for (let i = at[block]; i < instructionOffset[block + 1]; i = ++at[block]) {
      if (moved[block] === 0 && !mayBegin(course, block, i)) break;
      if (!mayEnd(course, block, i)) break;
      moved[block] = 0;
      end(course, i);
    }
  }
  for (let b = 0; b < at.length; b++) if (at[b] === instructionOffset[b + 1]) at[b] = -1;
  return { order: order.subarray(0, course.ended), at, waitsFor, waitsOn, deepest: course.deepest };
}

type Course = ReturnType<typeof courseOf>;

function courseOf(program: Program, wiring: Wiring, capacity: number, messageChunks: number) {
  const blocks = blockCount(program);
  const count = instructionCount(program);
  const connections = wiring.connections.length;
  const barriers = program.barrierRank.length;
  const packets = packetCells(program);
  const things = [connections, connections, count, program.eventInitial.length, barriers, packets.count];
  return {
    program,
    wiring,
    capacity,
    messageChunks,
    packets,
    order: new Int32Array(count),
    ended: 0,
    done: new Uint8Array(count),
    /** [blocks] instruction, chunks of its messages that have moved, whether it has come to its barrier. */
    at: program.instructionOffset.slice(0, blocks),
    moved: new Int32Array(blocks),
    hasCome: new Uint8Array(blocks),
    /** [connections] messages. */
    held: new Float64Array(connections),
    deepest: 0,
    posted: Float64Array.from(program.eventInitial),
    arrived: new Float64Array(barriers),
    // Blocks that wait are linked to what they wait for; each waits for one thing at a time.
    waitsFor: new Int8Array(blocks).fill(-1),
    waitsOn: new Int32Array(blocks).fill(-1),
    next: new Int32Array(blocks).fill(-1),
    first: things.map((number) => new Int32Array(number).fill(-1)),
    /** Blocks that may go on, as a ring. */
    ready: Int32Array.from({ length: blocks }, (_, b) => b),
    isReady: new Uint8Array(blocks).fill(1),
    head: 0,
    waiting: blocks,
  };
}

function suspend({ waitsFor, waitsOn, next, first }: Course, block: number, kind: number, on: number): void {
  waitsFor[block] = kind;
  waitsOn[block] = on;
  next[block] = first[kind][on];
  first[kind][on] = block;
}

function wake(course: Course, kind: number, on: number): void {
  const { waitsFor, next, first, ready, isReady } = course;
  for (let block = first[kind][on]; block >= 0; ) {
    const after = next[block];
    waitsFor[block] = -1;
    if (isReady[block] === 0) {
      isReady[block] = 1;
      ready[(course.head + course.waiting++) % ready.length] = block;
    }
    block = after;
  }
  first[kind][on] = -1;
}

/** Returns whether the waits of an instruction are over; else the block is suspended. */
function mayBegin(course: Course, block: number, i: number): boolean {
  const { done, posted, arrived, hasCome, waitsFor, packets } = course;
  const { waitOffset, waitKind, waitOn, barrierBlocks } = course.program;
  const { publisher, needed, generation } = course.wiring;
  for (let w = waitOffset[i]; w < waitOffset[i + 1]; w++) {
    const on = waitOn[w];
    if (waitKind[w] === WAIT_INSTRUCTION && done[publisher[w]] === 0)
      suspend(course, block, FOR_INSTRUCTION, publisher[w]);
    else if (waitKind[w] === WAIT_EVENT && posted[on] < needed[w]) suspend(course, block, FOR_EVENT, on);
    else if (waitKind[w] === WAIT_BARRIER) {
      if (hasCome[block] === 0) {
        hasCome[block] = 1;
        arrived[on]++;
        if (arrived[on] % barrierBlocks[on] === 0) wake(course, FOR_BARRIER, on);
      }
      if (arrived[on] < (generation[w] + 1) * barrierBlocks[on]) suspend(course, block, FOR_BARRIER, on);
      else hasCome[block] = 0;
    }
    if (waitsFor[block] >= 0) return false;
  }
  const missing = packets.unwritten(i);
  if (missing >= 0) suspend(course, block, FOR_PACKETS, missing);
  return missing < 0;
}

/** Returns whether all chunks of an instruction went through its connections; else the block is suspended. */
function mayEnd(course: Course, block: number, i: number): boolean {
  const { moved, held, waitsFor, messageChunks } = course;
  const { sends, receives, chunks } = course.program;
  const into = sends[i] === 1 ? course.wiring.sendsTo[block] : -1;
  const from = receives[i] === 1 ? course.wiring.receivesFrom[block] : -1;
  if (into < 0 && from < 0) return true;
  for (; moved[block] < chunks[i]; moved[block] += messageChunks) {
    if (from >= 0 && held[from] === 0) suspend(course, block, FOR_MESSAGE, from);
    else if (into >= 0 && held[into] >= course.capacity) suspend(course, block, FOR_SLOT, into);
    if (waitsFor[block] >= 0) return false;
    if (from >= 0) {
      held[from]--;
      wake(course, FOR_SLOT, from);
    }
    if (into >= 0) {
      held[into]++;
      if (held[into] > course.deepest) course.deepest = held[into];
      wake(course, FOR_MESSAGE, into);
    }
  }
  return true;
}

function end(course: Course, i: number): void {
  const { done, order, posted, packets } = course;
  const { postOffset, postOn } = course.program;
  done[i] = 1;
  order[course.ended++] = i;
  wake(course, FOR_INSTRUCTION, i);
  for (let p = postOffset[i]; p < postOffset[i + 1]; p++) {
    posted[postOn[p]]++;
    wake(course, FOR_EVENT, postOn[p]);
  }
  packets.write(i, (cell) => wake(course, FOR_PACKETS, cell));
}

/** Returns the least number of messages that connections must hold for the program to end; it ends with `most`. O(log(most)) runs. */
export function leastCapacity(program: Program, wiring: Wiring, most: number, messageChunks: number): number {
  let low = 1;
  let high = Math.max(1, most);
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (run(program, wiring, middle, messageChunks).order.length === instructionCount(program)) high = middle;
    else low = middle + 1;
  }
  return low;
}
