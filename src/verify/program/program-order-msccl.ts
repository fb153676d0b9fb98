import { blockCount, instructionCount, type Program, WAIT_INSTRUCTION } from "../../model/program/program.ts";
import type { Visit } from "./program-races.ts";
import { put, raise, slots } from "./program-slots.ts";
import type { Wiring } from "./program-wiring.ts";

/**
 * Calls `visit` for every instruction of a rank, in the order given, with what is certain to have happened before it, among
 * the instructions of that rank. A clock tells of each block of the rank how many of its instructions are complete. What an
 * instruction knows when it begins comes from the one before it, from those it waits for, and from what the sender knew when
 * it began; the chunks of a message come one by one, so of the sender and what it follows chunk by chunk only as many chunks
 * are known to be complete as have come: `aligned`. A message does not tell the sender anything: that there was room again
 * depends on the room. A single block is in order anyway: nothing is visited. O(instructions x blocks of the rank).
 */
export function walkMsccl(program: Program, wiring: Wiring, order: Int32Array, rank: number, visit: Visit): void {
  const { instructionOffset, waitOffset, waitKind, receives, sends } = program;
  const { blockOf, rankOf, publisher, sendOf, receiveOf } = wiring;
  const low = program.blockOffset[rank];
  const lanes = program.blockOffset[rank + 1] - low;
  if (lanes < 2) return;
  // Where messages are of one chunk, nothing is known of a part of them: one clock does.
  const whole = chunksOfMessages(program) <= 1;
  const known = new Int32Array(blockCount(program) * lanes);
  const aligned = new Int32Array(whole ? 0 : lanes);
  const kept = slots(whole ? lanes : 2 * lanes);
  const complete = whole ? 0 : lanes;
  const ofMessage = new Int32Array(instructionCount(program)).fill(-1);
  const ofStep = new Int32Array(instructionCount(program)).fill(-1);
  const readers = new Int32Array(instructionCount(program));
  for (let w = 0; w < publisher.length; w++) if (waitKind[w] === WAIT_INSTRUCTION) readers[publisher[w]]++;
  let row = 0;

  const before = (a: number, chunkOfA: number, chunk: number): boolean => {
    const block = blockOf[a];
    const index = a - instructionOffset[block];
    const lane = block - low;
    return known[row + lane] > index || (!whole && aligned[lane] > index && chunkOfA <= chunk);
  };
  for (const i of order) {
    const block = blockOf[i];
    row = block * lanes;
    for (let w = waitOffset[i]; w < waitOffset[i + 1]; w++) {
      const from = ofStep[publisher[w]];
      raise(known, row, kept.data(), from + complete, lanes);
      if (--readers[publisher[w]] === 0) kept.give(from);
    }
    const message = receives[i] === 1 ? ofMessage[sendOf[i]] : -1;
    if (message >= 0) raise(known, row, kept.data(), message, lanes);
    if (!whole) {
      put(aligned, 0, known, row, lanes);
      if (message >= 0) raise(aligned, 0, kept.data(), message + lanes, lanes);
    }
    if (message >= 0) kept.give(message);
    const forMessage = sends[i] === 1 && receiveOf[i] >= 0;
    const told = forMessage || readers[i] > 0;
    const at = told ? kept.take() : -1;
    if (told && !whole) put(kept.data(), at, known, row, lanes);
    if (rankOf[block] === rank) {
      visit(i, before);
      (whole ? known : aligned)[whole ? row + block - low : block - low] = i - instructionOffset[block] + 1;
    }
    if (!whole) put(known, row, aligned, 0, lanes);
    if (told) put(kept.data(), at + complete, known, row, lanes);
    if (forMessage) ofMessage[i] = at;
    if (readers[i] > 0) ofStep[i] = forMessage ? copy(at) : at;
  }

  function copy(of: number): number {
    const at = kept.take();
    put(kept.data(), at, kept.data(), of, complete + lanes);
    return at;
  }
}

/** Returns the most chunks of a message. */
function chunksOfMessages({ sends, chunks }: Program): number {
  let most = 0;
  for (let i = 0; i < sends.length; i++) if (sends[i] === 1) most = Math.max(most, chunks[i]);
  return most;
}
