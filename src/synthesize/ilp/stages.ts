import type { MilpOptions, MilpProblem, MilpRunner, MilpSize, MilpSolution } from "../../engine/milp/milp.ts";
import type { SolverStage } from "../solver-facts.ts";

/** Solves programs one after the other within a time for all of them together, and keeps what each did. */
export interface Stages {
  readonly list: SolverStage[];
  /** Of the time for all solves. */
  leftMs(): number;
  /** Whether a clock ended a solve. */
  timedOut(): boolean;
  /** Returns the solution; null where no time is left. */
  solve(name: string, problem: MilpProblem, shareOfTime: number, options?: MilpOptions): Promise<MilpSolution | null>;
  /** Returns whether a program of this size has room; notes it as skipped where it has not. */
  fits(name: string, size: MilpSize): boolean;
}

/** Times shorter than this are not worth a solve. */
const LEAST_MS = 50;

export function stagesOf(milp: MilpRunner, timeLimitMs: number): Stages {
  const list: SolverStage[] = [];
  let left = timeLimitMs;
  let timedOut = false;
  return {
    list,
    leftMs: () => left,
    timedOut: () => timedOut,
    solve: async (name, problem, shareOfTime, options = {}) => {
      if (left < LEAST_MS) {
        timedOut = true;
        return null;
      }
      const limit = Math.max(LEAST_MS, left * shareOfTime);
      const found = await milp.solve(problem, { ...options, timeLimitMs: limit });
      left -= found.ms;
      timedOut ||= found.status === "limit";
      const { status, nodes, ms } = found;
      list.push({ name, columns: problem.objective.length, rows: problem.rows.lower.length, status, nodes, ms });
      return found;
    },
    fits: (name, size) => {
      const bytes = milp.bytesFor(size);
      if (bytes <= milp.maxBytes) return true;
      const note = `it would need ${Math.ceil(bytes / 2 ** 20)} MiB, and the solver has ${Math.floor(milp.maxBytes / 2 ** 20)}`;
      list.push({ name, columns: size.columns, rows: size.rows, status: "skipped", nodes: 0, ms: 0, note });
      return false;
    },
  };
}
