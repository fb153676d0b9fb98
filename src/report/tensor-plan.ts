import { toUs } from "../model/numbers/units.ts";
import { dimensionUses } from "../model/tensor-graph/dimension-uses.ts";
import type { Dimension, GraphNode, TensorGraph } from "../model/tensor-graph/graph.ts";
import type { PlanMemory } from "../model/tensor-plan/lifetimes.ts";
import type { Mesh } from "../model/tensor-plan/mesh.ts";
import { PARTIAL, type Pattern, REPLICATED, shardCount, shardedAt, stateOn } from "../model/tensor-plan/patterns.ts";
import type { StagePlan } from "../model/tensor-plan/pipeline.ts";
import type { NodePlan, TensorPlan } from "../model/tensor-plan/plan.ts";
import { NOT_DEALT, RESULT, type WorkRule } from "../model/tensor-plan/rules.ts";
import { axesText } from "../model/tensor-plan/tasks.ts";
import { tensorBytes, workOf } from "../model/tensor-plan/work.ts";

/** Returns a pattern in words, an axis each: the dimension by which it is dealt, "whole" or "summand"; "samples | whole". */
export function patternText(
  { dimensions }: TensorGraph,
  { axes }: Mesh,
  { dims }: GraphNode,
  pattern: Pattern,
): string {
  return axes
    .map((_, j) => {
      const state = stateOn(pattern, j);
      if (state === REPLICATED) return "whole";
      if (state === PARTIAL) return "summand";
      return (dimensions[dims[shardedAt(state)] as number] as Dimension).name;
    })
    .join(" | ");
}

/** What an axis is used for, in words, with the share of the products' operations that it deals so. */
export interface AxisStrategy {
  readonly axis: string;
  readonly size: number;
  readonly uses: readonly { readonly name: string; readonly share: number }[];
}

/** Below this share of the operations a use is not told. */
const LEAST_SHARE = 0.05;

/**
 * Returns what people call what a plan does on each axis, by the operations of its forward products: data parallel (with optimiser
 * states or parameters shared, ZeRO and FSDP), sequence, tensor, expert parallel, or the same on all NPUs. O(nodes).
 */
export function strategiesOf({ graph, mesh, nodes: plans }: TensorPlan): AxisStrategy[] {
  const uses = dimensionUses(graph);
  const [samples] = uses.data;
  const nameOf = (dim: number): string => {
    if (dim === NOT_DEALT) return "the same on all";
    if (dim === samples) return "data";
    if (uses.data.includes(dim)) return "sequence";
    return uses.experts.includes(dim) ? "expert" : "tensor";
  };
  return mesh.axes.map(({ name: axis, size }, j) => {
    const flopsOf = new Map<string, number>();
    let all = 0;
    graph.nodes.forEach((node, i) => {
      const { rule } = plans[i] as NodePlan;
      if (node.kind !== "einsum" || node.phase !== "forward" || rule === null) return;
      const flops = workOf(graph, mesh, node, rule).flops * (rule.stream?.pieces ?? 1);
      const name = nameOf(rule.along[j] as number);
      flopsOf.set(name, (flopsOf.get(name) ?? 0) + flops);
      all += flops;
    });
    const shared = sharedText(graph, plans, j);
    const told = [...flopsOf]
      .filter(([, flops]) => flops >= LEAST_SHARE * all)
      .sort(([, a], [, b]) => b - a)
      .map(([name, flops]) => ({ name: name === "data" ? `data${shared}` : name, share: all === 0 ? 0 : flops / all }));
    return { axis, size, uses: told };
  });
}

/** Returns what copies along an axis share: parameters that lie dealt and are gathered to be used, or only what updates them. */
function sharedText(graph: TensorGraph, plans: readonly NodePlan[], j: number): string {
  let gathered = 0;
  let updated = 0;
  let all = 0;
  graph.nodes.forEach((node, i) => {
    if (node.kind !== "placeholder" || node.role !== "parameter") return;
    const { pattern, home, forwardCopies } = plans[i] as NodePlan;
    const bytes = tensorBytes(graph, node);
    all += bytes;
    const isDealt = (one: Pattern): boolean => shardedAt(stateOn(one, j)) >= 0;
    if (isDealt(pattern) && forwardCopies.some((copy) => !isDealt(copy))) gathered += bytes;
    if (isDealt(home)) updated += bytes;
  });
  if (gathered > all / 2) return ", parameters shared (FSDP)";
  return updated > all / 2 ? ", optimizer shared (ZeRO)" : "";
}

/** A collective of a plan as it is made on the network. */
export interface CostedCollective {
  readonly collective: string;
  /** The axes whose groups have it at the same time. */
  readonly axes: string;
  readonly groupCount: number;
  readonly groupSize: number;
  /** nccl-tests size. */
  readonly bytes: number;
  /** In a step. */
  readonly times: number;
  /** Alone on the network, one of them. */
  readonly us: number;
  readonly algorithm: string;
}

/** Where tensors lie that are alike. */
export interface PlannedTensor {
  /** 1 the first. */
  readonly stage: number;
  readonly name: string;
  /** Tensors of repeated parts that lie the same. */
  readonly count: number;
  readonly kind: string;
  readonly phase: string;
  readonly dims: readonly string[];
  readonly bytes: number;
  /** Of one NPU. */
  readonly ownBytes: number;
  readonly pattern: string;
  readonly retention: string;
  /** How its product is streamed: "all-gather on A in 4 pieces"; null where it is not. */
  readonly streamed: string | null;
  /** Of a parameter: where its optimiser's state lies; null where that is the same. */
  readonly home: string | null;
  /** Patterns to which it is brought, by phase. */
  readonly copies: {
    readonly forward: readonly string[];
    readonly backward: readonly string[];
    readonly update: readonly string[];
  };
}

/** Returns how a product is streamed: "all-gather on A in 4 pieces"; null where it is not. */
export function streamText(mesh: Mesh, rule: WorkRule | null): string | null {
  if (rule?.stream === undefined) return null;
  const { of, axes, pieces } = rule.stream;
  return `${of === RESULT ? "reduce-scatter" : "all-gather"} on ${axesText(mesh, axes)} in ${pieces} pieces`;
}

/** Returns where all tensors lie, a row for those of a class of nodes that lie and are brought alike. O(nodes). */
export function plannedTensors({ graph, mesh, nodes: plans }: TensorPlan, stage: number): PlannedTensor[] {
  const rows = new Map<string, PlannedTensor>();
  graph.nodes.forEach((node, i) => {
    if (node.kind === "output") return;
    const { rule, pattern, home, retention, forwardCopies, backwardCopies, updateCopies } = plans[i] as NodePlan;
    const text = (one: Pattern): string => patternText(graph, mesh, node, one);
    const bytes = tensorBytes(graph, node);
    const key = [graph.classes[i], forwardCopies, backwardCopies, updateCopies].join("|");
    rows.set(key, {
      stage,
      name: node.name,
      kind: node.kind === "placeholder" ? node.role : node.kind,
      phase: node.phase,
      dims: node.dims.map((dim) => (graph.dimensions[dim] as Dimension).name),
      bytes,
      ownBytes: node.isFused ? 0 : bytes / shardCount(mesh, pattern),
      pattern: text(pattern),
      retention: node.kind === "placeholder" ? "kept" : retention,
      streamed: streamText(mesh, rule),
      home: home === pattern ? null : text(home),
      copies: { forward: forwardCopies.map(text), backward: backwardCopies.map(text), update: updateCopies.map(text) },
      // the first of them gives the name
      ...rows.get(key),
      count: (rows.get(key)?.count ?? 0) + 1,
    });
  });
  return [...rows.values()];
}

/** What the report says of a stage. */
export interface StageRow {
  /** What it computes first and last in a forward pass. */
  readonly from: string;
  readonly to: string;
  readonly strategies: readonly AxisStrategy[];
  readonly memory: Omit<PlanMemory, "at"> & { readonly at: string };
  /** Of all passes. */
  readonly countedUs: number;
}

/** What the report of one plan says. */
export interface PlanRow {
  /** Of a stage. */
  readonly mesh: readonly { readonly name: string; readonly size: number }[];
  readonly passes: number;
  readonly us: number;
  readonly countedUs: number;
  /** Of the first stage. */
  readonly strategies: readonly AxisStrategy[];
  /** Of the stage that takes most. */
  readonly memory: StageRow["memory"];
  readonly againCount: number;
  /** One or more. */
  readonly stages: readonly StageRow[];
}

/** Returns a plan in figures. O(nodes). */
export function planRow({
  stages,
  ps,
  countedPs,
}: {
  readonly stages: readonly (StagePlan & { readonly memory: PlanMemory; readonly countedPs: number })[];
  readonly ps: number;
  readonly countedPs: number;
}): PlanRow {
  const rows = stages.map(({ plan, memory, countedPs: own }): StageRow => {
    const work = plan.graph.nodes.filter(
      ({ kind, phase, isFused }) => kind !== "placeholder" && kind !== "output" && phase === "forward" && !isFused,
    );
    return {
      from: work[0]?.name ?? "",
      to: work.at(-1)?.name ?? "",
      strategies: strategiesOf(plan),
      memory: { ...memory, at: plan.graph.nodes[memory.at]?.name ?? "" },
      countedUs: toUs(own),
    };
  });
  const [first] = rows as [StageRow];
  const { plan, terms } = stages[0] as StagePlan;
  const isAgain = ({ plan: { graph, nodes } }: StagePlan): number =>
    nodes.filter(({ retention }, i) => retention === "again" && graph.nodes[i]?.isFused === false).length;
  return {
    mesh: plan.mesh.axes.map(({ name, size }) => ({ name, size })),
    passes: terms.microBatches,
    us: toUs(ps),
    countedUs: toUs(countedPs),
    strategies: first.strategies,
    memory: rows.reduce((most, row) => (row.memory.total > most.total ? row.memory : most), first.memory),
    againCount: stages.reduce((all, stage) => all + isAgain(stage), 0),
    stages: rows,
  };
}
