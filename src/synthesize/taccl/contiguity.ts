import type { MilpRunner } from "../../engine/contract/milp.ts";
import { type SolverStage, skippedStage, solvedStage } from "../solver-facts.ts";
import { fixedOrder } from "./contiguity-order.ts";
import { contiguityProgram, contiguitySize } from "./contiguity-program.ts";
import { pathsOf } from "./ordering-paths.ts";
import { clockOf, join, type Plan, singles } from "./scheduling-clock.ts";
import { keysFromStarts } from "./scheduling-moves.ts";
import type { Tasks } from "./scheduling-tasks.ts";

/** Larger programs are left out: local search has come as far by then, and one relaxation takes seconds. */
const MOST_TASKS = 1500;
/** Nodes of the search tree; what they find does not depend on the machine. */
const MOST_NODES = 400;
/** Part of the whole time below which a gap is none. */
const GAP = 1e-6;

export interface Contiguous {
  readonly plan: Plan;
  readonly endPs: number;
  readonly stage: SolverStage | null;
}

/**
 * Returns the plan with the messages and times that the program of stage 3 finds for its order, where these end sooner by the
 * clock, in integers; else the plan itself. The stage is null where there was nothing to solve.
 */
export async function contiguous(
  tasks: Tasks,
  plan: Plan,
  endPs: number,
  milp: MilpRunner | undefined,
  timeLimitMs: number,
): Promise<Contiguous> {
  const paths = pathsOf(tasks);
  const name = "exact scheduling";
  const skipped = (note: string, size = { columns: 0, rows: 0 }): Contiguous => ({
    plan,
    endPs,
    stage: skippedStage(name, size, note),
  });
  if (milp === undefined || tasks.count === 0 || endPs <= paths.boundPs) return { plan, endPs, stage: null };
  if (tasks.count > MOST_TASKS) return skipped(`${tasks.count} sends, of at most ${MOST_TASKS}`);
  const order = fixedOrder(tasks, plan);
  if (order === null) return skipped("links that carry several messages at once");
  const size = contiguitySize(tasks, order);
  if (milp.bytesFor(size) > milp.maxBytes) return skipped("more memory than the solver has", size);
  if (timeLimitMs <= 0) return skipped("no time left", size);
  const { problem, begin, together, unitPs } = contiguityProgram(tasks, order, paths, endPs);
  const solved = await milp.solve(problem, {
    timeLimitMs,
    nodeLimit: MOST_NODES,
    absoluteGap: (GAP * endPs) / unitPs,
    enough: -paths.boundPs / unitPs,
  });
  const stage = solvedStage(name, problem, solved);
  if (solved.primal.length === 0) return { plan, endPs, stage };
  const found = singles(solved.primal.slice(begin, begin + tasks.count));
  for (const [p, [a, b]] of order.together.entries()) {
    if (solved.primal[together + p] > 0.5) join(found, found.leader[a], b);
  }
  const clock = clockOf(tasks);
  const end = clock.run(found);
  if (end >= endPs) return { plan, endPs, stage };
  keysFromStarts(found, clock);
  return { plan: found, endPs: end, stage };
}
