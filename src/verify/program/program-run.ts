import {
  blockCount,
  instructionCount,
  type Program,
  WAIT_BARRIER,
  WAIT_EVENT,
  WAIT_INSTRUCTION,
} from "../../model/program/program.ts";
import { packetCells } from "./program-packets.ts";
import type { Wiring } from "./program-wiring.ts";

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
 * Returns a course of the program in which a connection holds up to `capacity` messages of `messageChunks` chunks at most: as far as it gets. Which blocks get
 * stuck does not depend on the order in which they run, for each takes what it takes from queues of its own (Kahn 1974, with
 * room in a queue as a message the other way); an event from which several blocks take is taken to have served the others
 * first. The more chunks a message takes, the less room is needed: whoever can end with small ones can with large ones. Of the
 * instructions of mscclpp between two nops each waits for the one before it, which keeps more waiting than the threads would.
 * O(chunks of messages + instructions + waits).
 */
export function run(program: Program, wiring: Wiring, capacity: number, messageChunks: number): Run {
  const { instructionOffset, waitOffset, waitKind, waitOn, postOffset, postOn, chunks, sends, receives } = program;
  const { sendsTo, receivesFrom, publisher, needed, generation } = wiring;
  const blocks = blockCount(program);
  const packets = packetCells(program);
  const order = new Int32Array(instructionCount(program));
  let ended = 0;
  const done = new Uint8Array(instructionCount(program));
  const at = new Int32Array(blocks);
  const moved = new Int32Array(blocks);
  const held = new Float64Array(wiring.connections.length);
  const posted = Float64Array.from(program.eventInitial);
  const arrived = new Float64Array(program.barrierRank.length);
  const hasCome = new Uint8Array(blocks);
  let deepest = 0;

  // Blocks that wait are linked to what they wait for; each waits for one thing at a time.
  const waitsFor = new Int8Array(blocks).fill(-1);
  const waitsOn = new Int32Array(blocks).fill(-1);
  const next = new Int32Array(blocks).fill(-1);
  const things = [wiring.connections.length, wiring.connections.length, done.length, posted.length, arrived.length];
  const first = [...things, packets.count].map((count) => new Int32Array(count).fill(-1));
  const ready = new Int32Array(blocks);
  const isReady = new Uint8Array(blocks).fill(1);
  let head = 0;
  let waiting = blocks;
  for (let b = 0; b < blocks; b++) ready[b] = b;

  const suspend = (block: number, kind: number, on: number): void => {
    waitsFor[block] = kind;
    waitsOn[block] = on;
    next[block] = first[kind][on];
    first[kind][on] = block;
  };
  const wake = (kind: number, on: number): void => {
    for (let block = first[kind][on]; block >= 0; ) {
      const after = next[block];
      waitsFor[block] = -1;
      if (isReady[block] === 0) {
        isReady[block] = 1;
        ready[(head + waiting++) % blocks] = block;
      }
      block = after;
    }
    first[kind][on] = -1;
  };

  /** Returns whether the waits of an instruction are over; else the block is suspended. */
  const mayBegin = (block: number, i: number): boolean => {
    for (let w = waitOffset[i]; w < waitOffset[i + 1]; w++) {
      const on = waitOn[w];
      if (waitKind[w] === WAIT_INSTRUCTION && done[publisher[w]] === 0) suspend(block, FOR_INSTRUCTION, publisher[w]);
      else if (waitKind[w] === WAIT_EVENT && posted[on] < needed[w]) suspend(block, FOR_EVENT, on);
      else if (waitKind[w] === WAIT_BARRIER) {
        if (hasCome[block] === 0) {
          hasCome[block] = 1;
          arrived[on]++;
          if (arrived[on] % program.barrierBlocks[on] === 0) wake(FOR_BARRIER, on);
        }
        if (arrived[on] < (generation[w] + 1) * program.barrierBlocks[on]) suspend(block, FOR_BARRIER, on);
        else hasCome[block] = 0;
      }
      if (waitsFor[block] >= 0) return false;
    }
    const missing = packets.unwritten(i);
    if (missing >= 0) suspend(block, FOR_PACKETS, missing);
    return missing < 0;
  };

  /** Returns whether all chunks of an instruction went through its connections; else the block is suspended. */
  const mayEnd = (block: number, i: number): boolean => {
    const into = sends[i] === 1 ? sendsTo[block] : -1;
    const from = receives[i] === 1 ? receivesFrom[block] : -1;
    if (into < 0 && from < 0) return true;
    for (; moved[block] < chunks[i]; moved[block] += messageChunks) {
      if (from >= 0 && held[from] === 0) suspend(block, FOR_MESSAGE, from);
      else if (into >= 0 && held[into] >= capacity) suspend(block, FOR_SLOT, into);
      if (waitsFor[block] >= 0) return false;
      if (from >= 0) {
        held[from]--;
        wake(FOR_SLOT, from);
      }
      if (into >= 0) {
        held[into]++;
        if (held[into] > deepest) deepest = held[into];
        wake(FOR_MESSAGE, into);
      }
    }
    return true;
  };

  const end = (i: number): void => {
    done[i] = 1;
    order[ended++] = i;
    wake(FOR_INSTRUCTION, i);
    for (let p = postOffset[i]; p < postOffset[i + 1]; p++) {
      posted[postOn[p]]++;
      wake(FOR_EVENT, postOn[p]);
    }
    packets.write(i, (cell) => wake(FOR_PACKETS, cell));
  };

  for (let b = 0; b < blocks; b++) at[b] = instructionOffset[b];
  while (waiting > 0) {
    const block = ready[head];
    head = (head + 1) % blocks;
    waiting--;
    isReady[block] = 0;
    for (let i = at[block]; i < instructionOffset[block + 1]; i = ++at[block]) {
      if (moved[block] === 0 && !mayBegin(block, i)) break;
      if (!mayEnd(block, i)) break;
      moved[block] = 0;
      end(i);
    }
  }
  for (let b = 0; b < blocks; b++) if (at[b] === instructionOffset[b + 1]) at[b] = -1;
  return { order: order.subarray(0, ended), at, waitsFor, waitsOn, deepest };
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
