import type { MilpProblem, MilpSize, MilpSolution, MilpStatus } from "../engine/contract/programs.ts";

/** One solve of a mixed-integer program. */
export interface SolverStage {
  /** "routing", "exact scheduling", "8 slots". */
  readonly name: string;
  readonly columns: number;
  readonly rows: number;
  /** "skipped": predicted not to fit, or not needed; `note` says which. */
  readonly status: MilpStatus | "skipped";
  readonly nodes: number;
  readonly ms: number;
  readonly note?: string;
}

/** What is proved of all-reduces that are a reduce-scatter followed by an all-gather, every chunk summed at the NPU whose block it is of. */
export interface HalvesFacts {
  /** None is shorter. */
  readonly leastUs: number;
  /** One that was found; the optimum of these, proved, where it is the least. */
  readonly us: number;
  /** The schedule, of these or not, is no longer than any of them. */
  readonly met: boolean;
}

/** What integer programs did for a schedule. */
export interface SolverFacts {
  /** The schedule is proved to be a shortest one under the model that `model` names. */
  readonly proved: boolean;
  /** In words: "whole chunks, each sent by itself, in time slots of 21.47 us", "this sketch". */
  readonly model: string;
  readonly stages: readonly SolverStage[];
  /** Of all-reduces over the routes of programs that do not meet their bound. */
  readonly halves?: HalvesFacts;
}

/** Returns the stage of a program that was solved. */
export const solvedStage = (
  name: string,
  { objective, rows }: MilpProblem,
  { status, nodes, ms }: MilpSolution,
): SolverStage => ({ name, columns: objective.length, rows: rows.lower.length, status, nodes, ms });

/** Returns the stage of a program of about this size that was not solved; `note` says why. */
export const skippedStage = (
  name: string,
  { columns, rows }: Pick<MilpSize, "columns" | "rows">,
  note: string,
): SolverStage => ({ name, columns, rows, status: "skipped", nodes: 0, ms: 0, note });
