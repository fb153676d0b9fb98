import { addTo } from "../../model/numbers/ordering.ts";
import { blockCount, instructionCount, type Program, WAIT_BARRIER, WAIT_EVENT } from "../../model/program/program.ts";
import { isNop } from "./form.ts";
import { forPackets, type Wiring } from "./wiring.ts";

/** Of mscclpp programs: phases, and who is certain to have come before whom. */
export interface Phases {
  /** [instructions] phases of its block that end before it: at nops and at barriers, where the block's threads meet. */
  readonly phase: Int32Array;
  /** [instructions] 1: it may wait or tell somebody something, or its block meets others right behind it. */
  readonly speaks: Uint8Array;
  /** [waits + 1], [posts] instructions that must have posted before the wait is over, and 1: their own data is there as well. */
  readonly postOffset: Int32Array;
  readonly posts: Int32Array;
  readonly postBringsData: Uint8Array;
  /** [instructions] how many waits look at its posts. */
  readonly postReaders: Int32Array;
  /** [instructions] number of its first chunk among those that are reported one by one, by packets or by its own signal; -1. */
  readonly single: Int32Array;
  readonly singles: number;
  /** [singles] instruction. */
  readonly singleBy: Int32Array;
  /** [instructions + 1], [packets read] chunk of the reader, and the single chunk that wrote it. */
  readonly packetOffset: Int32Array;
  readonly packetChunk: Int32Array;
  readonly packetFrom: Int32Array;
  /** [singles] reads of it as a packet. */
  readonly packetReaders: Int32Array;
}

/** Returns the phases of a program. O(instructions + packets + waits x blocks that post). */
export function phasesOf(program: Program, wiring: Wiring): Phases {
  const count = instructionCount(program);
  const phase = new Int32Array(count);
  const speaks = new Uint8Array(count);
  for (let b = 0; b < blockCount(program); b++) {
    let passed = 0;
    for (let i = program.instructionOffset[b]; i < program.instructionOffset[b + 1]; i++) {
      const atBarrier = program.waitKind
        .subarray(program.waitOffset[i], program.waitOffset[i + 1])
        .includes(WAIT_BARRIER);
      if (atBarrier) passed++;
      if (atBarrier && i > program.instructionOffset[b]) speaks[i - 1] = 1;
      phase[i] = passed;
      if (atBarrier || isNop(program, i)) passed++;
    }
  }
  const posts = certainPosts(program, wiring, phase);
  const packets = packetsOf(program);
  const { single, packetOffset } = packets;
  for (let i = 0; i < count; i++) {
    const isAsked = posts.postReaders[i] > 0 || single[i] >= 0;
    const asks = program.waitOffset[i + 1] > program.waitOffset[i] || packetOffset[i + 1] > packetOffset[i];
    if (isAsked || asks || isNop(program, i)) speaks[i] = 1;
  }
  return { phase, speaks, ...posts, ...packets };
}

/**
 * The posts that a wait is certain to come after. Of m posts, m_c by block c, a wait that needs n of them comes after n - (m - m_c)
 * of block c, phase by phase. Of several in one phase either may be first, so where not all of them are needed, what came before the
 * phase is certain, but the data of none.
 */
function certainPosts(program: Program, wiring: Wiring, phase: Int32Array) {
  const { waitOffset, waitKind, waitOn, eventInitial } = program;
  const postOffset = new Int32Array(waitOn.length + 1);
  const posts: number[] = [];
  const bringsData: number[] = [];
  const postReaders = new Int32Array(instructionCount(program));
  const chains = wiring.posters.map((posters) => {
    const ofBlock = new Map<number, number[]>();
    for (const i of posters) {
      addTo(ofBlock, wiring.blockOf[i], i);
    }
    return [...ofBlock.values()];
  });
  for (let i = 0; i < instructionCount(program); i++)
    for (let w = waitOffset[i]; w < waitOffset[i + 1]; w++) {
      if (waitKind[w] === WAIT_EVENT) {
        const event = waitOn[w];
        const need = wiring.least[w] - eventInitial[event];
        for (const chain of chains[event]) {
          const certain = need - (wiring.posters[event].length - chain.length);
          if (certain < 1) continue;
          const end = Math.min(certain, chain.length);
          const all = end === chain.length || phase[chain[end]] > phase[chain[end - 1]];
          let first = end - 1;
          while (all && first > 0 && phase[chain[first - 1]] === phase[chain[end - 1]]) first--;
          for (const post of chain.slice(first, end)) {
            posts.push(post);
            bringsData.push(all ? 1 : 0);
            postReaders[post]++;
          }
        }
      }
      postOffset[w + 1] = posts.length;
    }
  return { postOffset, posts: Int32Array.from(posts), postBringsData: Uint8Array.from(bringsData), postReaders };
}

function packetsOf(program: Program) {
  const count = instructionCount(program);
  const single = new Int32Array(count).fill(-1);
  let singles = 0;
  const number = (i: number): void => {
    if (single[i] >= 0) return;
    single[i] = singles;
    singles += program.chunks[i];
  };
  for (let i = 0; i < count; i++) {
    const posts = program.postOffset[i + 1] > program.postOffset[i];
    if (posts && program.operandOffset[i + 1] > program.operandOffset[i]) number(i);
  }
  const written = new Map<string, number>();
  const key = (operand: number, chunk: number): string =>
    `${program.operandRank[operand]} ${program.operandBuffer[operand]} ${program.operandIndex[operand] + chunk}`;
  forPackets(program, "write", (i, operand, chunk) => {
    number(i);
    written.set(key(operand, chunk), single[i] + chunk);
  });
  const packetOffset = new Int32Array(count + 1);
  const packetChunk: number[] = [];
  const packetFrom: number[] = [];
  forPackets(program, "read", (i, operand, chunk) => {
    packetChunk.push(chunk);
    packetFrom.push(written.get(key(operand, chunk)) ?? -1);
    packetOffset[i + 1] = packetChunk.length;
  });
  for (let i = 0; i < count; i++) packetOffset[i + 1] = Math.max(packetOffset[i + 1], packetOffset[i]);
  const packetReaders = new Int32Array(singles);
  for (const from of packetFrom) if (from >= 0) packetReaders[from]++;
  const singleBy = new Int32Array(singles);
  for (let i = 0; i < count; i++) if (single[i] >= 0) singleBy.fill(i, single[i], single[i] + program.chunks[i]);
  return {
    single,
    singles,
    singleBy,
    packetOffset,
    packetChunk: Int32Array.from(packetChunk),
    packetFrom: Int32Array.from(packetFrom),
    packetReaders,
  };
}
