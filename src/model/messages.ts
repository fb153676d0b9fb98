import type { Collective } from "./collective.ts";

/** Messages between NPUs in the order in which a library would issue them; columns grow by `add`. */
export interface Messages {
  readonly chunk: number[];
  readonly source: number[];
  readonly target: number[];
  readonly reduce: boolean[];
  add(chunk: number, source: number, target: number, reduce: boolean): void;
}

export function messages(): Messages {
  const list: Messages = {
    chunk: [],
    source: [],
    target: [],
    reduce: [],
    add(chunk, source, target, reduce) {
      if (source === target) return;
      list.chunk.push(chunk);
      list.source.push(source);
      list.target.push(target);
      list.reduce.push(reduce);
    },
  };
  return list;
}

/** A collective seen block by block: which NPU has a rank, and which chunks make up a block. */
export interface Blocks {
  readonly size: number;
  readonly groups: number;
  /** NPU of a rank (taken modulo N) of a group. */
  npu(group: number, rank: number): number;
  /** Calls `visit` with each chunk of a block (taken modulo the number of blocks) of a group. */
  each(group: number, block: number, visit: (chunk: number) => void): void;
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
    chunk: (group, block, k) => group * perGroup + modulo(block, blocks) * chunksPerNpu + k,
    npu: (group, rank) => groupMembers[group * groupSize + modulo(rank, groupSize)],
    each(group, block, visit) {
      const first = group * perGroup + modulo(block, blocks) * chunksPerNpu;
      for (let k = 0; k < chunksPerNpu; k++) visit(first + k);
    },
  };
}
