import { InfeasibleError } from "../../base/errors.ts";
import { COLLECTIVE_KINDS, type Collective } from "../../model/collective/collective.ts";
import { lossesOf } from "../../model/sketch/losses.ts";
import { sketchNetwork } from "../../model/sketch/network.ts";
import { proposedSketches, relaxations } from "../../model/sketch/proposals.ts";
import type { Sketch } from "../../model/sketch/sketch.ts";
import type { Topology } from "../../model/topology/topology.ts";
import { type Deadline, deadlineIn, USUAL_SOLVE_MS } from "../deadline.ts";
import type { SolverStage } from "../solver-facts.ts";
import type { Synthesis, SynthesisContext, SynthesisRequest, Synthesizer } from "../synthesizer.ts";
import { mergedSends, stepsOfPlan } from "./scheduling.ts";
import { type Drafted, drafted, exactly, routedPhases } from "./taccl-phases.ts";

/** Parts of the time left: for a first look at all sketches, for programs and plans of the best, for the last plan. */
const PART_OF_LOOKS = 0.3;
const PART_OF_DRAFTS = 0.6;
const PART_OF_LAST_PLAN = 0.7;
/** Part of what is left for programs and plans that the programs of one sketch may take, while others wait. */
const PART_OF_ROUTING = 0.5;
/** So many sketches without a better plan end the search for one. */
const PATIENCE = 3;
/** Budgets (PlanOptions) of a first look at a sketch, of a plan for it, and of the last plan. */
const LOOK_BUDGET = 3e5;
const DRAFT_BUDGET = 2e6;
const FULL_BUDGET = 2e7;
/** Timings for each millisecond of the limit, at the least: how budgets shrink with it, so that a clock seldom decides. */
const TIMINGS_PER_MS = 1000;
/** Most time for the last program where the user sets no limit: it seldom gains anything later. */
const USUAL_EXACT_MS = 15_000;

/** More sends would take minutes to order once. */
const MOST_DELIVERIES = 500_000;

interface Attempts {
  best: Drafted | null;
  readonly conflicts: { readonly sketch: Sketch; readonly conflict: readonly string[] }[];
  readonly stages: SolverStage[];
}

const limitOf = ({ timeLimitMs }: SynthesisRequest): number => timeLimitMs ?? USUAL_SOLVE_MS;

const budgetOf = (request: SynthesisRequest, usual: number): number =>
  Math.min(usual, (limitOf(request) * TIMINGS_PER_MS * usual) / FULL_BUDGET);

/** Returns a plan for the collective in the sketch, or null where it has none, or none that ends before the best so far. */
async function attempt(
  sketch: Sketch,
  { topology, collective, seed }: SynthesisRequest,
  context: SynthesisContext,
  attempts: Attempts,
  budget: number,
  deadline: Deadline,
): Promise<Drafted | null> {
  const network = sketchNetwork(topology, sketch);
  const phases = await routedPhases(network, collective, { seed, deadline: deadline.part(PART_OF_ROUTING) }, context);
  if ("conflict" in phases) {
    attempts.conflicts.push({ sketch, conflict: phases.conflict });
    return null;
  }
  if (context.milp !== undefined) attempts.stages.push(...phases.flatMap((phase) => phase.stages));
  const { best } = attempts;
  if (best !== null && phases.some(({ boundPs }) => boundPs >= best.whole.endPs)) return null;
  const { breathe } = context;
  const draft = await drafted(network, phases, { seed, budget, isOver: deadline.isOver, breathe });
  if (best === null || draft.whole.endPs < best.whole.endPs) attempts.best = draft;
  return draft;
}

/** Returns the sketches in which the collective has ways, those in which it soon looks best first: no programs, small budgets. */
async function ranked(
  sketches: readonly Sketch[],
  request: SynthesisRequest,
  context: SynthesisContext,
  attempts: Attempts,
  deadline: Deadline,
): Promise<{ readonly sketches: readonly Sketch[]; readonly unseen: number }> {
  const { milp: _, ...noSolver } = context;
  const looks: { readonly sketch: Sketch; readonly endPs: number }[] = [];
  for (const [i, sketch] of sketches.entries()) {
    if (attempts.best !== null && deadline.isOver()) return { sketches: inOrder(), unseen: sketches.length - i };
    context.onProgress?.({ phase: "sketches", done: i, total: sketches.length });
    const draft = await attempt(sketch, request, noSolver, attempts, budgetOf(request, LOOK_BUDGET), deadline);
    if (draft !== null) looks.push({ sketch, endPs: draft.whole.endPs });
  }
  return { sketches: inOrder(), unseen: 0 };

  function inOrder(): readonly Sketch[] {
    return looks.sort((a, b) => a.endPs - b.endPs).map(({ sketch }) => sketch);
  }
}

/**
 * Where several sketches are there, all have a first look without programs; then programs route along them, the best look
 * first, until several in turn are no better. The plan of the best one gets the most time, and the last program what is left.
 */
async function synthesize(request: SynthesisRequest, context: SynthesisContext): Promise<Synthesis> {
  const { topology, collective, timeLimitMs } = request;
  const deadline = deadlineIn(limitOf(request));
  const attempts: Attempts = { best: null, conflicts: [], stages: [] };
  const given = request.sketch ?? null;
  const notes = given === null ? [] : lossesOf(topology, given);
  const all = given === null ? proposedSketches(topology, collective.kind) : [given];
  const { sketches, unseen } =
    all.length === 1
      ? { sketches: all, unseen: 0 }
      : await ranked(all, request, context, attempts, deadline.part(PART_OF_LOOKS));
  if (unseen > 0) notes.push(`no time was left for ${unseen} of ${all.length} sketches`);
  const drafts = deadline.part(PART_OF_DRAFTS);
  for (let i = 0, worse = 0; i < sketches.length && worse < PATIENCE; i++) {
    if (attempts.best !== null && drafts.isOver()) break;
    context.onProgress?.({ phase: "routes", done: i, total: sketches.length });
    const before = attempts.best;
    await attempt(sketches[i], request, context, attempts, budgetOf(request, DRAFT_BUDGET), drafts);
    worse = attempts.best === before ? worse + 1 : 0;
  }
  if (given !== null && attempts.best === null)
    notes.push(...(await relaxed(given, request, context, attempts, drafts)));
  const { best } = attempts;
  if (best === null) throw noRouting(request, attempts);
  const chosen = await replanned(best, request, context, deadline);
  const exactMs = Math.min(deadline.leftMs(), timeLimitMs ?? USUAL_EXACT_MS);
  const isLeast = chosen.whole.endPs <= leastPsOf(chosen);
  const { draft, stage } = isLeast ? { draft: chosen, stage: null } : await exactly(chosen, context, exactMs);
  if (stage !== null) attempts.stages.push(stage);
  return synthesis(request, draft, attempts.stages, notes, deadline.struck());
}

/** Returns the plan with the full budget where it ends sooner; the one known where nothing can, or no time is left. */
async function replanned(
  best: Drafted,
  request: SynthesisRequest,
  { onProgress, breathe }: SynthesisContext,
  deadline: Deadline,
): Promise<Drafted> {
  const { network, phases, whole } = best;
  if (whole.endPs <= leastPsOf(best) || deadline.isOver()) return best;
  onProgress?.({ phase: "order", done: 0, total: 1 });
  const { isOver } = deadline.part(PART_OF_LAST_PLAN);
  const fuller = await drafted(network, phases, {
    seed: request.seed,
    budget: budgetOf(request, FULL_BUDGET),
    isOver,
    breathe,
  });
  return fuller.whole.endPs < whole.endPs ? fuller : best;
}

/** Returns a time before which nothing in the sketch ends; 0 where none is known. */
const leastPsOf = ({ phases }: Drafted): number => (phases.length === 1 ? phases[0].boundPs : 0);

/** Returns how many deliveries the collective asks for. */
function deliveriesOf({ post, chunkCount, groupSize }: Collective): number {
  if (post.kind === "sets") return post.members.length;
  return post.kind === "one" ? chunkCount : chunkCount * groupSize;
}

const refuses = (_: Topology, collective: Collective): string | null =>
  deliveriesOf(collective) > MOST_DELIVERIES ? `at most ${MOST_DELIVERIES} deliveries of chunks` : null;

/** Tries sketches that ask for less until one does; returns what to tell. */
async function relaxed(
  sketch: Sketch,
  request: SynthesisRequest,
  context: SynthesisContext,
  attempts: Attempts,
  deadline: Deadline,
): Promise<string[]> {
  const { conflict } = attempts.conflicts[0] as Attempts["conflicts"][number];
  const why = `${sketch.name} leaves no way: ${conflict.join("; ")}`;
  for (const { sketch: less, what } of relaxations(sketch, request.topology)) {
    if ((await attempt(less, request, context, attempts, budgetOf(request, DRAFT_BUDGET), deadline)) !== null)
      return [why, `the schedule follows the nearest sketch that has ways: ${what}`];
  }
  return [why];
}

function noRouting({ topology, collective }: SynthesisRequest, { conflicts }: Attempts): InfeasibleError {
  const first = conflicts[0];
  const why =
    first === undefined
      ? `no sketch is known for ${topology.name}`
      : `${first.sketch.name}: ${first.conflict.join("; ")}`;
  return new InfeasibleError(`no sketch leaves a way for this ${collective.kind}: ${why}`, {
    conflicts: conflicts.map(({ sketch, conflict }) => ({ sketch: sketch.name, conflict })),
  });
}

function synthesis(
  { topology, collective }: SynthesisRequest,
  draft: Drafted,
  stages: readonly SolverStage[],
  notes: readonly string[],
  struck: boolean,
): Synthesis {
  const { whole } = draft;
  const merged = mergedSends(whole.plan);
  const { sketch } = draft.network;
  const short = stages.filter(({ status }) => status === "memory");
  return {
    schedule: stepsOfPlan(topology, collective, whole.tasks, whole.plan),
    policy: `${whole.name}; ${merged === 1 ? "1 merged send" : `${merged} merged sends`}`,
    trials: whole.tries,
    solver: {
      proved: whole.endPs <= leastPsOf(draft),
      model: `the connections of sketch "${sketch.name}"`,
      stages,
    },
    notes: [
      `sketch: ${sketch.name}`,
      ...notes,
      ...new Set(draft.phases.flatMap((phase) => phase.notes)),
      ...short.map(({ name }) => `${name}: the solver had no memory left; what was found without it is kept`),
    ],
    deterministic: !struck && !stages.some(({ status }) => status === "limit"),
  };
}

/** TACCL: routing, ordering and exact scheduling along a sketch (Shah et al., NSDI 2023). */
export const taccl: Synthesizer = {
  name: "taccl",
  makes: "steps",
  description: "routes along a sketch by integer programs, then orders and merges sends (TACCL)",
  collectives: [...COLLECTIVE_KINDS, "custom"],
  policies: [],
  options: ["timeLimitMs", "sketch"],
  traits: { solves: true, endsInTime: true },
  plans: true,
  refuses,
  ownChunks: async ({ sketch }) => sketch?.chunksPerNpu ?? 1,
  synthesize,
};
