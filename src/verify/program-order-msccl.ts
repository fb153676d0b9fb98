import { blockCount, instructionCount, type Program, WAIT_INSTRUCTION } from "../model/program.ts";
import type { Visit } from "./program-races.ts";
import { put, raise, slots } from "./program-slots.ts";
import type { Wiring } from "./program-wiring.ts";

/**
 * Calls `visit` for every instruction of a rank, in the order given, with what is certain to have happened before it, among
 * the instructions of that rank. A clock tells of each block of the rank how many of its instructions are complete. What an
 * instruction knows when it begins comes from the one before it, from those it waits for, and from what the sender knew when
 * it began; the chunks of a message come one by one, so of the sender and what it follows chunk by chunk only as many chunks
 * are known to be complete as have come: `aligned`. A message does not tell the sender anything: that there was room again
 * depends on the room. O(instructions x blocks of the rank).
 */
export function walkMsccl(program: Program, wiring: Wiring, order: Int32Array, rank: number, visit: Visit): void {
  const { instructionOffset, waitOffset, waitKind, receives, sends } = program;
  const { blockOf, rankOf, publisher, sendOf, receiveOf } = wiring;
  const low = program.blockOffset[rank];
  const lanes = program.blockOffset[rank + 1] - low;
  const known = new Int32Array(blockCount(program) * lanes);
  const start = new Int32Array(lanes);
  const aligned = new Int32Array(lanes);
  const kept = slots(2 * lanes);
  const ofMessage = new Int32Array(instructionCount(program)).fill(-1);
  const ofStep = new Int32Array(instructionCount(program)).fill(-1);
  const readers = new Int32Array(instructionCount(program));
  for (let w = 0; w < publisher.length; w++) if (waitKind[w] === WAIT_INSTRUCTION) readers[publisher[w]]++;

  const before = (a: number, chunkOfA: number, chunk: number): boolean => {
    const block = blockOf[a];
    const index = a - instructionOffset[block];
    const lane = block - low;
    return start[lane] > index || (aligned[lane] > index && chunkOfA <= chunk);
  };
  for (const i of order) {
    const block = blockOf[i];
    const at = block * lanes;
    put(start, 0, known, at, lanes);
    for (let w = waitOffset[i]; w < waitOffset[i + 1]; w++) {
      const from = ofStep[publisher[w]];
      raise(start, 0, kept.data(), from + lanes, lanes);
      if (--readers[publisher[w]] === 0) kept.give(from);
    }
    const message = receives[i] === 1 ? ofMessage[sendOf[i]] : -1;
    if (message >= 0) raise(start, 0, kept.data(), message, lanes);
    put(aligned, 0, start, 0, lanes);
    if (message >= 0) {
      raise(aligned, 0, kept.data(), message + lanes, lanes);
      kept.give(message);
    }
    if (rankOf[block] === rank) {
      visit(i, before);
      aligned[block - low] = i - instructionOffset[block] + 1;
    }
    put(known, at, aligned, 0, lanes);
    if (sends[i] === 1 && receiveOf[i] >= 0) ofMessage[i] = keep();
    if (readers[i] > 0) ofStep[i] = keep();
  }

  function keep(): number {
    const at = kept.take();
    put(kept.data(), at, start, 0, lanes);
    put(kept.data(), at + lanes, aligned, 0, lanes);
    return at;
  }
}
