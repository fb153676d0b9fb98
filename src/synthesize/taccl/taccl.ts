import { InfeasibleError } from "../../errors.ts";
import { COLLECTIVE_KINDS, type Collective } from "../../model/collective.ts";
import type { Sketch } from "../../model/sketch.ts";
import { sketchNetwork } from "../../model/sketch-network.ts";
import { proposedSketches } from "../../model/sketch-proposals.ts";
import { relaxations } from "../../model/sketch-relaxations.ts";
import type { Topology } from "../../model/topology.ts";
import type { SolverStage } from "../solver-facts.ts";
import type { Synthesis, SynthesisContext, SynthesisRequest, Synthesizer } from "../synthesizer.ts";
import { mergedSends, stepsOfPlan } from "./scheduling.ts";
import { type Drafted, drafted, exactly, routedPhases } from "./taccl-phases.ts";

/** Time for all solves where the user sets none. */
const USUAL_LIMIT_MS = 60_000;
/** No program of a sketch's first stage gets more of the time left than this part, while others wait. */
const PART_OF_ROUTING = 0.4;
/** Budgets (PlanOptions) of a first look at a sketch, and of the best one. */
const DRAFT_BUDGET = 2e6;
const FULL_BUDGET = 2e7;
/** Timings of a millisecond, at the least: how budgets shrink with the time limit. */
const TIMINGS_PER_MS = 1000;
/** As a rule. */
const USUAL_TIMINGS_PER_MS = 3000;
/** Most time for the last program where the user sets no limit: it seldom gains anything later. */
const USUAL_EXACT_MS = 15_000;

/** More sends would take minutes to order once. */
const MOST_DELIVERIES = 500_000;

/** Keeps account of the time of solves; what local search takes is counted by its budget. */
interface Purse {
  leftMs: number;
  readonly stages: SolverStage[];
}

interface Attempts {
  best: Drafted | null;
  readonly conflicts: { readonly sketch: Sketch; readonly conflict: readonly string[] }[];
  readonly purse: Purse;
}

/** Tries the sketch; returns whether the collective can be routed in it. */
async function attempt(
  sketch: Sketch,
  request: SynthesisRequest,
  context: SynthesisContext,
  attempts: Attempts,
): Promise<boolean> {
  const { topology, collective, seed } = request;
  const { purse } = attempts;
  const network = sketchNetwork(topology, sketch);
  const limits = { seed, timeLimitMs: purse.leftMs * PART_OF_ROUTING };
  const phases = await routedPhases(network, collective, limits, context);
  if ("conflict" in phases) {
    attempts.conflicts.push({ sketch, conflict: phases.conflict });
    return false;
  }
  const stages = phases.flatMap((phase) => phase.stages);
  purse.stages.push(...stages);
  purse.leftMs = Math.max(0, purse.leftMs - stages.reduce((sum, { ms }) => sum + ms, 0));
  const { best } = attempts;
  // what cannot beat the best so far is not planned
  if (best !== null && phases.some(({ boundPs }) => boundPs >= best.whole.endPs)) return true;
  purse.leftMs = Math.max(0, purse.leftMs - budgetOf(request, DRAFT_BUDGET) / USUAL_TIMINGS_PER_MS);
  const draft = await drafted(network, phases, {
    seed,
    budget: budgetOf(request, DRAFT_BUDGET),
    breathe: context.breathe,
  });
  if (best === null || draft.whole.endPs < best.whole.endPs) attempts.best = draft;
  return true;
}

const limitOf = ({ timeLimitMs }: SynthesisRequest): number => timeLimitMs ?? USUAL_LIMIT_MS;

const budgetOf = (request: SynthesisRequest, usual: number): number =>
  Math.min(usual, (limitOf(request) * TIMINGS_PER_MS * usual) / FULL_BUDGET);

async function synthesize(request: SynthesisRequest, context: SynthesisContext): Promise<Synthesis> {
  const { topology, collective, seed } = request;
  const purse: Purse = { leftMs: limitOf(request) - budgetOf(request, FULL_BUDGET) / USUAL_TIMINGS_PER_MS, stages: [] };
  const attempts: Attempts = { best: null, conflicts: [], purse };
  const notes: string[] = [];
  const given = request.sketch ?? null;
  const sketches = given === null ? proposedSketches(topology, collective.kind) : [given];
  for (const [i, sketch] of sketches.entries()) {
    context.onProgress?.({ phase: "sketches", done: i, total: sketches.length });
    if (i > 0 && attempts.best !== null && purse.leftMs === 0) {
      notes.push(`no time was left for ${sketches.length - i} of ${sketches.length} sketches`);
      break;
    }
    await attempt(sketch, request, context, attempts);
  }
  if (given !== null && attempts.best === null) notes.push(...(await relaxed(given, request, context, attempts)));
  const { best } = attempts;
  if (best === null) throw noRouting(request, attempts);
  const fuller = await drafted(best.network, best.phases, {
    seed,
    budget: budgetOf(request, FULL_BUDGET),
    breathe: context.breathe,
  });
  const chosen = fuller.whole.endPs < best.whole.endPs ? fuller : best;
  const exactMs = Math.min(purse.leftMs, request.timeLimitMs ?? USUAL_EXACT_MS);
  const { draft, stage } = await exactly(chosen, context, exactMs);
  if (stage !== null) purse.stages.push(stage);
  return synthesis(request, draft, purse.stages, notes);
}

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
): Promise<string[]> {
  const { conflict } = attempts.conflicts[0] as Attempts["conflicts"][number];
  const why = `${sketch.name} leaves no way: ${conflict.join("; ")}`;
  for (const { sketch: less, what } of relaxations(sketch, request.topology)) {
    if (await attempt(less, request, context, attempts))
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
  { network, phases, whole }: Drafted,
  stages: readonly SolverStage[],
  notes: readonly string[],
): Synthesis {
  const merged = mergedSends(whole.plan);
  const { sketch } = network;
  const short = stages.filter(({ status }) => status === "memory");
  return {
    schedule: stepsOfPlan(topology, collective, whole.tasks, whole.plan),
    policy: `sketch ${sketch.name}; ${whole.name}; ${merged === 1 ? "1 merged send" : `${merged} merged sends`}`,
    trials: whole.tries,
    solver: {
      proved: phases.length === 1 && whole.endPs <= phases[0].boundPs,
      model: `the ways that sketch ${sketch.name} leaves`,
      stages,
    },
    notes: [
      `sketch: ${sketch.name}`,
      ...notes,
      ...short.map(({ name }) => `${name}: the solver had no memory left; what was found without it is kept`),
    ],
    deterministic: !stages.some(({ status }) => status === "limit"),
  };
}

/** TACCL: routing, ordering and exact scheduling along a sketch (Shah et al., NSDI 2023). */
export const taccl: Synthesizer = {
  name: "taccl",
  description: "routes along a sketch by integer programs, then orders and merges sends (TACCL)",
  collectives: [...COLLECTIVE_KINDS, "custom"],
  policies: [],
  solves: true,
  takesSketch: true,
  plans: true,
  refuses,
  ownChunks: async ({ sketch }) => sketch?.chunksPerNpu ?? 1,
  synthesize,
};
