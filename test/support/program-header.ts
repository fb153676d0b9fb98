import type { Program } from "../../src/model/program/program.ts";
import type { ProgramHeader } from "../../src/model/program/program-builder.ts";

/** Returns what a program says of itself: in place, buffers of `loopChunks` chunks, no scratch, and what `more` says otherwise. */
export const programHeader = (
  machine: Program["machine"],
  collective: Program["collective"],
  rankCount: number,
  loopChunks: number,
  more: Partial<ProgramHeader> = {},
): ProgramHeader => ({
  name: `${collective} of ${rankCount}`,
  machine,
  collective,
  rootRank: 0,
  rankCount,
  protocol: "Simple",
  inPlace: true,
  outOfPlace: false,
  minBytes: null,
  maxBytes: null,
  loopChunks,
  finer: 1,
  inputChunks: new Int32Array(rankCount).fill(loopChunks),
  outputChunks: new Int32Array(rankCount).fill(loopChunks),
  scratchChunks: new Int32Array(rankCount),
  channelCount: 1,
  ...more,
});
