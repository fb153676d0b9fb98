import { formatTime, PS_PER_US } from "../model/numbers/units.ts";
import { blockCount, instructionCount, type Program } from "../model/program/program.ts";
import type { Attribution, Cause } from "../simulate/program/attribution.ts";
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

/** What each cause of a difference is, in words. */
export const CAUSES: Readonly<Record<Cause, string>> = {
  instructions: "instructions one after the other in thread blocks",
  pieces: "pieces and an order of its own",
  order: "messages as they come, not as planned",
  routes: "ways of its own",
  messages: "chunks of an instruction sent together",
  slices: "slices passed on one by one",
  switches: "turns of loads and stores through switches",
  slots: "few slots in a connection",
  flags: "flags beside the data",
  copying: "what a thread block can move",
  requests: "requests of reads",
  signals: "signals",
  ports: "flushes of ports",
};

/** Parts of a time that are said. */
const SAID = 1e-4;

/** Returns "signals +12 us, flags +3 us"; empty where nothing differs by as much as shows. */
export function differencesText({ differences, ps: all }: Pick<Attribution, "differences" | "ps">): string {
  return differences
    .filter(({ ps }) => Math.abs(ps) >= SAID * all && ps !== 0)
    .map(({ cause, ps }) => `${CAUSES[cause]} ${ps < 0 ? "-" : "+"}${formatTime(Math.abs(ps))}`)
    .join(", ");
}

/** Returns the same as fields of a report, all of them. */
export const differencesJson = ({ differences }: Pick<Attribution, "differences">) =>
  differences.map(({ cause, ps }) => ({ cause, us: ps / PS_PER_US }));
