import { type DimensionUses, dimensionUses } from "../../model/tensor-graph/dimension-uses.ts";
import type { GraphNode, TensorGraph } from "../../model/tensor-graph/graph.ts";
import { cutParts, type StagedGraph, type StagePlace, stagedGraph } from "../../model/tensor-graph/stages.ts";
import { planMemory } from "../../model/tensor-plan/lifetimes.ts";
import type { Mesh } from "../../model/tensor-plan/mesh.ts";
import type { NodePlan, TensorPlan } from "../../model/tensor-plan/plan.ts";
import { planTotals } from "../../model/tensor-plan/problem.ts";
import { type PlanTerms, planOf, type StatedProblem } from "../../model/tensor-plan/problem-of.ts";
import { planSteps } from "../../model/tensor-plan/steps.ts";
import { localBytes } from "../../model/tensor-plan/work.ts";
import type { Topology } from "../../model/topology/topology.ts";
import type { HandPlan, MadeByHand } from "../../synthesize/plan/by-dimensions.ts";
import {
  bestCuts,
  type CutCost,
  leastOfCuts,
  type PartCost,
  passesInFlight,
} from "../../synthesize/plan/stage-cuts.ts";
import { sendCost } from "../training/costs.ts";

/** Stages that NPUs are dealt to, so many each, on a mesh of their own. */
export interface PipelineShape {
  readonly stages: number;
  readonly mesh: Mesh;
}

/** A graph cut into stages. */
export interface CutPipeline {
  readonly staged: StagedGraph;
  /** [stages] */
  readonly terms: readonly PlanTerms[];
  /** What dimensions are for, in the whole graph. */
  readonly uses: DimensionUses;
  /** The hand-made plan that all stages have, and what it takes by its parts; none that fits has an infinite time. */
  readonly hand: HandPlan;
  readonly ps: number;
}

/** Returns a graph's search and its hand-made plans, on the mesh of a stage. */
export type StateGraph = (
  graph: TensorGraph,
  terms: PlanTerms,
  uses: DimensionUses,
) => Promise<{ readonly stated: StatedProblem; readonly hands: readonly MadeByHand[] }>;

/** Returns what a graph is like but for names: the same for stages that a search need not tell apart. */
export const graphKey = ({ nodes, gradients, classes }: TensorGraph): string =>
  JSON.stringify([nodes.map(({ name: _, ...rest }) => rest), gradients, [...classes]]);

const MANY_BYTES = 2 ** 40;

/** Returns what it takes when all NPUs of a stage send so many bytes to those at their places in another, picoseconds. O(NPUs). */
export function sendTimes(topology: Topology, { npuCount }: Mesh, from: number, to: number): (bytes: number) => number {
  const members = Int32Array.from({ length: 2 * npuCount }, (_, k) => (k >> 1) + npuCount * (k % 2 === 0 ? from : to));
  const [none, many] = [0, MANY_BYTES].map((bytes) => sendCost(topology, { size: 2, members }, bytes).ps) as [
    number,
    number,
  ];
  return (bytes) => none + ((many - none) * bytes) / MANY_BYTES;
}

/** Returns what comes to a stage of others, per byte of an NPU: in every pass, and gradients of shared parameters once. */
export function receiveTimes(
  { crossings, shared }: StagedGraph,
  stage: number,
  sendPs: (from: number, to: number) => (bytes: number) => number,
): (node: number, bytes: number) => number {
  const senders = new Map<number, number[]>();
  for (const { from, to } of crossings) if (to.stage === stage) senders.set(to.node, [from.stage]);
  for (const places of shared) {
    const own = places.find((place) => place.stage === stage);
    const others = places.map((place) => place.stage).filter((other) => other !== stage);
    if (own !== undefined) senders.set(own.node, others);
  }
  return (node, bytes) => (senders.get(node) ?? []).reduce((all, from) => all + sendPs(from, stage)(bytes), 0);
}

/** Returns the terms of a stage. */
function termsOf(terms: PlanTerms, { shared }: StagedGraph, stage: number, stages: number): PlanTerms {
  const own = shared.flatMap((places) =>
    places.filter((place) => place.stage === stage).map(({ node }) => [node, places.length - 1] as const),
  );
  return { ...terms, inFlight: passesInFlight(stage, stages, terms.microBatches), gradientsFrom: new Map(own) };
}

/** A hand-made plan of a part, by the hand. */
type PartByHand = ReadonlyMap<string, { readonly plan: TensorPlan; readonly cost: PartCost }>;

/** Returns what a part takes by each hand-made plan. What comes from parts before is not counted. */
function partByHand(
  graph: TensorGraph,
  terms: PlanTerms,
  { stated, hands }: Awaited<ReturnType<StateGraph>>,
  comes: readonly StagePlace[],
): PartByHand {
  const { resources } = stated.problem;
  return new Map(
    hands.map(({ hand, choice }) => {
      const plan = planOf(graph, stated, choice);
      const memory = planMemory(plan, planSteps(plan), terms);
      const totals = planTotals(stated.problem, choice)?.totals ?? new Float64Array();
      const cost: PartCost = {
        times: resources.flatMap(({ kind }, r) => (kind === "time" ? [totals[r] as number] : [])),
        lastingBytes:
          memory.parameters +
          memory.gradients +
          memory.optimizer -
          comes.reduce((all, { node }) => all + bytesAt(plan, node), 0),
        keptBytes: memory.activations,
        workingBytes: memory.working,
      };
      return [JSON.stringify(hand), { plan, cost }] as const;
    }),
  );
}

const bytesAt = ({ graph, mesh, nodes }: TensorPlan, node: number): number =>
  localBytes(graph, mesh, graph.nodes[node] as GraphNode, (nodes[node] as NodePlan).pattern);

/**
 * Returns a forward graph cut between its parts (layers) into stages, where a hand-made plan that all of them have takes least (Zheng
 * et al. 2022, 5.2): each part is planned by itself, what it takes and keeps is summed. Of all hand-made plans, the best; where none
 * fits in memory, the one that needs least, cut as if there were enough. Null where there are fewer parts than stages, or no
 * hand-made plans.
 */
export async function cutByHand(
  forward: TensorGraph,
  { stages }: PipelineShape,
  terms: PlanTerms,
  sendPs: (from: number, to: number) => (bytes: number) => number,
  state: StateGraph,
): Promise<CutPipeline | null> {
  const parts = cutParts(forward);
  const count = Math.max(...parts) + 1;
  if (count < stages) return null;
  const uses = dimensionUses(forward);
  const apart = stagedGraph(forward, parts, count);
  const known = new Map<string, PartByHand>();
  const byHand: PartByHand[] = [];
  for (const [p, graph] of apart.graphs.entries()) {
    const memoryBytes = Number.POSITIVE_INFINITY;
    const own = { ...termsOf(terms, apart, p, count), inFlight: 1, memoryBytes, isPlain: true };
    const key = `${graphKey(graph)} ${[...(own.gradientsFrom ?? [])]}`;
    const comes = apart.crossings.filter(({ to }) => to.stage === p).map(({ to }) => to);
    const part = known.get(key) ?? partByHand(graph, own, await state(graph, own, uses), comes);
    known.set(key, part);
    byHand.push(part);
  }
  const hop = sendPs(0, 1);
  const problemOf = (key: string, memoryBytes: number) => {
    const of = (p: number) => byHand[p]?.get(key) as { readonly plan: TensorPlan; readonly cost: PartCost };
    const cuts = apart.graphs.map((_, c): CutCost => {
      const [forwards, backs] = [new Map<string, number>(), new Map<string, number>()];
      for (const { from, to } of apart.crossings) {
        const isForward = from.stage < to.stage;
        const [before, behind] = isForward ? [from.stage, to.stage] : [to.stage, from.stage];
        if (before >= c || behind < c) continue;
        const tensor = isForward ? `${apart.sources[to.stage]?.[to.node]}` : `${to.stage} ${to.node}`;
        (isForward ? forwards : backs).set(tensor, bytesAt(of(to.stage).plan, to.node));
      }
      const all = (bytes: ReadonlyMap<string, number>): number =>
        terms.microBatches * [...bytes.values()].reduce((sum, one) => sum + hop(one), 0);
      const keptBytes = [...forwards.values()].reduce((sum, one) => sum + one, 0);
      return { forwardPs: all(forwards), backwardPs: all(backs), keptBytes };
    });
    const passes = terms.microBatches;
    return { parts: apart.graphs.map((_, p) => of(p).cost), cuts, stages, passes, memoryBytes };
  };
  const keys = [...(byHand[0]?.keys() ?? [])].filter((key) => byHand.every((part) => part.has(key)));
  const problems = keys.map((key) => {
    const problem = problemOf(key, terms.memoryBytes);
    return { key, problem, leastPs: leastOfCuts(problem) };
  });
  let best: { readonly key: string; readonly firsts: readonly number[]; readonly ps: number } | null = null;
  for (const { key, problem, leastPs } of problems.sort((a, b) => a.leastPs - b.leastPs)) {
    if (best !== null && leastPs >= best.ps) break;
    const found = bestCuts(problem);
    if (found !== null && found.ps < (best?.ps ?? Number.POSITIVE_INFINITY)) best = { key, ...found };
  }
  if (best === null) {
    const bytesOf = (key: string): number =>
      byHand.reduce((all, part) => {
        const cost = part.get(key)?.cost;
        return all + (cost?.lastingBytes ?? 0) + (cost?.keptBytes ?? 0);
      }, 0);
    const [least] = keys.sort((a, b) => bytesOf(a) - bytesOf(b));
    if (least === undefined) return null;
    const { firsts } = bestCuts(problemOf(least, Number.POSITIVE_INFINITY)) as { firsts: readonly number[] };
    best = { key: least, firsts, ps: Number.POSITIVE_INFINITY };
  }
  const { firsts, key, ps } = best;
  const staged = stagedGraph(
    forward,
    parts.map((part) => firsts.filter((first) => first <= part).length - 1),
    stages,
  );
  const all = staged.graphs.map((_, s) => termsOf(terms, staged, s, stages));
  return { staged, terms: all, uses, hand: JSON.parse(key) as HandPlan, ps };
}
