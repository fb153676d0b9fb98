import { blockCount, instructionCount, type Program, WAIT_BARRIER } from "../../model/program/program.ts";
import { isNop } from "./program-form.ts";
import type { Phases } from "./program-phases.ts";
import type { Visit } from "./program-races.ts";
import { put, raise, slots } from "./program-slots.ts";
import type { Wiring } from "./program-wiring.ts";

/**
 * Calls `visit` for every instruction that touches a rank's memory, in the order given, with what is certain to have happened
 * before it. A block is a row of phases, cut at nops and barriers: all of a phase is over before the next begins, and within
 * one nothing is ordered, for the threads of the block run apart. So a wait orders the phases after its own, and a post tells
 * of the phases before its own, and of the data of its own instruction (a put with signal). A packet tells its reader, chunk
 * by chunk, of what was before the chunk that wrote it, and of that chunk. A clock holds, for each block that touches the
 * memory, how many of its phases are over, then a bit for each chunk that is told of singly. Relaxed signals order as others do:
 * the runtime's own plans use them to tell that data is there. O(instructions x words of a clock).
 */
export function walkMscclpp(
  program: Program,
  wiring: Wiring,
  phases: Phases,
  order: Int32Array,
  rank: number,
  visit: Visit,
): void {
  const { waitOffset, waitKind, waitOn, instructionOffset } = program;
  const { blockOf, comers, generation } = wiring;
  const touches = touching(program, rank);
  const laneOf = lanesOf(program, blockOf, touches);
  const lanes = laneOf.lanes;
  const bitOf = bitsOf(program, phases.single, touches);
  const words = lanes + Math.ceil(bitOf.bits / 32);
  const begun = new Int32Array(blockCount(program) * words);
  const next = new Int32Array(blockCount(program) * words);
  const kept = slots(words);
  const ofPost = new Int32Array(instructionCount(program)).fill(-1);
  const postReaders = Int32Array.from(phases.postReaders);
  const ofSingle = new Int32Array(phases.singles).fill(-1);
  const packetReaders = Int32Array.from(phases.packetReaders);
  const meetings = new Map<string, { readonly at: number; left: number }>();
  const own = new Int32Array(words);
  let byChunk = new Int32Array(0);
  let hasChunks = false;

  const join = (into: Int32Array, at: number, from: Int32Array, fromAt: number, singles = true): void => {
    raise(into, at, from, fromAt, lanes);
    if (singles) for (let w = lanes; w < words; w++) into[at + w] |= from[fromAt + w];
  };
  const before = (a: number, chunkOfA: number, chunk: number): boolean => {
    const clock = hasChunks ? byChunk : own;
    const at = hasChunks ? chunk * words : 0;
    if (clock[at + laneOf.lane[blockOf[a]]] > phases.phase[a]) return true;
    if (bitOf.first[a] < 0) return false;
    const bit = bitOf.first[a] + chunkOfA;
    return ((clock[at + lanes + (bit >> 5)] >> (bit & 31)) & 1) === 1;
  };
  /** Ends the phase of a block: what it waited for, and all of the phase, is known from now on. */
  const endPhase = (block: number, over: number): void => {
    if (laneOf.lane[block] >= 0) next[block * words + laneOf.lane[block]] = over;
    put(begun, block * words, next, block * words, words);
  };
  const meet = (i: number, barrier: number, number: number): void => {
    const name = `${barrier} ${number}`;
    let meeting = meetings.get(name);
    if (meeting === undefined) {
      meeting = { at: kept.take(), left: comers[barrier].length };
      meetings.set(name, meeting);
      kept.data().fill(0, meeting.at, meeting.at + words);
      for (const block of comers[barrier]) {
        endPhase(block, phaseReached(block));
        join(kept.data(), meeting.at, begun, block * words);
      }
    }
    const block = blockOf[i];
    join(next, block * words, kept.data(), meeting.at);
    endPhase(block, phases.phase[i] + 1);
    if (--meeting.left > 0) return;
    kept.give(meeting.at);
    meetings.delete(name);
  };
  const reached = Int32Array.from(instructionOffset.subarray(0, blockCount(program)));
  const phaseReached = (block: number): number => phases.phase[reached[block]];

  for (const i of order) {
    const block = blockOf[i];
    const at = block * words;
    for (let w = waitOffset[i]; w < waitOffset[i + 1]; w++)
      if (waitKind[w] === WAIT_BARRIER) meet(i, waitOn[w], generation[w]);
    put(own, 0, begun, at, words);
    for (let w = waitOffset[i]; w < waitOffset[i + 1]; w++)
      for (let p = phases.postOffset[w]; p < phases.postOffset[w + 1]; p++) {
        const post = phases.posts[p];
        join(own, 0, kept.data(), ofPost[post], phases.postBringsData[p] === 1);
        if (--postReaders[post] === 0) kept.give(ofPost[post]);
      }
    join(next, at, own, 0);
    takePackets(i, at);
    if (touches[i] === 1) visit(i, before);
    tell(i);
    if (isNop(program, i)) endPhase(block, phases.phase[i] + 1);
    reached[block] = Math.min(i + 1, instructionOffset[block + 1] - 1);
  }

  /** Sets the clocks of the chunks of an instruction that reads packets. */
  function takePackets(i: number, at: number): void {
    const first = phases.packetOffset[i];
    const last = phases.packetOffset[i + 1];
    hasChunks = last > first;
    if (!hasChunks) return;
    const chunks = program.chunks[i];
    if (byChunk.length < chunks * words) byChunk = new Int32Array(chunks * words);
    for (let k = 0; k < chunks; k++) put(byChunk, k * words, own, 0, words);
    for (let p = first; p < last; p++) {
      const from = phases.packetFrom[p];
      join(byChunk, phases.packetChunk[p] * words, kept.data(), ofSingle[from]);
      if (--packetReaders[from] === 0) kept.give(ofSingle[from]);
    }
    for (let k = 0; k < chunks; k++) join(next, at, byChunk, k * words);
  }

  /** Keeps what an instruction tells others, by packets and by its posts. */
  function tell(i: number): void {
    const single = phases.single[i];
    for (let k = 0; single >= 0 && k < program.chunks[i]; k++) {
      if (packetReaders[single + k] === 0) continue;
      ofSingle[single + k] = keep(hasChunks ? byChunk : own, hasChunks ? k * words : 0);
      mark(ofSingle[single + k], i, k);
    }
    if (postReaders[i] === 0) return;
    ofPost[i] = keep(own, 0);
    if (single >= 0) for (let k = 0; k < program.chunks[i]; k++) mark(ofPost[i], i, k);
  }

  function keep(from: Int32Array, fromAt: number): number {
    const at = kept.take();
    put(kept.data(), at, from, fromAt, words);
    return at;
  }

  function mark(at: number, i: number, chunk: number): void {
    if (bitOf.first[i] < 0) return;
    const bit = bitOf.first[i] + chunk;
    kept.data()[at + lanes + (bit >> 5)] |= 1 << (bit & 31);
  }
}

/** Returns 1 for instructions that have an operand in a rank's memory. */
function touching(program: Program, rank: number): Uint8Array {
  const touches = new Uint8Array(instructionCount(program));
  for (let i = 0; i < touches.length; i++)
    for (let o = program.operandOffset[i]; o < program.operandOffset[i + 1]; o++)
      if (program.operandRank[o] === rank) touches[i] = 1;
  return touches;
}

/** Returns a number for every block with such an instruction, -1 for others. */
function lanesOf(program: Program, blockOf: Int32Array, touches: Uint8Array) {
  const lane = new Int32Array(blockCount(program)).fill(-1);
  let lanes = 0;
  for (let i = 0; i < touches.length; i++) if (touches[i] === 1 && lane[blockOf[i]] < 0) lane[blockOf[i]] = lanes++;
  return { lane, lanes };
}

/** Returns a number for the first chunk of every such instruction that is told of singly, -1 for others. */
function bitsOf(program: Program, single: Int32Array, touches: Uint8Array) {
  const first = new Int32Array(touches.length).fill(-1);
  let bits = 0;
  for (let i = 0; i < touches.length; i++) {
    if (touches[i] === 0 || single[i] < 0) continue;
    first[i] = bits;
    bits += program.chunks[i];
  }
  return { first, bits };
}
