import { InfeasibleError, InputError, InternalError } from "../../base/errors.ts";
import { optionName } from "../../base/option-names.ts";
import { refuseStopped } from "../../base/stopping.ts";
import { openHighs } from "../../engine/milp/highs.ts";
import type { Engine } from "../../engine/types.ts";
import type { Simulated } from "../../kinds/kind.ts";
import type { Collective } from "../../model/collective/collective.ts";
import { bigLcm } from "../../model/numbers/integers.ts";
import type { StepSchedule } from "../../model/steps/step-schedule.ts";
import type { Topology } from "../../model/topology/topology.ts";
import { stepsOfGroups } from "../../model/trees/group-steps.ts";
import { copiesOf, type TreeFlow } from "../../model/trees/tree-flow.ts";
import { trafficSaved } from "../../model/trees/tree-multicast.ts";
import { stepsOfTrees, treeTransfers } from "../../model/trees/tree-steps.ts";
import { bestPieces } from "../../model/trees/tree-times.ts";
import type { SynthesizeOptions } from "../../request/options.ts";
import { type Problem, problemOf } from "../../request/problem.ts";
import { simulateSchedule } from "../../simulate/steps/replay.ts";
import { treeFlowClock } from "../../simulate/trees/tree-flow.ts";
import { unreached } from "../../synthesize/forestcoll/unreached.ts";
import type { GroupsSynthesis, TreeMaker, TreeRequest, TreeSynthesis } from "../../synthesize/tree-maker.ts";
import { verifySchedule } from "../../verify/steps/schedule.ts";
import { limitWithBottleneck } from "../bottleneck.ts";
import { judgeBy } from "../judge.ts";
import type { Made } from "../report-on.ts";
import { treeRunnerFor } from "../threads/tree-runner.ts";

/** Trees of several groups have no more transfers. */
const MOST_OF_GROUPS = 4e6;

/** Up to this many transfers the steps of a flow are judged as well. */
const MOST_STEPS = 1e6;

/** Throws InputError for what these trees have no use for. */
function refuseIdle({ name, inNetwork }: TreeMaker, { switching, nvls }: SynthesizeOptions): void {
  if (switching === "store-and-forward")
    throw new InputError(optionName("switching"), "cut-through, or nothing, for trees", switching).as("not-applicable");
  if (inNetwork !== true || nvls !== false) return;
  const expected = "an algorithm beside it whose switches need not duplicate and sum";
  throw new InputError(optionName("nvls"), expected, name).as("not-applicable");
}

/**
 * Returns trees for a collective, cut into the number of pieces that is fastest, or `chunks`; up to 1e6 transfers are also
 * written out as steps, which the judges of steps verify and replay, but for what switches duplicate or sum, which steps cannot
 * say. Throws as `synthesize` does.
 */
export async function makeTrees(
  engine: Engine,
  topology: Topology,
  options: SynthesizeOptions,
  maker: TreeMaker,
): Promise<Made<TreeFlow | StepSchedule>> {
  refuseIdle(maker, options);
  const { signal, onProgress, chunks = "auto" } = options;
  const begin = (phase: string): void => {
    refuseStopped(signal);
    onProgress?.({ phase, done: 0, total: 1 });
  };
  const problem = problemOf(topology, { ...options, chunks: 1 });
  const usable = topology.linkBytesPerSecond;
  begin("synthesize");
  const started = performance.now();
  const { kernels, dispose } = treeRunnerFor(engine, signal);
  let best: Timed;
  try {
    const context = { kernels, lp: openHighs };
    const requestFor = (copiesPerRoot: TreeRequest["copiesPerRoot"]): TreeRequest => ({
      ...problem,
      usable,
      copiesPerRoot,
      seed: options.seed ?? 1,
      policy: options.policy ?? null,
      repair: options.repair ?? null,
      own: options,
    });
    const make = async (copiesPerRoot: TreeRequest["copiesPerRoot"]): Promise<Timed> =>
      timed(await maker.make(requestFor(copiesPerRoot), context), chunks);
    if (problem.collective.groupCount > 1 && maker.makeGroups !== undefined) {
      const copies = copiesOfGroups(options.k, problem.collective);
      const found = await maker.makeGroups(requestFor(copies), context);
      const ms = performance.now() - started;
      begin("limit");
      return madeGroups(engine, problem, { found, ms, maker, options });
    }
    best = options.k === "auto" ? await fastest(make) : await make(options.k ?? null);
  } catch (error) {
    const isOfOne = error instanceof InfeasibleError && problem.collective.groupCount === 1;
    throw (isOfOne ? unreached(problem.topology, problem.collective, usable) : null) ?? error;
  } finally {
    dispose();
  }
  const ms = performance.now() - started;
  begin("limit");
  const limit = limitWithBottleneck(engine.kernels, problem.topology, problem.collective);
  const { found, pieces } = best;
  const { flow } = found;
  const sums = flow.inNetwork === true;
  return {
    schedule: flow,
    limit,
    pieces,
    couldBeBetter: found.couldBeBetter ?? false,
    check(simulated) {
      if (sums || treeTransfers(flow, pieces) > MOST_STEPS) return;
      judgeSteps(engine, maker, flow, pieces, simulated);
    },
    making: {
      algorithm: maker.name,
      ...(options.nvls === false || sums ? {} : trafficOf(flow)),
      ...(found.repaired === null ? {} : { repaired: found.repaired }),
      notes: found.notes,
      synthesis: synthesisOf(engine, options, ms, found),
    },
  };
}

/** Returns how something was made, for its report. */
const synthesisOf = (
  { backend }: Engine,
  { seed = 1 }: SynthesizeOptions,
  ms: number,
  { trials, policy }: { readonly trials: number; readonly policy: string },
) => ({ ms: Math.round(ms * 1000) / 1000, backend, threads: 1, seed, trials, policy });

/** Returns the copies per root that trees of several groups are to have. Throws InputError where they are to be found. */
function copiesOfGroups(k: SynthesizeOptions["k"], { groupCount }: Collective): TreeRequest["copiesPerRoot"] {
  if (k !== "auto") return k ?? null;
  throw new InputError(optionName("k"), `a number, or nothing, for ${groupCount} groups at once`, k).as("not-together");
}

/** What is known of trees of several groups. */
interface OfGroups {
  readonly found: GroupsSynthesis;
  readonly ms: number;
  readonly maker: TreeMaker;
  readonly options: SynthesizeOptions;
}

/** Returns trees of several groups as the transfers of all of them. Throws InputError for more than 4e6 transfers. */
function madeGroups(
  engine: Engine,
  { topology, collective }: Problem,
  { found, ms, maker, options }: OfGroups,
): Made<StepSchedule> {
  const pieces = piecesOfGroups(found.flows, options.chunks ?? "auto");
  const transfers = found.flows.reduce((sum, flow, g) => sum + treeTransfers(flow, pieces[g]), 0);
  if (transfers > MOST_OF_GROUPS) {
    const most = `so few that the trees of ${found.flows.length} groups have at most ${MOST_OF_GROUPS.toExponential()} transfers (they have ${transfers})`;
    throw new InputError(optionName("chunks"), most, options.chunks ?? "auto").as("out-of-range");
  }
  const steps = stepsOfGroups(
    collective,
    found.flows.map((flow, g) => stepsOfTrees(flow, pieces[g])),
  );
  return {
    schedule: steps,
    limit: limitWithBottleneck(engine.kernels, topology, steps.collective),
    couldBeBetter: found.couldBeBetter ?? false,
    making: {
      algorithm: maker.name,
      notes: found.notes,
      synthesis: synthesisOf(engine, options, ms, found),
    },
  };
}

/**
 * Returns for each flow into how many pieces its copies' parts are cut, so that all have as many chunks: about as many as are
 * best for the first, or as were asked for, as far as MOST_OF_GROUPS transfers allow.
 */
function piecesOfGroups(flows: readonly TreeFlow[], chunks: number | "auto"): number[] {
  const copies = flows.map((flow) => copiesOf(flow.forests[0], flow.symmetry));
  const all = copies.reduce(bigLcm);
  const [flow] = flows as [TreeFlow];
  const wanted = chunks === "auto" ? bestPieces(flow, flow.collective.sizeBytes, treeFlowClock(flow)) : chunks;
  const perCopy = (times: number): number[] => copies.map((own) => Number(all / own) * times);
  const least = flows.reduce((sum, one, g) => sum + treeTransfers(one, perCopy(1)[g] as number), 0);
  const most = Math.max(1, Math.floor(MOST_OF_GROUPS / least));
  const times = Math.max(1, Math.round(wanted / Number(all / copies[0])));
  return perCopy(chunks === "auto" ? Math.min(times, most) : times);
}

function trafficOf(flow: TreeFlow) {
  const traffic = trafficSaved(flow);
  return traffic === null ? {} : { traffic };
}

/** Trees that were made, and what they take in this many pieces. */
interface Timed {
  readonly found: TreeSynthesis;
  readonly pieces: number;
  readonly ps: number;
}

function timed(found: TreeSynthesis, chunks: number | "auto"): Timed {
  const { flow } = found;
  const clock = treeFlowClock(flow);
  const pieces = chunks === "auto" ? bestPieces(flow, flow.collective.sizeBytes, clock) : chunks;
  return { found, pieces, ps: clock(pieces) };
}

/** Copies per root that `--k auto` tries beside those of the optimum: fewer make shorter pipelines. */
const COPIES_TRIED = [1, 2, 3, 4];

/**
 * Returns the trees that take the least time at the size asked for, the optimal ones among equals. Numbers of copies that the
 * algorithm does not make are left out.
 */
async function fastest(make: (copiesPerRoot: TreeRequest["copiesPerRoot"]) => Promise<Timed>): Promise<Timed> {
  let best = await make(null);
  for (const copies of COPIES_TRIED) {
    const other = await make(copies).catch(whereRefused);
    if (other !== null && other.ps < best.ps) best = other;
  }
  return best;
}

function whereRefused(error: unknown): null {
  if (error instanceof InputError) return null;
  throw error;
}

/** Holds the steps of a flow against the judges of steps, and their replay against the time in closed form. */
function judgeSteps(
  { kernels }: Engine,
  { name }: TreeMaker,
  flow: TreeFlow,
  pieces: number,
  simulated: Simulated | null,
): void {
  const steps = stepsOfTrees(flow, pieces);
  const { violations } = verifySchedule(steps, { limit: 1, judge: judgeBy(kernels) });
  if (violations.length > 0) throw new InternalError(`the steps of ${name} break rules: ${violations[0]?.message}`);
  const replayed = simulateSchedule(steps, { replay: kernels.replay }).ps;
  if (simulated !== null && replayed > simulated.ps)
    throw new InternalError(`the steps of ${name} take ${replayed} ps, not ${simulated.ps}`);
}
