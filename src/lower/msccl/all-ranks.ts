import { type Program, SCRATCH } from "../../model/program/program.ts";
import { imageOfRank, imagesOf, type Symmetry } from "../symmetry/symmetry.ts";
import { type Buffers, type CallPlacement, placesOf } from "./buffers.ts";
import type { Parts } from "./parts.ts";

/**
 * Returns the program of all ranks, of which rank 0's is given: each rank does to its images of peers and parts what rank 0 does,
 * with scratch memory and thread blocks of the same numbers. O(instructions).
 */
export function onAllRanks(one: Program, symmetry: Symmetry, layout: RankLayout): Program {
  const { rankCount: ranks } = one;
  const sendPeer = imagesOfPeers(symmetry, one.sendPeer);
  const recvPeer = imagesOfPeers(symmetry, one.recvPeer);
  const same = (column: Int32Array): Int32Array => repeated(column, ranks, 0);
  const sameBytes = (column: Uint8Array): Uint8Array => {
    const all = new Uint8Array(ranks * column.length);
    for (let r = 0; r < ranks; r++) all.set(column, r * column.length);
    return all;
  };
  const offsets = (column: Int32Array): Int32Array => {
    const last = column[column.length - 1];
    const all = new Int32Array(ranks * (column.length - 1) + 1);
    all.set(repeated(column.subarray(0, -1), ranks, last));
    all[all.length - 1] = ranks * last;
    return all;
  };
  return {
    ...one,
    inputChunks: same(one.inputChunks),
    outputChunks: same(one.outputChunks),
    scratchChunks: same(one.scratchChunks),
    blockOffset: offsets(one.blockOffset),
    blockId: same(one.blockId),
    sendPeer,
    recvPeer,
    channel: same(one.channel),
    blockLine: same(one.blockLine),
    instructionOffset: offsets(one.instructionOffset),
    op: sameBytes(one.op),
    step: same(one.step),
    line: same(one.line),
    chunks: same(one.chunks),
    via: sameBytes(one.via),
    receives: sameBytes(one.receives),
    sends: sameBytes(one.sends),
    publishes: sameBytes(one.publishes),
    operandOffset: offsets(one.operandOffset),
    sourceCount: same(one.sourceCount),
    operandRank: repeated(one.operandRank, ranks, 1),
    operandBuffer: sameBytes(one.operandBuffer),
    operandIndex: operandsOf(one, symmetry, layout),
    operandPacket: sameBytes(one.operandPacket),
    waitOffset: offsets(one.waitOffset),
    waitKind: sameBytes(one.waitKind),
    waitOn: repeated(one.waitOn, ranks, one.op.length),
    postOffset: offsets(one.postOffset),
  };
}

/** Where rank 0 has its parts, and what for. */
export interface RankLayout {
  readonly parts: Parts;
  readonly buffers: Buffers;
  readonly placement: CallPlacement;
}

/** Returns a column once for each rank, each time with so much more. */
function repeated(column: Int32Array, ranks: number, more: number): Int32Array {
  const all = new Int32Array(ranks * column.length);
  for (let r = 0; r < ranks; r++)
    for (let i = 0; i < column.length; i++) all[r * column.length + i] = column[i] + r * more;
  return all;
}

/** Returns the peers of the blocks of all ranks; -1 stays. */
const imagesOfPeers = (symmetry: Symmetry, peers: Int32Array): Int32Array =>
  imagesOf(symmetry, peers, (one, peer) => (peer < 0 ? -1 : imageOfRank(one, peer)));

/** Returns the first chunk of each operand of each rank: where it has the image of the part that rank 0 has there. */
function operandsOf(one: Program, symmetry: Symmetry, { parts, buffers, placement }: RankLayout): Int32Array {
  const { operandBuffer, operandIndex, rankCount: ranks } = one;
  const { first, coarser, instances } = parts;
  const many = operandIndex.length;
  /** [INPUT, OUTPUT] parts by their places. */
  const starts = [new Map<number, number>(), new Map<number, number>()];
  const ends = [new Map<number, number>(), new Map<number, number>()];
  for (let p = 0; p < first.length; p++) {
    if (buffers.startAt[p] >= 0) starts[buffers.startBuffer[p]].set(buffers.startAt[p], p);
    if (buffers.endAt[p] >= 0) ends[buffers.endBuffer[p]].set(buffers.endAt[p], p);
  }
  /** Different places of rank 0, and which of them each operand is. */
  const slots: number[] = [];
  const isStart: boolean[] = [];
  const slotOf = new Int32Array(many).fill(-1);
  const known = [new Map<number, number>(), new Map<number, number>()];
  for (let i = 0; i < many; i++) {
    const buffer = operandBuffer[i];
    if (buffer === SCRATCH) continue;
    const slot = known[buffer].get(operandIndex[i]);
    slotOf[i] = slot ?? slots.length;
    if (slot !== undefined) continue;
    known[buffer].set(operandIndex[i], slots.length);
    const atStart = starts[buffer].get(operandIndex[i]);
    isStart.push(atStart !== undefined);
    slots.push(atStart ?? (ends[buffer].get(operandIndex[i]) as number));
  }
  const images = imagesOf(symmetry, Int32Array.from(slots), ({ chunk }, part) => {
    const run = Math.floor(part / instances);
    return (chunk[run * coarser] / coarser) * instances + (part % instances);
  });
  const places = placesOf(parts, placement);
  const placeOf = new Int32Array(slots.length);
  const all = new Int32Array(ranks * many);
  for (let rank = 0; rank < ranks; rank++) {
    const { start, end } = places(rank);
    for (let s = 0; s < slots.length; s++) {
      const part = images[rank * slots.length + s];
      placeOf[s] = isStart[s] ? start(part) : end(part);
    }
    for (let i = 0; i < many; i++) all[rank * many + i] = slotOf[i] < 0 ? operandIndex[i] : placeOf[slotOf[i]];
  }
  return all;
}
