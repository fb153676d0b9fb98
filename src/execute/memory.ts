import { draw, mix } from "../base/random.ts";
import { INPUT, type Program } from "../model/program/program.ts";
import { ELEMENT_BYTES, type Layout } from "./layout.ts";
import type { Wiring } from "./wiring.ts";

export const ELEMENT_TYPES = ["i32", "f32"] as const;
/** Elements: 32-bit integers whose sums wrap around, or 32-bit floats. */
export type ElementType = (typeof ELEMENT_TYPES)[number];
export type Elements = Int32Array | Float32Array;

/** What memory holds before anything is written: no input has this value but by chance, and NaN equals nothing. */
const POISON = { i32: 0x5eed_dead, f32: Number.NaN } as const;

/** All that ranks share or that one reads of another; in shared memory where ranks run on threads. */
export interface Memory {
  /** [ranks] the rank's chunks as the layout has them. */
  readonly data: readonly Elements[];
  /** [chunks of all ranks] 1: written in this pass. */
  readonly written: Uint8Array;
  /** [chunks of all ranks] 1: written as packets; empty where the program has none. */
  readonly packets: Uint8Array;
  /** [connections x slots] slices of chunks on their way. */
  readonly slots: Elements;
  /** [connections x slots x 2] chunks of the instruction that sent it, and which of them it is. */
  readonly slotChunk: Int32Array;
  /** Counters, as `Counters` numbers them. */
  readonly counters: Int32Array;
}

/** First counter of each kind. */
export interface Counters {
  /** Chunks that went into a connection, and came out of it. */
  readonly sent: number;
  readonly received: number;
  /** Messages that were begun to be sent, and that were received to their end. */
  readonly begun: number;
  readonly ended: number;
  /** 1 + the last instruction of a block that is complete and publishes. */
  readonly published: number;
  readonly event: number;
  /** Blocks that came to a barrier, over all its uses. */
  readonly barrier: number;
  readonly count: number;
}

/** Returns where the counters of a program are. O(1). */
export function countersOf(program: Program, { connectionCount }: Wiring): Counters {
  const published = 4 * connectionCount;
  const event = published + program.blockId.length;
  const barrier = event + program.eventInitial.length;
  return {
    sent: 0,
    received: connectionCount,
    begun: 2 * connectionCount,
    ended: 3 * connectionCount,
    published,
    event,
    barrier,
    count: barrier + program.barrierBlocks.length,
  };
}

/** Returns the bytes of what `memoryOf` makes beside the data of the ranks. */
export const sideBytes = (program: Program, layout: Layout, wiring: Wiring, slots: number): number =>
  layout.rankStart[program.rankCount] * 2 +
  wiring.connectionCount * slots * (layout.sliceElements * ELEMENT_BYTES + 8) +
  countersOf(program, wiring).count * 4;

/** Returns memory of zeros. O(its bytes). */
export function memoryOf(
  program: Program,
  layout: Layout,
  wiring: Wiring,
  slots: number,
  type: ElementType,
  shared: boolean,
): Memory {
  const bytes = (count: number): ArrayBufferLike => (shared ? new SharedArrayBuffer(count) : new ArrayBuffer(count));
  const elements = (count: number): Elements =>
    type === "i32" ? new Int32Array(bytes(count * ELEMENT_BYTES)) : new Float32Array(bytes(count * ELEMENT_BYTES));
  const { rankStart, chunkElements, sliceElements } = layout;
  const chunks = rankStart[program.rankCount];
  return {
    data: Array.from({ length: program.rankCount }, (_, r) =>
      elements((rankStart[r + 1] - rankStart[r]) * chunkElements),
    ),
    written: new Uint8Array(bytes(chunks)),
    packets: new Uint8Array(bytes(program.operandPacket.includes(1) ? chunks : 0)),
    slots: elements(wiring.connectionCount * slots * sliceElements),
    slotChunk: new Int32Array(bytes(wiring.connectionCount * slots * 8)),
    counters: new Int32Array(bytes(countersOf(program, wiring).count * 4)),
  };
}

/** Returns whether a rank brings data to the collective. */
export const bringsInput = ({ collective, rootRank }: Program, rank: number): boolean =>
  rank === rootRank || (collective !== "broadcast" && collective !== "scatter");

/** Puts all but the data back to how a pass begins: inputs are written, nothing else, and nothing is on its way. */
export function beginPass(program: Program, layout: Layout, wiring: Wiring, memory: Memory): void {
  const { written, packets, counters } = memory;
  written.fill(0);
  packets.fill(0);
  counters.fill(0);
  counters.set(program.eventInitial, countersOf(program, wiring).event);
  for (let r = 0; r < program.rankCount; r++) {
    if (!bringsInput(program, r)) continue;
    const first = layout.rankStart[r] + layout.bufferStart[3 * r + INPUT];
    written.fill(1, first, first + layout.bufferChunks[3 * r + INPUT]);
  }
}

/** Floats are whole numbers so small that a sum over all ranks is exact, whatever the order of its additions. */
const EXACT_FLOATS = 2 ** 24;

/** What ranks bring, element by element: another number for every rank, element and seed. */
export interface Contents {
  readonly type: ElementType;
  /** [ranks] */
  readonly salt: Int32Array;
  /** f32: values lie in -reach .. reach. */
  readonly reach: number;
}

/** Returns what the ranks of a program bring, drawn by `seed`. O(ranks). */
export function contentsOf({ rankCount }: Program, type: ElementType, seed: number): Contents {
  return {
    type,
    salt: Int32Array.from({ length: rankCount }, (_, r) => draw(seed, 0xda7a, r)),
    reach: Math.max(1, Math.floor(EXACT_FLOATS / rankCount)),
  };
}

/** Adds to `into` what a rank has at elements [from, from + count) of its input. */
export function addInput(
  { type, salt, reach }: Contents,
  rank: number,
  from: number,
  count: number,
  into: Elements,
): void {
  const own = salt[rank];
  if (type === "i32") {
    for (let e = 0; e < count; e++) into[e] += mix(Math.imul(from + e, 0x9e3779b1) ^ own);
    return;
  }
  const values = 2 * reach + 1;
  for (let e = 0; e < count; e++) into[e] += (mix(Math.imul(from + e, 0x9e3779b1) ^ own) % values) - reach;
}

/** Returns the elements of a rank's buffer, as a view. */
export function bufferOf(layout: Layout, memory: Memory, rank: number, buffer: number): Elements {
  const { bufferStart, bufferChunks, chunkElements } = layout;
  const first = bufferStart[3 * rank + buffer] * chunkElements;
  return memory.data[rank].subarray(first, first + bufferChunks[3 * rank + buffer] * chunkElements);
}

/** Writes what a rank brings into its input buffer, and poison everywhere else. O(elements). */
export function fillRank(program: Program, layout: Layout, memory: Memory, contents: Contents, rank: number): void {
  memory.data[rank].fill(POISON[contents.type]);
  if (!bringsInput(program, rank)) return;
  const input = bufferOf(layout, memory, rank, INPUT);
  addInput(contents, rank, 0, input.length, input.fill(0));
}
