import { type DimensionUses, dimensionUses } from "../../model/tensor-graph/dimension-uses.ts";
import { type Dimension, type GraphNode, operandsOf, type TensorGraph } from "../../model/tensor-graph/graph.ts";
import { forwardParts } from "../../model/tensor-graph/parts.ts";
import type { Mesh, MeshAxis } from "../../model/tensor-plan/mesh.ts";
import {
  ALL_REPLICATED,
  type Pattern,
  shardAlong,
  shardedAt,
  stateOn,
  withState,
} from "../../model/tensor-plan/patterns.ts";
import type { Retention } from "../../model/tensor-plan/plan.ts";
import {
  type Choice,
  type Chooser,
  isFree,
  type PlanChoice,
  planTotals,
  type Supply,
} from "../../model/tensor-plan/problem.ts";
import type { ChoiceMeaning, StatedProblem } from "../../model/tensor-plan/problem-of.ts";
import { NOT_DEALT } from "../../model/tensor-plan/rules.ts";

/** What an axis is used for, as people call it. */
export const AXIS_USES = ["data", "sequence", "tensor", "tensor and sequence", "expert", "nothing"] as const;
export type AxisUse = (typeof AXIS_USES)[number];

/** What copies of the model share (ZeRO, Rajbhandari et al. 2020): nothing, optimiser states, parameters too (FSDP). */
export const SHARINGS = ["none", "optimizer", "parameters"] as const;
export type Sharing = (typeof SHARINGS)[number];

/**
 * What is made again instead of kept: nothing, elementwise nodes, all but what several nodes take, all but what goes from one
 * repeated part to the next (layers' inputs: full recomputation).
 */
export const REMAKINGS = ["none", "elementwise", "most", "all"] as const;
export type Remaking = (typeof REMAKINGS)[number];

/** A plan as people write it by hand: what each axis is used for. */
export interface HandPlan {
  /** [axes] */
  readonly uses: readonly AxisUse[];
  readonly sharing: Sharing;
  readonly remaking: Remaking;
}

/** A hand-made plan and what it takes. */
export interface MadeByHand {
  readonly hand: HandPlan;
  readonly choice: PlanChoice;
  readonly ps: number;
  readonly fits: boolean;
}

/** Returns the dimensions along which an axis deals work, the first that a node has. */
function listOf(use: AxisUse, { data, weights, experts }: DimensionUses): readonly number[] {
  const [samples, tokens] = [data.slice(0, 1), data.slice(1)];
  switch (use) {
    case "data":
      return samples;
    case "sequence":
      return tokens;
    case "tensor":
      return weights;
    case "tensor and sequence":
      return [...weights, ...tokens];
    case "expert":
      return [...experts, ...samples];
    case "nothing":
      return [];
  }
}

/**
 * Returns what gives the plan that a hand-made one means, or null where it cannot be done: every node deals its work, on each axis,
 * along the first dimension of the axis's use that it has, else all NPUs of the axis do the same; parameters lie along those
 * dimensions too, and where they are shared along the greatest that is left on the other axes. Column and row parallel products of
 * Megatron-LM (Shoeybi et al. 2019), with what is between them along the sequence or not (Korthikanti et al. 2022), are "tensor";
 * copies are what demands ask for, and nothing is streamed. O(choices + copies) once, then O(nodes) a plan.
 */
function plannerByHand(
  graph: TensorGraph,
  { problem, index }: StatedProblem,
  uses: DimensionUses,
): (hand: HandPlan) => PlanChoice | null {
  const { mesh, choosers, supplies } = problem;
  const takers = new Map<number, number>();
  /** Nodes that take what is made inside a kernel, by its class. */
  const fusedTakers = new Map<number, GraphNode[]>();
  /** Classes of which a node is taken in another part. */
  const crossing = new Set<number>();
  const { part } = forwardParts(graph);
  const first = new Map<number, { readonly node: GraphNode; readonly i: number }>();
  for (const [i, node] of graph.nodes.entries()) {
    if (node.kind === "output") continue;
    const c = graph.classes[i] as number;
    if (!first.has(c)) first.set(c, { node, i });
    if (node.phase !== "forward") continue;
    for (const { node: of } of operandsOf(node)) {
      takers.set(of, (takers.get(of) ?? 0) + 1);
      const made = graph.classes[of] as number;
      if (part[i] !== part[of]) crossing.add(made);
      if (graph.nodes[of]?.isFused) fusedTakers.set(made, [...(fusedTakers.get(made) ?? []), node]);
    }
  }
  /** [choosers] number of the choice of a rule, by what it deals along, and a retention. */
  const byRule = choosers.map(({ choices }, v) =>
    firstAt(choices, (_, choice) => {
      const { rule, retention } = (index.meanings[v] as readonly ChoiceMeaning[])[choice] as ChoiceMeaning;
      return rule !== null && rule.stream === undefined && isPlain(rule.operands, mesh)
        ? `${rule.along} ${retention}`
        : null;
    }),
  );
  const byPattern = choosers.map(({ choices }) => firstAt(choices, ({ pattern }) => pattern));
  const byEnds = supplies.map(({ copies }) => {
    const found = new Map<Pattern, Map<Pattern, number>>();
    copies.forEach(({ from, to }, at) => {
      const known = found.get(from) ?? new Map<Pattern, number>();
      if (!known.has(to)) known.set(to, at);
      found.set(from, known);
    });
    return found;
  });
  return ({ uses: axisUses, sharing, remaking }) => {
    const lists = axisUses.map((use) => listOf(use, uses));
    const choices = new Int32Array(choosers.length).fill(-1);
    for (const [c, { node, i }] of first) {
      const at = index.chooserOf[c] as number;
      if (node.kind === "placeholder") {
        const isParameter = node.role === "parameter";
        const own = patternAlong(graph, mesh, node, lists);
        const all = isParameter ? sharedOut(graph, mesh, node, own) : own;
        choices[at] = byPattern[at]?.get(sharing === "parameters" ? all : own) ?? -1;
        const update = index.updateOf[c] as number;
        if (update >= 0) choices[update] = byPattern[update]?.get(sharing === "none" ? own : all) ?? -1;
        continue;
      }
      const own = alongOf(graph, mesh, node, lists);
      const ofTakers = (fusedTakers.get(c) ?? []).map((taker) => alongOf(graph, mesh, taker, lists));
      // nothing is moved inside a kernel: what a taker deals otherwise is whole
      const along = own.map((dim, j) => (ofTakers.every((taken) => taken[j] === dim) ? dim : NOT_DEALT));
      const retentions = [retentionOf(node, remaking, takers.get(i) ?? 0, crossing.has(c)), "again", "dropped"];
      choices[at] =
        retentions.map((retention) => byRule[at]?.get(`${along} ${retention}`)).find((one) => one !== undefined) ?? -1;
    }
    if (choices.some((choice) => choice < 0)) return null;
    const copies: Set<number>[] = supplies.map(() => new Set());
    const chosen = (v: number): Choice => (choosers[v] as Chooser).choices[choices[v] as number] as Choice;
    // what nobody takes in the backward pass is neither kept nor made again, nor what only that is made of
    for (let isLess = true; isLess; ) {
      isLess = false;
      const wanted = new Set(
        choosers.flatMap((_, v) =>
          chosen(v).demands.flatMap(({ supply }) => {
            const { chooser, wantsKept } = supplies[supply] as Supply;
            return wantsKept ? [chooser] : [];
          }),
        ),
      );
      for (let v = 0; v < choosers.length; v++) {
        const { rule, retention } = (index.meanings[v] as readonly ChoiceMeaning[])[
          choices[v] as number
        ] as ChoiceMeaning;
        const dropped =
          rule === null || retention === "dropped" || wanted.has(v)
            ? undefined
            : byRule[v]?.get(`${rule.along} dropped`);
        if (dropped === undefined) continue;
        choices[v] = dropped;
        isLess = true;
      }
    }
    for (let v = 0; v < choosers.length; v++) {
      for (const { supply, pattern } of chosen(v).demands) {
        const { chooser, wantsKept } = supplies[supply] as Supply;
        const made = chosen(chooser);
        if (wantsKept && !made.isKept) return null;
        if (isFree(mesh, made.pattern, pattern)) continue;
        const copy = byEnds[supply]?.get(made.pattern)?.get(pattern);
        if (copy === undefined) return null;
        (copies[supply] as Set<number>).add(copy);
      }
    }
    return { choices, copies: copies.map((set) => [...set].sort((a, b) => a - b)) };
  };
}

/** Returns the first place of each key in a list; what has none is left out. */
function firstAt<One, Key>(list: readonly One[], keyOf: (one: One, at: number) => Key | null): Map<Key, number> {
  const found = new Map<Key, number>();
  list.forEach((one, at) => {
    const key = keyOf(one, at);
    if (key !== null && !found.has(key)) found.set(key, at);
  });
  return found;
}

/** Whether no operand is taken as a summand. */
const isPlain = (operands: readonly Pattern[], { axes }: Mesh): boolean =>
  operands.every((pattern) => axes.every((_, j) => stateOn(pattern, j) === 0 || shardedAt(stateOn(pattern, j)) >= 0));

const sizeOf = ({ dimensions }: TensorGraph, dim: number): number => (dimensions[dim] as Dimension).size;

/** Returns along which dimension each axis deals a node's work: the first of its list that the node has and that is even. */
function alongOf(graph: TensorGraph, { axes }: Mesh, node: GraphNode, lists: readonly (readonly number[])[]): number[] {
  const labels = new Set([...node.dims, ...operandsOf(node).flatMap(({ dims }) => dims)]);
  if (node.kind === "elementwise") for (const dim of node.whole) labels.delete(dim);
  const parts = new Map<number, number>();
  return lists.map((list, j) => {
    const { size } = axes[j] as MeshAxis;
    if (size === 1) return NOT_DEALT;
    for (const dim of list) {
      const count = (parts.get(dim) ?? 1) * size;
      if (!labels.has(dim) || sizeOf(graph, dim) % count !== 0) continue;
      if (node.kind === "elementwise" && !node.dims.includes(dim)) continue;
      parts.set(dim, count);
      return dim;
    }
    return NOT_DEALT;
  });
}

/** Returns the pattern of a placeholder along the dimensions of the axes' lists. */
function patternAlong(graph: TensorGraph, mesh: Mesh, node: GraphNode, lists: readonly (readonly number[])[]): Pattern {
  return alongOf(graph, mesh, node, lists).reduce(
    (pattern, dim, j) => (dim === NOT_DEALT ? pattern : withState(pattern, j, shardAlong(node.dims.indexOf(dim)))),
    ALL_REPLICATED,
  );
}

/** Returns a pattern dealt on the axes that do not deal it yet, each along the dimension of which most is left. */
function sharedOut(graph: TensorGraph, mesh: Mesh, { dims }: GraphNode, pattern: Pattern): Pattern {
  const left = dims.map((dim) => sizeOf(graph, dim));
  mesh.axes.forEach(({ size }, j) => {
    const at = shardedAt(stateOn(pattern, j));
    if (at >= 0) left[at] = (left[at] as number) / size;
  });
  let shared = pattern;
  mesh.axes.forEach(({ size }, j) => {
    if (size === 1 || shardedAt(stateOn(pattern, j)) >= 0) return;
    const possible = left.map((count, at) => (count % size === 0 ? at : -1)).filter((at) => at >= 0);
    if (possible.length === 0) return;
    const at = possible.reduce((best, other) => ((left[other] as number) > (left[best] as number) ? other : best));
    shared = withState(shared, j, shardAlong(at));
    left[at] = (left[at] as number) / size;
  });
  return shared;
}

function retentionOf(node: GraphNode, remaking: Remaking, takers: number, isCrossing: boolean): Retention {
  if (node.phase === "backward") return "dropped";
  if (node.isFused) return "again";
  if (remaking === "all") return isCrossing ? "kept" : "again";
  if (remaking === "none" || takers > 1) return "kept";
  return remaking === "most" || node.kind === "elementwise" ? "again" : "kept";
}

/**
 * Returns the grid of hand-made plans on a mesh, fastest first, those that fit before those that do not: every use of every axis,
 * every sharing, every way of making things again. `uses`: of a graph that this one is a part of, what its dimensions are for.
 * O(6 ** axes x nodes).
 */
export function plansByHand(
  graph: TensorGraph,
  stated: StatedProblem,
  uses: DimensionUses = dimensionUses(graph),
): MadeByHand[] {
  const { problem } = stated;
  const { axes } = problem.mesh;
  const isAlone = (j: number): boolean => axes[j]?.size === 1;
  const hasExperts = uses.experts.length > 0;
  let all: AxisUse[][] = [[]];
  for (let j = 0; j < axes.length; j++) {
    const possible = isAlone(j) ? (["nothing"] as const) : AXIS_USES.filter((use) => use !== "expert" || hasExperts);
    all = all.flatMap((uses) => possible.map((use) => [...uses, use]));
  }
  const made: MadeByHand[] = [];
  const planByHand = plannerByHand(graph, stated, uses);
  for (const axisUses of all) {
    for (const sharing of SHARINGS) {
      for (const remaking of REMAKINGS) {
        const hand = { uses: axisUses, sharing, remaking };
        const choice = planByHand(hand);
        const totals = choice === null ? null : planTotals(problem, choice);
        if (choice !== null && totals !== null) made.push({ hand, choice, ps: totals.ps, fits: totals.fits });
      }
    }
  }
  return made.sort((a, b) => Number(b.fits) - Number(a.fits) || a.ps - b.ps);
}
