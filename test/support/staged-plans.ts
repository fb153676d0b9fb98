import { below, draw } from "../../src/base/random.ts";
import { withGradients } from "../../src/model/tensor-graph/backward.ts";
import { elementsOf, type GraphNode, type TensorGraph } from "../../src/model/tensor-graph/graph.ts";
import type { StagedGraph } from "../../src/model/tensor-graph/stages.ts";
import { meshOf } from "../../src/model/tensor-plan/mesh.ts";
import type { StagePlan } from "../../src/model/tensor-plan/pipeline.ts";
import { type PlanTerms, planOf, planProblem } from "../../src/model/tensor-plan/problem-of.ts";
import { planSteps } from "../../src/model/tensor-plan/steps.ts";
import { randomPlan } from "../model/tensor-plan/random-plan.ts";
import { COSTS } from "./small-plans.ts";

/** Returns numbers for the placeholders of a graph by their names: ids below 8, positions in order, all else around 0. */
export function numbersByName(graph: TensorGraph): Map<string, Float64Array> {
  const numbers = new Map<string, Float64Array>();
  graph.nodes.forEach((node, n) => {
    if (node.kind !== "placeholder") return;
    const of = (i: number): number => {
      if (node.name === "positions") return i;
      if (node.name === "ids of tokens" || node.name === "targets") return draw(7, n, i) % 8;
      return draw(7, n, i) / 2 ** 32 - 0.5;
    };
    numbers.set(
      node.name,
      Float64Array.from({ length: elementsOf(graph, node.dims) }, (_, i) => of(i)),
    );
  });
  return numbers;
}

/** Returns the whole graph with gradients, numbers for it, and [stages] those of placeholders that nobody sends. */
export function stagedNumbers(forward: TensorGraph, staged: StagedGraph) {
  const whole = withGradients(forward);
  const byName = numbersByName(whole);
  const of = (graph: TensorGraph, isOwn: (node: GraphNode, i: number) => boolean): Map<number, Float64Array> =>
    new Map(
      graph.nodes.flatMap((node, i) =>
        node.kind === "placeholder" && isOwn(node, i) ? [[i, byName.get(node.name) as Float64Array] as const] : [],
      ),
    );
  const comes = staged.graphs.map(
    (_, s) => new Set(staged.crossings.filter(({ to }) => to.stage === s).map(({ to }) => to.node)),
  );
  return {
    whole,
    numbers: of(whole, () => true),
    given: staged.graphs.map((graph, s) => of(graph, (_, i) => comes[s]?.has(i) === false)),
  };
}

/** Returns a graph cut at random nodes, or between random parts; null where cuts fall together. */
export function randomStages(
  graph: TensorGraph,
  parts: Int32Array | null,
  count: number,
  seed: number,
): Int32Array | null {
  const last = parts === null ? graph.nodes.length - 1 : Math.max(...parts);
  const cuts = Array.from({ length: count - 1 }, (_, k) => 1 + below(draw(seed, 5, k), last)).sort((a, b) => a - b);
  if (new Set(cuts).size < cuts.length) return null;
  return Int32Array.from(graph.nodes, (_, i) => cuts.filter((cut) => cut <= (parts === null ? i : parts[i])).length);
}

/** Returns random plans of all stages in 1F1B; null where some stage came to an end without one. */
export function randomPlans(
  { graphs, shared }: StagedGraph,
  shape: readonly number[],
  common: PlanTerms,
  seed: number,
): StagePlan[] | null {
  const stages: StagePlan[] = [];
  for (const [s, graph] of graphs.entries()) {
    const own = shared.flatMap((all) =>
      all.filter(({ stage }) => stage === s).map(({ node }) => [node, all.length - 1] as const),
    );
    const inFlight = Math.min(common.microBatches, graphs.length - s);
    const terms = { ...common, inFlight, gradientsFrom: new Map(own) };
    const stated = planProblem(graph, meshOf(shape), COSTS, terms);
    let choice = null;
    for (let k = 0; choice === null && k < 300; k++) choice = randomPlan(stated.problem, 1000 * seed + 300 * s + k);
    if (choice === null) return null;
    const plan = planOf(graph, stated, choice);
    stages.push({ plan, steps: planSteps(plan), terms });
  }
  return stages;
}
