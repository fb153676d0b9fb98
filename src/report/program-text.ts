import { blockCount, instructionCount, type Program } from "../model/program/program.ts";
import { count } from "./amounts.ts";

/** Returns what a program is, in a phrase: "allreduce for 8 GPUs, in place". */
export function programText(program: Program): string {
  const { collective, rankCount, inPlace, outOfPlace, protocol } = program;
  if (program.mpi !== undefined) return `${collective} of ${count(rankCount, "process", "processes")} over MPI`;
  const placement = inPlace && outOfPlace ? "in place and out of place" : inPlace ? "in place" : "out of place";
  return `${collective} of ${count(rankCount, "GPU")}, ${placement}, ${protocol}`;
}

/** Returns how large a program is, in a phrase. */
export const programSizeText = (program: Program): string =>
  `${count(instructionCount(program), "instruction")} in ${count(blockCount(program), program.mpi === undefined ? "thread block" : "block")}`;
