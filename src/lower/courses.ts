import { eventsInOrder } from "./messages.ts";
import type { Moves } from "./moves.ts";

/** Returns the chunks whose course differs from that of the chunk before, and those that begin a block, in order. */
export function startsOfCourses(moves: Moves): Int32Array {
  const { chunkCount, chunksPerBlock, blocks, chunk, chunks, source, target, reduces, rankCount } = moves;
  const cut = new Uint8Array(chunkCount + 1);
  if (blocks === undefined) for (let c = 0; c < chunkCount; c += chunksPerBlock) cut[c] = 1;
  else for (const c of blocks.start) cut[c] = 1;
  const beginsBlock = cut.slice();
  for (let m = 0; m < chunk.length; m++) {
    cut[chunk[m]] = 1;
    cut[chunk[m] + chunks[m]] = 1;
  }
  const segment = new Int32Array(chunkCount + 1);
  for (let c = 1; c <= chunkCount; c++) segment[c] = segment[c - 1] + cut[c];
  const begins: number[] = [];
  for (let c = 0; c < chunkCount; c++) if (cut[c] === 1) begins.push(c);

  const offset = new Int32Array(begins.length + 1);
  for (let m = 0; m < chunk.length; m++)
    for (let s = segment[chunk[m]]; s < segment[chunk[m] + chunks[m]]; s++) offset[s + 1] += 2;
  for (let s = 0; s < begins.length; s++) offset[s + 1] += offset[s];
  const cursor = offset.slice();
  const course = new Float64Array(offset[begins.length]);
  for (const event of eventsInOrder(moves)) {
    const m = event >> 1;
    const code = ((source[m] * rankCount + target[m]) * 2 + reduces[m]) * 2 + (event & 1);
    for (let s = segment[chunk[m]]; s < segment[chunk[m] + chunks[m]]; s++) course[cursor[s]++] = code;
  }
  const same = (a: number, b: number): boolean => {
    if (offset[a + 1] - offset[a] !== offset[b + 1] - offset[b]) return false;
    for (let i = 0; i < offset[a + 1] - offset[a]; i++)
      if (course[offset[a] + i] !== course[offset[b] + i]) return false;
    return true;
  };
  return Int32Array.from(begins.filter((c, s) => beginsBlock[c] === 1 || !same(s, s - 1)));
}

/** Returns the greatest common divisor of two numbers that are not negative. */
export function greatestCommon(a: number, b: number): number {
  let [x, y] = [a, b];
  while (y > 0) [x, y] = [y, x % y];
  return x;
}
