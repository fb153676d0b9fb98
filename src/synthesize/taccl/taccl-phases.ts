import type { Collective } from "../../model/collective/collective.ts";
import type { SketchNetwork } from "../../model/sketch/sketch-network.ts";
import type { Deadline } from "../deadline.ts";
import type { SolverStage } from "../solver-facts.ts";
import type { SynthesisContext } from "../synthesizer.ts";
import { type Phase, phasesOf } from "../tacos/phases.ts";
import { contiguous } from "./contiguity.ts";
import { reversedNetwork } from "./reverse.ts";
import { routeChunks } from "./routing.ts";
import { finished, tasksOf, timing } from "./scheduling.ts";
import { clockOf, type Plan } from "./scheduling-clock.ts";
import { type NamedPlan, type PlanOptions, planned } from "./scheduling-plan.ts";
import { rerouting } from "./scheduling-reroute.ts";
import { followedBy, type Tasks, turnedTasks } from "./scheduling-tasks.ts";
import type { NoRouting } from "./stages.ts";
import { type Stepped, stepped } from "./steps.ts";

/** Part of the budget for plans in steps, which are good from the start. */
const PART_OF_STEPS = 0.25;

/** A phase whose chunks have their ways: copies, on the network turned around where the phase runs backwards in time. */
export interface RoutedPhase {
  readonly phase: Phase;
  readonly network: SketchNetwork;
  readonly tasks: Tasks;
  readonly boundPs: number;
  readonly stages: readonly SolverStage[];
  /** Other ways, for small chunks. */
  readonly stepped: Stepped | null;
  /** What to tell of the phase. */
  readonly notes: readonly string[];
}

/** A plan for the whole collective on a sketch, as it runs. */
export interface Drafted {
  readonly network: SketchNetwork;
  readonly phases: readonly RoutedPhase[];
  readonly whole: NamedPlan;
}

export interface Limits {
  readonly deadline: Deadline;
  readonly seed: number;
}

/** Returns the phases of the collective with ways for their chunks (stage 1), or why there are none. */
export async function routedPhases(
  network: SketchNetwork,
  collective: Collective,
  { deadline, seed }: Limits,
  context: SynthesisContext,
): Promise<readonly RoutedPhase[] | NoRouting> {
  // a gather needs no reversal: each chunk has one way
  const phases = phasesOf(collective.kind === "gather" ? { ...collective, kind: "custom" } : collective);
  const routed: RoutedPhase[] = [];
  for (const [p, phase] of phases.entries()) {
    const own = phase.reversed ? reversedNetwork(network) : network;
    const problem = {
      network: own,
      collective: phase.collective,
      deadline: deadline.part(1 / (phases.length - p)),
      seed,
    };
    const routing = await routeChunks(problem, context);
    if ("conflict" in routing) return routing;
    const tasks = tasksOf(own, phase.collective, routing.sends, timing(own, phase.collective));
    const { boundPs, stages } = routing;
    const { best, note } = stepped(own, phase.collective);
    const notes = note === null ? [] : [note];
    routed.push({ phase, network: own, tasks, boundPs, stages, stepped: best, notes });
  }
  return routed;
}

/**
 * Returns a plan for the phases. Reductions are planned as copies on the network turned around, run backwards in time, and
 * ordered anew as they run (section 5.3: not all that an NPU receives can be reduced at once, as its links are busy); the
 * halves of an all-reduce then overlap, each chunk's second half waiting for its first. `budget` as in PlanOptions, each time.
 */
export async function drafted(
  network: SketchNetwork,
  phases: readonly RoutedPhase[],
  { seed, budget, isOver, breathe }: Pick<PlanOptions, "seed" | "budget" | "isOver" | "breathe">,
): Promise<Drafted> {
  const { leavesBox } = network;
  const plans: NamedPlan[] = [];
  for (const { phase, network: own, tasks, boundPs, stepped: other } of phases) {
    const reroute = rerouting(own, phase.collective, tasks, (changed) => finished(own, phase.collective, changed));
    const options = { seed, budget, leavesBox, leastPs: boundPs, isOver, breathe };
    let found = await planned(tasks, { ...options, reroute });
    if (other !== null && other.endPs < found.endPs) {
      const { plan: known } = other;
      const steps = await planned(other.tasks, { ...options, budget: budget * PART_OF_STEPS, known });
      found = { ...steps, name: other.name };
    }
    plans.push(phase.reversed ? turnedPlan(found, network, phase.reduces) : found);
  }
  const [first, second] = plans as [NamedPlan, NamedPlan?];
  if (second === undefined && !(phases[0] as RoutedPhase).phase.reversed) return { network, phases, whole: first };
  const { tasks, plan } = second === undefined ? first : concatenated(first, second);
  const leastPs = second === undefined ? first.boundPs : 0;
  const whole = await planned(tasks, { seed, budget, leavesBox, leastPs, known: plan, isOver, breathe });
  return { network, phases, whole: { ...whole, name: first.name } };
}

/** Returns the plan run backwards in time on the network itself. */
function turnedPlan(found: NamedPlan, { routes }: SketchNetwork, reduces: boolean): NamedPlan {
  const clock = clockOf(found.tasks);
  clock.run(found.plan);
  const key = clock.endPs.map((end) => found.endPs - end);
  return { ...found, tasks: turnedTasks(found.tasks, routes, reduces), plan: { ...found.plan, key } };
}

/** Returns the second plan after the first one. */
function concatenated(first: NamedPlan, second: NamedPlan): { readonly tasks: Tasks; readonly plan: Plan } {
  const shift = first.tasks.count;
  const after = (column: Int32Array): number[] => Array.from(column, (task) => task + shift);
  return {
    tasks: followedBy(first.tasks, second.tasks),
    plan: {
      leader: Int32Array.from([...first.plan.leader, ...after(second.plan.leader)]),
      next: Int32Array.from([...first.plan.next, ...after(second.plan.next)]),
      key: Float64Array.from([...first.plan.key, ...second.plan.key.map((start) => start + first.endPs)]),
    },
  };
}

/** Returns the draft with what the program of stage 3 makes of its order. */
export async function exactly(
  draft: Drafted,
  context: SynthesisContext,
  timeLimitMs: number,
): Promise<{ readonly draft: Drafted; readonly stage: SolverStage | null }> {
  const { whole } = draft;
  const { plan, endPs, stage } = await contiguous(whole.tasks, whole.plan, whole.endPs, context.milp, timeLimitMs);
  return { draft: { ...draft, whole: { ...whole, plan, endPs } }, stage };
}
