import type { MilpStatus } from "../engine/milp/milp.ts";

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

/** What integer programs did for a schedule. */
export interface SolverFacts {
  /** The schedule is proved to be a shortest one under the model that `model` names. */
  readonly proved: boolean;
  /** In words: "whole chunks in time slots of 21.47 us", "this sketch". */
  readonly model: string;
  readonly stages: readonly SolverStage[];
}
