import { InputError, inWords } from "../../base/errors.ts";
import { optionName } from "../../base/option-names.ts";
import { refuseStopped } from "../../base/stopping.ts";
import type { Engine } from "../../engine/types.ts";
import { shiftedLinks } from "../../model/symmetry/shift.ts";
import type { GraphNode, TensorGraph } from "../../model/tensor-graph/graph.ts";
import { coarserMeshes, fineAxes, finerChoice, restated } from "../../model/tensor-plan/coarser.ts";
import { leastComputingPs } from "../../model/tensor-plan/least-computing.ts";
import type { Mesh } from "../../model/tensor-plan/mesh.ts";
import type { TensorPlan } from "../../model/tensor-plan/plan.ts";
import type { PlanChoice } from "../../model/tensor-plan/problem.ts";
import {
  memoryOf,
  type PlanCosts,
  type PlanTerms,
  planOf,
  planProblem,
  type StatedProblem,
} from "../../model/tensor-plan/problem-of.ts";
import { planSteps } from "../../model/tensor-plan/steps.ts";
import { pieceMove, streamed } from "../../model/tensor-plan/streams.ts";
import { tensorBytes } from "../../model/tensor-plan/work.ts";
import type { Topology } from "../../model/topology/topology.ts";
import type { Accelerator, Precision } from "../../model/workload/accelerators.ts";
import type { Computation, NpuGroups } from "../../model/workload/layer-work.ts";
import { computationPs } from "../../model/workload/roofline.ts";
import { roundedSize } from "../../report/amounts.ts";
import { type MadeByHand, plansByHand } from "../../synthesize/plan/by-dimensions.ts";
import { type Effort, effortOf } from "../../synthesize/plan/effort.ts";
import { type FoundPlan, leastOfAll, type NoPlan, searchPlan } from "../../synthesize/plan/solve.ts";
import { belowOfStage, pipelinePs } from "../../synthesize/plan/stage-cuts.ts";
import { milpRunner } from "../threads/milp-runner.ts";
import { type CostOf, communicationCosts, leastCosts } from "../training/costs.ts";
import { type HandClass, handClasses } from "./by-hand.ts";
import { type LeastOf, type MoveAsked, type MoveCosts, moveCosts } from "./move-costs.ts";
import { type NextState, nextStates } from "./next-states.ts";
import { cutByHand, graphKey, type PipelineShape, receiveTimes, sendTimes } from "./pipeline.ts";
import { foundSteps, handSteps, MOST_OTHERS, memoryOfChoice, type Simulating } from "./simulated.ts";
import type { PlannedStage, PlannedStep, SearchedSplit, SearchedWay, Split, StatedWay, Way } from "./ways.ts";

/** What is to be planned. */
export interface PlanRequest {
  /** Returns the graph, gradients included, of so many samples: those of a micro batch, over all NPUs. */
  readonly graphOf: (samples: number) => TensorGraph;
  /** The same without gradients; for pipelines. */
  readonly forwardOf: (samples: number) => TensorGraph;
  /** Samples of a step, and into how many passes it may be cut, divisors of them. */
  readonly batch: number;
  readonly passes: readonly number[];
  /** Stages and their meshes that are tried. */
  readonly shapes: readonly PipelineShape[];
  readonly accelerator: Accelerator;
  readonly precision: Precision;
  readonly memoryBytes: number;
  readonly optimizerBytes: number;
  readonly gradientBytes: number;
  /** Who makes the collectives: "library", "best", "ideal", or an algorithm. */
  readonly algorithm: string;
  readonly timeLimitMs: number;
  /** Costs of collectives by which plans are searched; without it those of schedules, with which steps are simulated in any case. */
  readonly costsOf?: (mesh: Mesh) => MoveCosts;
  readonly signal?: AbortSignal;
  readonly onProgress?: (what: string, done: number, total: number) => void;
}

/** The best plan and the runners-up. */
export interface Planned {
  readonly best: PlannedStep;
  readonly others: readonly PlannedStep[];
  /** The fastest of the hand-made plans that fit; null where none does. */
  readonly byHand: PlannedStep | null;
  /** The best hand-made plan of each class, but for that of the best plan if it is one. */
  readonly classes: readonly HandClass[];
  /** [stages of the best] what other states of its tensors would cost. */
  readonly nextStates: readonly (readonly NextState[])[];
  /**
   * Of the search that found the best: by its count no plan takes less on that mesh, in as many passes, that leaves so many bytes
   * of the memory free for what is not counted; and by how much of its count the best may be above that.
   */
  readonly boundPs: number;
  readonly gap: number;
  readonly leftFreeBytes: number;
  readonly how: string;
  /** Meshes and passes that were looked at, and those that were searched. */
  readonly looked: number;
  readonly searched: number;
}

/** So many ways of splitting are searched, the best by their hand-made plans. */
const MOST_SEARCHED = 4;
/** A way has half of the effort that is left, the last all of it; a search half of its way's, the first of a way so much at least. */
const PART_OF_WAY = 1 / 2;
const LEAST_LIMIT_MS = 1000;
/** Part of the effort for each mesh in which two axes of three or more are one. */
const PART_OF_COARSER = 1 / 6;
/** Ways of which all plans take more than so many times the best one's count are searched no further. */
const TOO_SLOW = 1.1;
const MOST_HAND = 24;

/** Searches are begun again so often, with the costs of the collectives that plans take, and peaks of memory. */
const MOST_ROUNDS = 8;
/** The collectives of so many plans by hand are scheduled at a time. */
const HANDS_MADE = 3;

/** What may be done for a search, and what a plan has to take less than to be of use. */
interface Search {
  readonly effort: Effort;
  readonly belowPs: number;
}

type Tell = (what: string, done: number, total: number) => void;

/** Returns what things cost of a way, by the costs of collectives that are known. */
const planCosts = ({ costs, timeOf, receivePs }: Way): PlanCosts => ({
  computationPs: timeOf,
  movePs: costs.movePs,
  ...(receivePs && { receivePs }),
});

/** Returns a way as a search, by the costs of collectives that are known. */
function stateWay(way: Way, terms: PlanTerms = way.terms): StatedWay {
  const { graph, mesh, uses } = way;
  const stated = planProblem(graph, mesh, planCosts(way), terms);
  return { way, madeCount: way.costs.madeCount(), stated, hands: plansByHand(graph, stated, uses) };
}

/** Returns a way without streamed products, which no plan by hand has. */
const statePlainly = (way: Way): StatedWay => stateWay(way, { ...way.terms, isPlain: true });

/** Has the collectives of some plans scheduled; returns whether any was not. */
async function makeCosts({ way, stated }: StatedWay, choices: readonly PlanChoice[], tell: Tell): Promise<boolean> {
  const moves = choices.flatMap((choice) => movesOf(planOf(way.graph, stated, choice)));
  return (await way.costs.make(moves, (done, total) => tell("collectives", done, total))) > 0;
}

/** Returns a way whose best plan by hand takes no collectives but such as are scheduled; without streamed products. */
async function settledByHand(first: StatedWay, tell: Tell): Promise<StatedWay> {
  let now = first.madeCount === first.way.costs.madeCount() ? first : statePlainly(first.way);
  while (await makeCosts(now, best(now.hands, HANDS_MADE), tell)) now = statePlainly(now.way);
  return now;
}

const best = (hands: readonly MadeByHand[], count: number): readonly PlanChoice[] =>
  hands.slice(0, count).map(({ choice }) => choice);

/** Returns the best plans of meshes in which two axes are one, which take longer to search where there are more: as plans of the way's. */
async function coarserPlans(
  engine: Engine,
  { way, stated }: StatedWay,
  { signal }: PlanRequest,
  effort: Effort,
): Promise<PlanChoice[]> {
  const { graph, mesh, terms, costs, uses } = way;
  const plans: PlanChoice[] = [];
  for (const coarser of mesh.axes.length > 2 ? coarserMeshes(mesh) : []) {
    const movePs: MoveCosts["movePs"] = (kind, axes, bytes) => costs.movePs(kind, fineAxes(coarser, axes), bytes);
    const rough = planProblem(graph, coarser.mesh, { ...planCosts(way), movePs }, terms);
    const found = await searchPlan(rough.problem, {
      milp: milpRunner(engine, signal),
      starts: best(plansByHand(graph, rough, uses), MOST_HAND),
      effort: effort.part(PART_OF_COARSER).atLeast(LEAST_LIMIT_MS),
      ...(signal && { signal }),
    });
    if (!("plan" in found)) continue;
    const finer = finerChoice(coarser, rough, stated, found.plan);
    if (finer !== null) plans.push(finer);
  }
  return plans;
}

/**
 * Returns what is found of a way, searched again while its best plans take collectives that are not scheduled yet, or the best leaves
 * too little memory at a peak that the search does not count. The bound is the greatest of all: before it was of more plans, which
 * took no more.
 */
async function searchWay(
  engine: Engine,
  plain: StatedWay,
  request: PlanRequest,
  { effort, belowPs }: Search,
  tell: Tell,
): Promise<SearchedWay> {
  const { signal } = request;
  let now = await effort.aside(async () => stateWay((await settledByHand(plain, tell)).way));
  const isOfUse = leastOfAll(now.stated.problem) < belowPs;
  let before: readonly PlanChoice[] = isOfUse ? await coarserPlans(engine, now, request, effort) : [];
  let boundPs = 0;
  for (let round = 1; ; round++) {
    const half = effort.part(1 / 2);
    const found = await searchPlan(now.stated.problem, {
      milp: milpRunner(engine, signal),
      starts: [...before, ...best(now.hands, MOST_HAND)],
      effort: round === 1 ? half.atLeast(LEAST_LIMIT_MS) : half,
      belowPs,
      ...(signal && { signal }),
    });
    if (!("plan" in found)) return { ...now, result: found, before };
    boundPs = Math.max(boundPs, found.boundPs);
    const result = { ...found, boundPs };
    before = [result.plan, ...result.alternatives];
    const { way, stated } = now;
    const searched = now;
    const asked = [...before.slice(0, 1 + MOST_OTHERS), ...best(searched.hands, 1)];
    const isNew = await effort.aside(() => makeCosts(searched, asked, tell));
    const { total, at } = memoryOfChoice(way, stated, result.plan);
    const excess = total - request.memoryBytes;
    if (!isNew && excess <= 0) return { ...now, result, before };
    const isLast = round === MOST_ROUNDS || (excess <= 0 && (effort.isOver() || boundPs >= belowPs));
    const { peaks = [], memoryBytes } = way.terms;
    // what is there at the peak is counted from now on; where it is already, what was not counted is left free
    const terms =
      excess <= 0 ? {} : peaks.includes(at) ? { memoryBytes: memoryBytes - excess } : { peaks: [...peaks, at] };
    const again = stateWay({ ...way, terms: isLast ? way.terms : { ...way.terms, ...terms } });
    if (isLast) {
      const last = foundIn(result, stated, again.stated);
      return last === null
        ? { ...now, result, before }
        : { ...again, result: last, before: restatedAll(before, stated, again.stated) };
    }
    now = again;
    before = restatedAll(before, stated, again.stated);
  }
}

/** Returns those of some choices that are choices of a way that was stated again. */
const restatedAll = (choices: readonly PlanChoice[], from: StatedProblem, to: StatedProblem): PlanChoice[] =>
  choices.map((choice) => restated(from, choice, to)).filter((choice) => choice !== null);

/** Returns what was found as of a way that was stated again; null where the plan is none there. */
function foundIn(result: FoundPlan, from: StatedProblem, to: StatedProblem): FoundPlan | null {
  const plan = restated(from, result.plan, to);
  return plan && { ...result, plan, alternatives: restatedAll(result.alternatives, from, to) };
}

/** Returns the collectives of a plan; of streamed products that of a piece and that of all at once, which it is held against. */
function movesOf(plan: TensorPlan): MoveAsked[] {
  const { graph, mesh, nodes } = plan;
  return planSteps(plan).steps.flatMap((step): MoveAsked[] => {
    const node = graph.nodes[step.node] as GraphNode;
    if (step.kind === "move")
      return step.moves.map(({ kind, axes, parts }) => ({ kind, axes, bytes: tensorBytes(graph, node) / parts }));
    const rule = step.kind === "compute" ? streamed(nodes[step.node]?.rule) : null;
    if (rule === null) return [];
    const { kind, axes, bytes, pieces } = pieceMove(graph, mesh, node, rule);
    return [1, pieces].map((times) => ({ kind, axes, bytes: bytes * times }));
  });
}

/**
 * Returns the fastest plan of a step that was found on a network: states of all tensors such that the step is fastest with
 * communication that is scheduled (Zhao 2026, chapter 5). Every mesh and number of passes is a search of its own, begun with the
 * hand-made plans; the best by the search's count are simulated as steps, computations and collectives of our schedules together.
 * Collectives cost what any schedule takes at least until a plan takes them: these are scheduled. Throws InputError where nothing
 * fits, with the least memory that would do.
 */
export async function planStep(engine: Engine, topology: Topology, request: PlanRequest): Promise<Planned> {
  const { accelerator, precision, signal } = request;
  const tell: Tell = (what, done, total) => request.onProgress?.(what, done, total);
  const { algorithm } = request;
  const costOf = communicationCosts(engine, topology, signal).by({ algorithm, untilNear: true, byPieces: true });
  const timeOf = (computation: Computation): number => computationPs(accelerator, precision, computation);
  const { passes, shapes, memoryBytes, optimizerBytes, gradientBytes } = request;
  const ways: Split[] = [];
  let looked = 0;
  /** What the best plan by hand of one stage takes. */
  let wholePs: number | null = null;
  const inOrder = [...shapes].sort((a, b) => a.stages - b.stages);
  for (const shape of inOrder) {
    const { mesh, stages } = shape;
    const costsOf = stageCosts(topology, shape, costOf, request.costsOf);
    for (const microBatches of passesFor(stages, passes)) {
      tell("ways of splitting", ways.length, shapes.length * passes.length);
      const terms = { memoryBytes, microBatches, inFlight: 1, optimizerBytes, gradientBytes };
      const samples = request.batch / microBatches;
      const common = { mesh, timeOf };
      if (stages === 1) {
        looked += 1;
        const stated = statePlainly({ ...common, graph: request.graphOf(samples), terms, costs: costsOf(0) });
        ways.push(wholeSplit(shape, microBatches, stated));
      } else {
        wholePs ??= await settledPs(ways, tell);
        const computingPs = microBatches * leastComputingPs(request.graphOf(samples), mesh, timeOf);
        looked += 1;
        if (pipelinePs(new Array(stages).fill(computingPs / stages), microBatches) > TOO_SLOW * wholePs) continue;
        const state = (way: Omit<Way, "mesh" | "timeOf">): StatedWay => statePlainly({ ...common, ...way });
        const cut = (settle: (stated: StatedWay) => Promise<StatedWay>): Promise<Split | null> =>
          cutSplit(topology, shape, request.forwardOf(samples), terms, costsOf, (way) => settle(state(way)));
        const split = await cut(async (stated) => stated);
        const settled = () => cut((stated) => settledByHand(stated, tell));
        if (split !== null) ways.push({ ...split, settled });
      }
      refuseStopped(signal);
    }
  }
  if (ways.length === 0) {
    const most = shapes.map(({ stages }) => stages).join(",");
    throw new InputError(optionName("stages"), "at most the parts of the graph that repeat", most).as("not-applicable");
  }
  const searched: SearchedSplit[] = [];
  const { chosen, left } = await mostPromising(ways, MOST_SEARCHED);
  const effort = effortOf(request.timeLimitMs);
  let belowPs = Number.POSITIVE_INFINITY;
  for (const [done, way] of chosen.entries()) {
    tell("searches", done, chosen.length);
    const own = effort.part(done + 1 < chosen.length ? PART_OF_WAY : 1);
    const one = await searchSplit(engine, way, request, { effort: own, belowPs }, tell);
    belowPs = Math.min(belowPs, TOO_SLOW * foundPs(one, memoryBytes));
    searched.push(one);
  }
  tell("simulations", 0, 1);
  const by: Simulating = { topology, costOf, memoryBytes, movesOf, signal };
  const hands = await handSteps(searched, by);
  const others: SearchedSplit[] = [];
  const handPs = Math.min(...hands.map(({ step }) => step.ps));
  for (const way of left) others.push(await byHandOnly(way, way.byHandPs < handPs));
  hands.push(...(await handSteps(others, by, handPs)));
  const steps = [...(await foundSteps(searched, by)), ...hands].sort((a, b) => a.step.ps - b.step.ps);
  const [best] = steps;
  if (best === undefined) throw nothingFits(request, searched);
  const { stages } = best.from;
  const bounds = stages.map(({ result }) => ("plan" in result ? result.boundPs : 0));
  const boundPs = pipelinePs(bounds, (best.step.stages[0] as PlannedStage).terms.microBatches);
  return {
    best: best.step,
    others: steps.slice(1).map(({ step }) => step),
    byHand: steps.find(({ step }) => step.hand !== null)?.step ?? null,
    classes: handClasses([...searched, ...others], hands, memoryBytes).filter(({ hand }) => hand !== best.step.hand),
    nextStates: stages.map((stage, s) => nextStates(stage, best.choices[s] as PlanChoice)),
    boundPs,
    gap: 1 - boundPs / best.step.countedPs,
    leftFreeBytes: Math.max(...stages.map(({ way }) => memoryBytes - way.terms.memoryBytes)),
    how: [...new Set(stages.map(({ result }) => result.how))].join("; "),
    looked,
    searched: searched.length,
  };
}

/** Returns what the best plan takes that was found and fits, by the search's count; Infinity where none was. */
function foundPs({ stages }: SearchedSplit, memoryBytes: number): number {
  const all = stages.map(({ way, stated, result }) =>
    "plan" in result && memoryOfChoice(way, stated, result.plan).total <= memoryBytes
      ? result.ps
      : Number.POSITIVE_INFINITY,
  );
  return pipelinePs(all, (stages[0] as SearchedWay).way.terms.microBatches);
}

/** Returns a way of splitting of which only hand-made plans are looked at; cut into stages where they may be the fastest. */
async function byHandOnly({ stages, ...split }: Split, isNear: boolean): Promise<SearchedSplit> {
  if (split.staged !== null && !isNear) return { ...split, stages: [] };
  const result: NoPlan = { status: "unknown", least: null, leastTotals: null, isLeastProved: false, how: "by hand" };
  return { ...split, stages: (await stages()).map((stated) => ({ ...stated, result, before: [] })) };
}

/** Returns the passes that are tried with so many stages: those that keep them all busy, if any do. */
function passesFor(stages: number, passes: readonly number[]): readonly number[] {
  const enough = passes.filter((count) => count >= stages);
  return enough.length > 0 ? enough : passes;
}

/** Returns what gives the costs of collectives of a stage: where the network looks the same from there, those of the first. */
function stageCosts(
  topology: Topology,
  { mesh }: PipelineShape,
  costOf: CostOf,
  given?: PlanRequest["costsOf"],
): (stage: number) => MoveCosts {
  const least = leastCosts(topology);
  const known: MoveCosts[] = [];
  const made = (stage: number): MoveCosts => {
    const by = stage * mesh.npuCount;
    const shifted = (groups: NpuGroups): NpuGroups => ({ ...groups, members: groups.members.map((npu) => npu + by) });
    const leastOf: LeastOf = (kind, groups, bytes) => least(kind, shifted(groups), bytes);
    return moveCosts(mesh, (kind, groups, bytes) => costOf(kind, shifted(groups), bytes), leastOf);
  };
  return (stage) => {
    const isAsFirst = stage > 0 && (given !== undefined || shiftedLinks(topology, stage * mesh.npuCount) !== null);
    known[0] ??= given?.(mesh) ?? made(0);
    known[stage] ??= isAsFirst ? known[0] : made(stage);
    return known[stage] as MoveCosts;
  };
}

/** Returns a graph cut into stages as a way of splitting; null where it has too few parts. */
async function cutSplit(
  topology: Topology,
  shape: PipelineShape,
  forward: TensorGraph,
  terms: PlanTerms,
  costsOf: (stage: number) => MoveCosts,
  state: (way: Omit<Way, "mesh" | "timeOf">) => Promise<StatedWay>,
): Promise<Split | null> {
  const times = new Map<string, (bytes: number) => number>();
  const sendPs = (from: number, to: number): ((bytes: number) => number) => {
    const one = times.get(`${from} ${to}`) ?? sendTimes(topology, shape.mesh, from, to);
    times.set(`${from} ${to}`, one);
    return one;
  };
  const cut = await cutByHand(forward, shape, terms, sendPs, (graph, own, uses) =>
    state({ graph, terms: own, uses, costs: costsOf(0) }),
  );
  if (cut === null) return null;
  const { staged, uses, hand, ps } = cut;
  const stages = async (): Promise<StatedWay[]> => {
    const all: StatedWay[] = [];
    for (const [s, graph] of staged.graphs.entries()) {
      const receivePs = receiveTimes(staged, s, sendPs);
      all.push(await state({ graph, terms: cut.terms[s] as PlanTerms, uses, costs: costsOf(s), receivePs }));
    }
    return all;
  };
  return { shape, passes: terms.microBatches, byHandPs: ps, hand, staged, stages };
}

/** Returns what the best plan by hand of a way takes; Infinity where none fits. */
function byHandPsOf({ hands: [first] }: StatedWay): number {
  return first?.fits === true ? first.ps : Number.POSITIVE_INFINITY;
}

/** Returns one stage as a way of splitting. */
function wholeSplit(shape: PipelineShape, passes: number, stated: StatedWay): Split {
  return { shape, passes, byHandPs: byHandPsOf(stated), hand: null, staged: null, stages: async () => [stated] };
}

/** Returns what the best plan by hand of the best of some ways of one stage takes by schedules; Infinity where none fits. */
async function settledPs(ways: readonly Split[], tell: Tell): Promise<number> {
  const [first] = [...ways].sort((a, b) => a.byHandPs - b.byHandPs);
  if (first === undefined) return Number.POSITIVE_INFINITY;
  const [stated] = (await first.stages()) as [StatedWay];
  return byHandPsOf(await settledByHand(stated, tell));
}

/** Returns the ways whose best plans by hand take least, so many at most, the best first, and the others; settled are no more than have to be. */
async function mostPromising(
  ways: readonly Split[],
  count: number,
): Promise<{ readonly chosen: readonly Split[]; readonly left: readonly Split[] }> {
  const left = [...ways];
  const chosen: Split[] = [];
  while (chosen.length < count && left.length > 0) {
    const at = left.reduce((best, { byHandPs }, w) => (byHandPs < (left[best] as Split).byHandPs ? w : best), 0);
    const [first] = left.splice(at, 1) as [Split];
    if (first.settled === undefined) chosen.push(first);
    else {
      const settled = await first.settled();
      if (settled !== null) left.splice(at, 0, settled);
    }
  }
  return { chosen, left };
}

/**
 * Returns a way of splitting with what is found of each stage, the last first, which keeps least. What is found of one stage is that
 * of another that is alike, if it fits there too: who keeps more passes takes no less.
 */
async function searchSplit(
  engine: Engine,
  { stages, settled: _, ...split }: Split,
  request: PlanRequest,
  { effort, belowPs }: Search,
  tell: Tell,
): Promise<SearchedSplit> {
  const stated = await effort.aside(stages);
  const found: (SearchedWay | undefined)[] = stated.map(() => undefined);
  const bounds = stated.map(({ way }) => (stated.length === 1 ? 0 : leastOfAll(stateWay(way).stated.problem)));
  for (let s = stated.length - 1; s >= 0; s--) {
    const own = stated[s] as StatedWay;
    const like = found.find((one) => one !== undefined && isAlike(one.way, own.way));
    const part = {
      effort: effort.part(1 / (s + 1)),
      belowPs: belowOfStage(bounds, s, belowPs, own.way.terms.microBatches),
    };
    const one =
      (like === undefined ? null : foundAsIn(like, own.way, request.memoryBytes)) ??
      (await searchWay(engine, own, request, part, tell));
    found[s] = one;
    if ("plan" in one.result) bounds[s] = one.result.boundPs;
  }
  return { ...split, stages: found.filter((one) => one !== undefined) };
}

/** Returns what was found of one stage as of another that is alike; null where nothing was, or it does not fit there. */
function foundAsIn({ result, stated, before }: SearchedWay, way: Way, memoryBytes: number): SearchedWay | null {
  if (!("plan" in result)) return null;
  const again = stateWay(way);
  const found = foundIn(result, stated, again.stated);
  if (found === null || memoryOfChoice(way, again.stated, found.plan).total > memoryBytes) return null;
  return { ...again, result: found, before: restatedAll(before, stated, again.stated) };
}

/** Returns whether what is found of one stage is found of another: equal graphs, collectives, and times until what comes is there. */
function isAlike({ graph, costs, receivePs }: Way, other: Way): boolean {
  if (costs !== other.costs || graphKey(graph) !== graphKey(other.graph)) return false;
  return graph.nodes.every(
    (node, i) =>
      node.kind !== "placeholder" ||
      [0, 2 ** 30].every((bytes) => receivePs?.(i, bytes) === other.receivePs?.(i, bytes)),
  );
}

/** Returns the error for a step that fits in no way: the least that was proved, and what is enough for a plan that is known. */
function nothingFits({ memoryBytes }: PlanRequest, searched: readonly SearchedSplit[]): InputError {
  let least = Number.POSITIVE_INFINITY;
  let enough = Number.POSITIVE_INFINITY;
  for (const { stages } of searched) {
    // all stages have to fit
    let [leastOfAll, enoughForAll] = [0, 0];
    for (const { way, stated, hands, result, before } of stages) {
      if (!("plan" in result) && result.leastTotals !== null && result.isLeastProved) {
        leastOfAll = Math.max(leastOfAll, ...result.leastTotals.slice(memoryOf(way.mesh)));
      }
      const own = "plan" in result ? [result.plan] : result.least === null ? [] : [result.least];
      const known = [...own, ...before, ...hands.slice(0, MOST_HAND).map(({ choice }) => choice)];
      const total = Math.min(...known.map((choice) => memoryOfChoice(way, stated, choice).total));
      enoughForAll = Math.max(enoughForAll, total);
    }
    if (leastOfAll > 0) least = Math.min(least, leastOfAll);
    enough = Math.min(enough, enoughForAll);
  }
  const below = least < enough ? `at least ${roundedSize(least)} by the search's count, and ` : "more: ";
  const isNear = roundedSize(enough) === roundedSize(memoryBytes);
  const known = isNear ? `${roundedSize(enough - memoryBytes)} more` : roundedSize(enough);
  const expected = enough < Number.POSITIVE_INFINITY ? `${below}${known} is enough` : "more";
  return new InputError(optionName("memory"), expected, inWords(roundedSize(memoryBytes))).as("out-of-range");
}
