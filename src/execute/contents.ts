import { draw, mix } from "../base/random.ts";
import { INPUT, type Program } from "../model/program/program.ts";
import type { Layout } from "./layout.ts";
import { bringsInput, type Elements, type ElementType, type Memory, POISON } from "./memory.ts";

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
