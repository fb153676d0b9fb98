/**
 * What a program of no named collective is to make, in chunks of a table that tells them apart. A rank's buffers have its chunks
 * in the order of the lists; the file of a program says none of it.
 */
export interface ProgramTable {
  /** [chunks of the table] 1: who wants it ends with the sum of what all ranks have of it; 0: with what any one of them has. */
  readonly sums: Uint8Array;
  /** [ranks + 1] chunks of rank r's input: inputChunk[inputOffset[r] .. inputOffset[r + 1]]; of its output alike. */
  readonly inputOffset: Int32Array;
  readonly inputChunk: Int32Array;
  readonly outputOffset: Int32Array;
  readonly outputChunk: Int32Array;
}

/** Who has each chunk of a table at the start: holders of chunk c at offset[c] .. offset[c + 1], by rank. */
export interface TableHolders {
  readonly offset: Int32Array;
  readonly rank: Int32Array;
  /** Chunk of that rank's input. */
  readonly at: Int32Array;
}

/** Returns the holders of all chunks. O(chunks of inputs). */
export function holdersOf({ sums, inputOffset, inputChunk }: ProgramTable): TableHolders {
  const offset = new Int32Array(sums.length + 1);
  for (const chunk of inputChunk) offset[chunk + 1]++;
  for (let c = 0; c < sums.length; c++) offset[c + 1] += offset[c];
  const next = offset.slice();
  const rank = new Int32Array(inputChunk.length);
  const at = new Int32Array(inputChunk.length);
  for (let r = 0; r + 1 < inputOffset.length; r++) {
    for (let k = inputOffset[r]; k < inputOffset[r + 1]; k++) {
      const place = next[inputChunk[k]]++;
      rank[place] = r;
      at[place] = k - inputOffset[r];
    }
  }
  return { offset, rank, at };
}

/** Returns the chunks that a rank has of its input and output; the buffers of a program may be larger than that. */
export const tableChunks = (
  { inputOffset, outputOffset }: ProgramTable,
  rank: number,
): readonly [input: number, output: number] => [
  inputOffset[rank + 1] - inputOffset[rank],
  outputOffset[rank + 1] - outputOffset[rank],
];
