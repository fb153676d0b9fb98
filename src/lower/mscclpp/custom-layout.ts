import { InputError } from "../../base/errors.ts";
import { optionName } from "../../base/option-names.ts";
import { INPUT, OUTPUT } from "../../model/program/program.ts";
import { blockOfChunk, customPlaces, mostOfCustom } from "../custom.ts";
import type { Moves } from "../moves.ts";
import { type Layout, layoutOf, NOWHERE, place } from "./layout.ts";

/** Returns the layout of moves: of a named collective, or of a custom one, whose chunks are in order in input and output. */
export function layoutFor(moves: Moves, inPlace: boolean): Layout {
  const { blocks, chunkCount, rankCount } = moves;
  if (blocks === undefined) return layoutOf(moves, inPlace);
  if (inPlace) throw new InputError(optionName("placement"), "out of place for a custom collective", "in");
  const { startAt, endAt, input, output } = customPlaces(moves, blocks);
  const many = blocks.sums.length;
  const placeIn = (at: Int32Array, buffer: number): Int32Array => {
    const found = new Int32Array(rankCount * chunkCount).fill(NOWHERE);
    at.forEach((first, key) => {
      if (first < 0) return;
      const b = key % many;
      const from = Math.floor(key / many) * chunkCount;
      for (let c = blocks.start[b]; c < blocks.start[b + 1]; c++)
        found[from + c] = place(buffer, first + c - blocks.start[b]);
    });
    return found;
  };
  const [start, end] = [placeIn(startAt, INPUT), placeIn(endAt, OUTPUT)];
  const most = mostOfCustom({ input, output });
  return {
    inputChunks: most,
    outputChunks: most,
    // its executor divides by both
    chunksOf: {
      input: input.map((chunks) => Math.max(1, chunks)),
      output: output.map((chunks) => Math.max(1, chunks)),
    },
    start: (rank, chunk) => start[rank * chunkCount + chunk],
    end: (rank, chunk) => end[rank * chunkCount + chunk],
    free: true,
    successor: () => NOWHERE,
  };
}

/** Returns where a part of a chunk is when every chunk is cut into `parts`: in each block the first parts of all come first. */
export function partOfChunk({ blocks, chunksPerBlock }: Moves, chunk: number, part: number, parts: number): number {
  const b = blocks === undefined ? -1 : blockOfChunk(blocks, chunk);
  const first = blocks?.start[b] ?? chunk - (chunk % chunksPerBlock);
  const size = blocks === undefined ? chunksPerBlock : blocks.start[b + 1] - first;
  return first * parts + part * size + chunk - first;
}
