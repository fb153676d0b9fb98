import type { MilpOptions, MilpRunner } from "../../engine/contract/milp.ts";
import { membersOf } from "../../model/collective/collective.ts";
import { type SolverStage, skippedStage, solvedStage } from "../solver-facts.ts";
import { loadBound } from "./routing-bound.ts";
import { routingConflict } from "./routing-conflict.ts";
import { mergedCosts, routingCosts } from "./routing-costs.ts";
import { type GreedyRouting, greedyRouting } from "./routing-greedy.ts";
import { timeOf } from "./routing-load.ts";
import { distancesOfChunks, type RoutingOptions, routingOptions } from "./routing-options.ts";
import {
  connectionPs,
  type RoutingParts,
  type RoutingProgram,
  routingProgram,
  routingProgramSize,
} from "./routing-program.ts";
import { type RoutingSymmetry, routingSymmetry } from "./routing-symmetry.ts";
import type { RoutingStage, Sends, TacclProblem } from "./stages.ts";

/** Routings whose load is at most this much above what is proved are good enough. */
const GOOD_ENOUGH = 1.01;
/** Part of the time that the load may take, before detours. */
const LOAD_TIME = 0.7;
/** Most time for detours: they seldom become shorter later, and local search orders what it can. */
const MOST_DETOURS_MS = 5000;
/** How much of a program is built in a millisecond, at the least. */
const ENTRIES_PER_MS = 1000;

/**
 * Returns trees of routes for all chunks (TACCL, section 5.1 step 1, appendix B.1). A greedy routing is the answer where it has
 * the least load that is proved, no detours, and no policy of a switch asks for more. Else a program lowers the busiest link's
 * load; then a second one makes ways short and follows the policies without loading any link more. Where the solver has no
 * room or no time, the best routing so far stands. The bound counts latencies once for each route, and knows nothing of order.
 */
export const routeChunks: RoutingStage = async (problem, context) => {
  const { network, collective } = problem;
  const costs = routingCosts(network, collective.chunkBytes);
  const distancesOf = distancesOfChunks(network, collective, costs);
  const conflict = routingConflict(network, collective, distancesOf);
  if (conflict.length > 0) return { conflict };

  const symmetry = routingSymmetry(network, collective);
  const options = routingOptions(network, collective, costs, symmetry, distancesOf);
  const proved = loadBound(network, collective, costs);
  // a link may be busy as long as the longest way takes: nothing is lost by it
  const goalPs = Math.max(proved, options.longestPs);
  const greedy = await greedyRouting(
    network,
    costs,
    symmetry,
    options,
    goalPs,
    () => problem.deadline.isOver(),
    context.breathe,
  );
  const boundPs = Math.max(loadBound(network, collective, mergedCosts(costs)), options.longestPs);
  const stages: SolverStage[] = [];
  const parts = { network, costs, symmetry, options, goalPs };
  let taken = greedy.taken;
  if (context.milp === undefined) stages.push(skipped("no solver", symmetry));
  else taken = await improved(problem, parts, greedy, context.milp, stages);
  return { sends: sendsOf(problem, symmetry, options, taken), boundPs, stages };
};

type Parts = Pick<RoutingParts, "network" | "costs" | "symmetry" | "options" | "goalPs">;

async function improved(
  { deadline }: TacclProblem,
  parts: Parts,
  greedy: GreedyRouting,
  milp: MilpRunner,
  stages: SolverStage[],
): Promise<Int32Array> {
  const { network, goalPs, symmetry, options, costs } = parts;
  const hasPolicies = options.route.some((route) => {
    const edge = network.hyperedge[route];
    return edge >= 0 && network.policies[edge] !== "none";
  });
  const enough = Math.floor(goalPs * GOOD_ENOUGH);
  const greedyPs = timeOf(network, costs, symmetry, options, greedy.taken);
  if (greedyPs <= enough && greedy.latePs === 0 && !hasPolicies) {
    stages.push(skipped("the greedy routing has the least load and no detours", symmetry));
    return greedy.taken;
  }
  let taken = greedy.taken;
  let mostPs = greedyPs;
  const attempt = async (aim: RoutingParts["aim"], share: number, most = Number.POSITIVE_INFINITY): Promise<void> => {
    const all: RoutingParts = { ...parts, mostPs, aim, start: taken };
    const size = routingProgramSize(all);
    if (milp.bytesFor(size) > milp.maxBytes) {
      stages.push(skipped("the program would not fit", symmetry, size));
      return;
    }
    if (!deadline.allows(size.entries / ENTRIES_PER_MS)) {
      stages.push(skipped("no time left", symmetry, size));
      return;
    }
    const program = routingProgram(all);
    const limitMs = Math.min(most, share * deadline.leftMs());
    const solution = await milp.solve(program.problem, solverOptions(program, all, limitMs));
    const name = aim === "load" ? "routing" : "shorter ways";
    stages.push({ ...solvedStage(name, program.problem, solution), ...noteOf(symmetry) });
    if (solution.primal.length === 0) return;
    const found = Int32Array.from(options.route.keys()).filter((option) => solution.primal[option] > 0.5);
    const timePs = timeOf(network, costs, symmetry, options, found);
    if (timePs > mostPs) return;
    taken = found;
    mostPs = timePs;
  };
  if (mostPs > enough) await attempt("load", LOAD_TIME);
  mostPs = Math.max(mostPs, goalPs);
  await attempt("detours", 1, MOST_DETOURS_MS);
  return taken;
}

function solverOptions({ unitPs }: RoutingProgram, parts: RoutingParts, timeLimitMs: number): MilpOptions {
  const { goalPs, aim, options, symmetry } = parts;
  if (aim === "load") {
    const enough = (-goalPs / unitPs) * GOOD_ENOUGH;
    return { timeLimitMs, enough, absoluteGap: (goalPs / unitPs) * (GOOD_ENOUGH - 1) };
  }
  const detours = parts.start.reduce((sum, option) => sum + options.detourPs[option], 0) * symmetry.maps.length;
  return { timeLimitMs, absoluteGap: Math.min(connectionPs(parts) / 2, detours * (GOOD_ENOUGH - 1)) / unitPs };
}

const noteOf = ({ notes }: RoutingSymmetry): { readonly note?: string } =>
  notes.length === 0 ? {} : { note: notes.join("; ") };

const skipped = (why: string, { notes }: RoutingSymmetry, size = { columns: 0, rows: 0 }): SolverStage =>
  skippedStage("routing", size, [why, ...notes].join("; "));

/** Returns the options and their images as sends, without those that lead to no target. */
function sendsOf(problem: TacclProblem, symmetry: RoutingSymmetry, options: RoutingOptions, taken: Int32Array): Sends {
  const { network, collective } = problem;
  const rows: (readonly [chunk: number, route: number])[] = [];
  for (const { chunk, first, end } of options.chunks) {
    const isTarget = new Set(membersOf(collective, collective.post, chunk));
    const own = Array.from(taken.filter((option) => option >= first && option < end));
    // options are in the order of the NPUs that they enter, so those further on come later
    for (const option of own.reverse()) {
      const route = options.route[option];
      if (!isTarget.has(network.routes.target[route])) continue;
      isTarget.add(network.routes.source[route]);
      for (const { chunkTo, routeTo } of symmetry.maps) rows.push([chunkTo[chunk], routeTo[route]]);
    }
  }
  rows.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  return { chunk: Int32Array.from(rows, ([chunk]) => chunk), route: Int32Array.from(rows, ([, route]) => route) };
}
