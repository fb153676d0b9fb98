import { InputError } from "../../base/errors.ts";
import type { Collective } from "../collective/collective.ts";

/** Messages between NPUs in the order in which a library would issue them: the first `count` places of columns that grow. */
export interface Messages {
  readonly count: number;
  readonly chunk: Int32Array;
  readonly source: Int32Array;
  readonly target: Int32Array;
  /** 1 where the target adds what arrives to what it has, else 0. */
  readonly reduce: Uint8Array;
  /** Adds a message, unless it goes from an NPU to itself. Throws InputError beyond 5e7. */
  add(chunk: number, source: number, target: number, reduce: boolean): void;
}

/** A schedule of this many takes about 2.5 GB while it is made. */
export const MOST_ISSUED = 5e7;
const FIRST = 1024;

export function messages(): Messages {
  let count = 0;
  let chunks = new Int32Array(FIRST);
  let sources = new Int32Array(FIRST);
  let targets = new Int32Array(FIRST);
  let reduces = new Uint8Array(FIRST);
  const grow = (): void => {
    if (count >= MOST_ISSUED) {
      throw new InputError(
        "the messages of the schedule",
        `at most ${MOST_ISSUED} (fewer NPUs or chunks send fewer)`,
        count + 1,
      ).as("out-of-range");
    }
    const larger = <T extends Int32Array | Uint8Array>(column: T, wider: T): T => {
      wider.set(column);
      return wider;
    };
    const room = Math.min(2 * count, MOST_ISSUED);
    chunks = larger(chunks, new Int32Array(room));
    sources = larger(sources, new Int32Array(room));
    targets = larger(targets, new Int32Array(room));
    reduces = larger(reduces, new Uint8Array(room));
  };
  return {
    get count() {
      return count;
    },
    get chunk() {
      return chunks;
    },
    get source() {
      return sources;
    },
    get target() {
      return targets;
    },
    get reduce() {
      return reduces;
    },
    add(chunk, source, target, reduce) {
      if (source === target) return;
      if (count === chunks.length) grow();
      chunks[count] = chunk;
      sources[count] = source;
      targets[count] = target;
      reduces[count] = reduce ? 1 : 0;
      count++;
    },
  };
}

/** A collective seen block by block: which NPU has a rank, and which chunks make up a block. */
export interface Blocks {
  readonly size: number;
  readonly groups: number;
  /** NPU of a rank (taken modulo N) of a group. */
  npu(group: number, rank: number): number;
  /** The k-th chunk of a block (taken modulo the number of blocks) of a group. */
  chunk(group: number, block: number, k: number): number;
}

export function blocksOf(collective: Collective): Blocks {
  const { groupSize, groupCount, groupMembers, chunkCount, chunksPerNpu } = collective;
  const perGroup = chunkCount / groupCount;
  const blocks = perGroup / chunksPerNpu;
  const modulo = (value: number, by: number): number => ((value % by) + by) % by;
  return {
    size: groupSize,
    groups: groupCount,
    npu: (group, rank) => groupMembers[group * groupSize + modulo(rank, groupSize)],
    chunk: (group, block, k) => group * perGroup + modulo(block, blocks) * chunksPerNpu + k,
  };
}
