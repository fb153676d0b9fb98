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
import type { ChoiceMeaning, PlanIndex, StatedProblem } from "../../model/tensor-plan/problem-of.ts";
import { NOT_DEALT, takesNoSummand } from "../../model/tensor-plan/rules.ts";

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

/** A class of nodes, as plans by hand see it. */
interface DealtClass {
  readonly node: GraphNode;
  /** Its chooser. */
  readonly at: number;
  /** Dimensions along which its work may be dealt. */
  readonly labels: ReadonlySet<number>;
  /** Of the classes that take what is made inside a kernel: the same. */
  readonly fusedLabels: readonly ReadonlySet<number>[];
  /** Forward nodes that take its tensor. */
  readonly takers: number;
  /** One of its nodes is taken in another part. */
  readonly isCrossing: boolean;
  /** Chooser of its update; -1 where there is none. */
  readonly update: number;
}

/**
 * Returns what gives the plans that hand-made ones of some uses of axes mean, null for each that cannot be done: every node deals its
 * work, on each axis, along the first dimension of the axis's use that it has, else all NPUs of the axis do the same; parameters lie
 * along those dimensions too, and where they are shared along the greatest that is left on the other axes. Column and row parallel
 * products of Megatron-LM (Shoeybi et al. 2019), with what is between them along the sequence or not (Korthikanti et al. 2022), are
 * "tensor"; copies are what demands ask for, and nothing is streamed. O(choices + copies + nodes) once, then O(classes) a plan.
 */
function plannerByHand(
  graph: TensorGraph,
  { problem, index }: StatedProblem,
  uses: DimensionUses,
): (uses: readonly AxisUse[]) => (sharing: Sharing, remaking: Remaking) => PlanChoice | null {
  const { mesh, choosers, supplies } = problem;
  const classes = dealtClasses(graph, index);
  /** [choosers] numbers of the choices of a rule by retention, by what it deals along. */
  const byRule = choosers.map((_, v) => {
    const found = new Map<string, Map<Retention, number>>();
    (index.meanings[v] as readonly ChoiceMeaning[]).forEach(({ rule, retention }, choice) => {
      if (rule === null || rule.stream !== undefined || !takesNoSummand(mesh, rule)) return;
      const key = rule.along.join();
      const known = found.get(key) ?? new Map<Retention, number>();
      if (!known.has(retention)) known.set(retention, choice);
      found.set(key, known);
    });
    return found;
  });
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
  const withCopies = (choices: Int32Array): PlanChoice | null => {
    const copies: Set<number>[] = supplies.map(() => new Set());
    for (let v = 0; v < choosers.length; v++) {
      const { demands } = (choosers[v] as Chooser).choices[choices[v] as number] as Choice;
      for (const { supply, pattern } of demands) {
        const { chooser, wantsKept } = supplies[supply] as Supply;
        const made = (choosers[chooser] as Chooser).choices[choices[chooser] as number] as Choice;
        if (wantsKept && !made.isKept) return null;
        if (isFree(mesh, made.pattern, pattern)) continue;
        const copy = byEnds[supply]?.get(made.pattern)?.get(pattern);
        if (copy === undefined) return null;
        (copies[supply] as Set<number>).add(copy);
      }
    }
    return { choices, copies: copies.map((set) => [...set].sort((a, b) => a - b)) };
  };
  const isWanted = new Uint8Array(choosers.length);
  /** Neither keeps nor makes again what nobody takes in the backward pass, nor what only that is made of. */
  const dropUnwanted = (choices: Int32Array, rules: readonly (ReadonlyMap<Retention, number> | undefined)[]): void => {
    for (let isLess = true; isLess; ) {
      isLess = false;
      isWanted.fill(0);
      choosers.forEach(({ choices: own }, v) => {
        for (const { supply } of (own[choices[v] as number] as Choice).demands) {
          const { chooser, wantsKept } = supplies[supply] as Supply;
          if (wantsKept) isWanted[chooser] = 1;
        }
      });
      for (let v = 0; v < choosers.length; v++) {
        const dropped = isWanted[v] === 1 ? undefined : rules[v]?.get("dropped");
        if (dropped === undefined || dropped === choices[v]) continue;
        choices[v] = dropped;
        isLess = true;
      }
    }
  };
  return (axisUses) => {
    const lists = axisUses.map((use) => listOf(use, uses));
    const rules: (ReadonlyMap<Retention, number> | undefined)[] = [];
    /** [choosers] of placeholders: where they lie alone, and shared. */
    const places: { readonly own: Pattern; readonly all: Pattern }[] = [];
    for (const { node, at, labels, fusedLabels } of classes) {
      const along = alongOf(graph, mesh, labels, lists);
      if (node.kind === "placeholder") {
        const own = patternAlong(node, along);
        places[at] = { own, all: node.role === "parameter" ? sharedOut(graph, mesh, node, own) : own };
        continue;
      }
      const ofTakers = fusedLabels.map((taker) => alongOf(graph, mesh, taker, lists));
      // nothing is moved inside a kernel: what a taker deals otherwise is whole
      const common = along.map((dim, j) => (ofTakers.every((taken) => taken[j] === dim) ? dim : NOT_DEALT));
      rules[at] = byRule[at]?.get(common.join());
      if (rules[at] === undefined) return () => null;
    }
    return (sharing, remaking) => {
      const choices = new Int32Array(choosers.length).fill(-1);
      for (const { node, at, takers, isCrossing, update } of classes) {
        if (node.kind === "placeholder") {
          const { own, all } = places[at] as { own: Pattern; all: Pattern };
          choices[at] = byPattern[at]?.get(sharing === "parameters" ? all : own) ?? -1;
          if (update >= 0) choices[update] = byPattern[update]?.get(sharing === "none" ? own : all) ?? -1;
          continue;
        }
        const retentions = [retentionOf(node, remaking, takers, isCrossing), "again", "dropped"] as const;
        choices[at] = retentions.map((one) => rules[at]?.get(one)).find((one) => one !== undefined) ?? -1;
      }
      if (choices.includes(-1)) return null;
      dropUnwanted(choices, rules);
      return withCopies(choices);
    };
  };
}

/** Returns the classes of a graph as plans by hand see them. O(nodes). */
function dealtClasses(graph: TensorGraph, index: PlanIndex): DealtClass[] {
  const { nodes, classes } = graph;
  const { part } = forwardParts(graph);
  const takers = new Int32Array(nodes.length);
  const firsts = new Map<number, number>();
  const crossing = new Set<number>();
  /** Classes that take what is made inside a kernel, by its class. */
  const fusedTakers = new Map<number, Set<number>>();
  nodes.forEach((node, i) => {
    if (node.kind === "output") return;
    const c = classes[i] as number;
    if (!firsts.has(c)) firsts.set(c, i);
    if (node.phase !== "forward") return;
    for (const { node: of } of operandsOf(node)) {
      takers[of]++;
      const made = classes[of] as number;
      if (part[i] !== part[of]) crossing.add(made);
      if (nodes[of]?.isFused) fusedTakers.set(made, (fusedTakers.get(made) ?? new Set()).add(c));
    }
  });
  const labelsOf = (c: number): ReadonlySet<number> => dealtLabels(nodes[firsts.get(c) as number] as GraphNode);
  return [...firsts].map(([c, i]) => ({
    node: nodes[i] as GraphNode,
    at: index.chooserOf[c] as number,
    labels: labelsOf(c),
    fusedLabels: [...(fusedTakers.get(c) ?? [])].map(labelsOf),
    takers: takers[i] as number,
    isCrossing: crossing.has(c),
    update: index.updateOf[c] as number,
  }));
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

const sizeOf = ({ dimensions }: TensorGraph, dim: number): number => (dimensions[dim] as Dimension).size;

/** Returns the dimensions along which a node's work may be dealt. */
function dealtLabels(node: GraphNode): ReadonlySet<number> {
  if (node.kind === "elementwise") return new Set(node.dims.filter((dim) => !node.whole.includes(dim)));
  return new Set([...node.dims, ...operandsOf(node).flatMap(({ dims }) => dims)]);
}

/** Returns along which dimension each axis deals a node's work: the first of its list that the node has and that is even. */
function alongOf(
  graph: TensorGraph,
  { axes }: Mesh,
  labels: ReadonlySet<number>,
  lists: readonly (readonly number[])[],
): number[] {
  const along: number[] = [];
  const isEven = (dim: number, j: number): boolean =>
    sizeOf(graph, dim) % along.reduce((all, one, k) => (one === dim ? all * sizeOn(axes, k) : all), sizeOn(axes, j)) ===
    0;
  lists.forEach((list, j) => {
    const dim = sizeOn(axes, j) === 1 ? undefined : list.find((one) => labels.has(one) && isEven(one, j));
    along.push(dim ?? NOT_DEALT);
  });
  return along;
}

const sizeOn = (axes: readonly MeshAxis[], j: number): number => (axes[j] as MeshAxis).size;

/** Returns the pattern of a placeholder that the axes deal along some dimensions. */
const patternAlong = ({ dims }: GraphNode, along: readonly number[]): Pattern =>
  along.reduce(
    (pattern, dim, j) => (dim === NOT_DEALT ? pattern : withState(pattern, j, shardAlong(dims.indexOf(dim)))),
    ALL_REPLICATED,
  );

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
 * O(6 ** axes x classes).
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
    const planOfUses = planByHand(axisUses);
    for (const sharing of SHARINGS) {
      for (const remaking of REMAKINGS) {
        const choice = planOfUses(sharing, remaking);
        const totals = choice === null ? null : planTotals(problem, choice);
        const hand = { uses: axisUses, sharing, remaking };
        if (choice !== null && totals !== null) made.push({ hand, choice, ps: totals.ps, fits: totals.fits });
      }
    }
  }
  return made.sort((a, b) => Number(b.fits) - Number(a.fits) || a.ps - b.ps);
}
