import type { MilpOptions, MilpProblem, MilpRunner, MilpSize, MilpSolution } from "../../engine/contract/programs.ts";
import type { Deadline } from "../deadline.ts";
import { type SolverStage, skippedStage, solvedStage } from "../solver-facts.ts";
import type { SynthesisContext } from "../synthesizer.ts";

/** Solves programs one after the other within a time for all of them together, and keeps what each did. */
export interface Stages {
  readonly list: SolverStage[];
  /** Of the time for all, programs being built included. */
  leftMs(): number;
  /** Whether a clock ended a solve. */
  timedOut(): boolean;
  /** Returns the solution; null where no time is left. */
  solve(name: string, problem: MilpProblem, shareOfTime: number, options?: MilpOptions): Promise<MilpSolution | null>;
  /** Returns whether this many columns can be looked at in the time left, roughly; notes them as skipped where not. */
  inTime(name: string, columns: number): Promise<boolean>;
  /** Returns whether rows of this many entries can be written in the time left, roughly; notes them as skipped where not. */
  timeToWrite(name: string, size: MilpSize): boolean;
  /** Returns whether a program of this size has room; notes it as skipped where it has not. */
  fits(name: string, size: MilpSize): boolean;
}

/** Times shorter than this are not worth a solve. */
const LEAST_MS = 50;
/** How many columns are counted, put into orbits and given rows in a millisecond, as measured on an 8x8 mesh under load. */
const COLUMNS_PER_MS = 25;
/** How many entries are put into rows in a millisecond, measured likewise. */
const ENTRIES_PER_MS = 1500;
const NO_TIME = "no time was left to build it";

/** Returns stages that are solved by a runner until a deadline, and announced as they begin. */
export function stagesOf(
  milp: MilpRunner,
  deadline: Deadline,
  { breathe, onProgress }: Pick<SynthesisContext, "breathe" | "onProgress"> = {},
): Stages {
  const list: SolverStage[] = [];
  let timedOut = false;
  return {
    list,
    leftMs: deadline.leftMs,
    timedOut: () => timedOut || deadline.struck(),
    solve: async (name, problem, shareOfTime, options = {}) => {
      if (!deadline.allows(LEAST_MS)) return null;
      onProgress?.({ phase: `solve ${name}`, done: 0, total: 1 });
      const limit = Math.max(LEAST_MS, deadline.leftMs() * shareOfTime);
      const found = await milp.solve(problem, { ...options, timeLimitMs: limit });
      timedOut ||= found.status === "limit";
      list.push(solvedStage(name, problem, found));
      return found;
    },
    inTime: async (name, columns) => {
      await breathe?.();
      if (deadline.allows(columns / COLUMNS_PER_MS)) return true;
      list.push(skippedStage(name, { columns, rows: 0 }, NO_TIME));
      return false;
    },
    timeToWrite: (name, size) => {
      if (deadline.allows(size.entries / ENTRIES_PER_MS)) return true;
      list.push(skippedStage(name, size, NO_TIME));
      return false;
    },
    fits: (name, size) => {
      const bytes = milp.bytesFor(size);
      if (bytes <= milp.maxBytes) return true;
      const note = `it would need ${Math.ceil(bytes / 2 ** 20)} MiB, and the solver has ${Math.floor(milp.maxBytes / 2 ** 20)}`;
      list.push(skippedStage(name, size, note));
      return false;
    },
  };
}
