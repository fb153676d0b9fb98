import { collectiveName } from "../../model/collective/collective.ts";
import { toUs } from "../../model/numbers/units.ts";
import { type Dimension, type GraphNode, operandsOf, type TensorGraph } from "../../model/tensor-graph/graph.ts";
import { PARTIAL, type Pattern, REPLICATED, shardedAt, stateOn } from "../../model/tensor-plan/patterns.ts";
import type { NodePlan } from "../../model/tensor-plan/plan.ts";
import type { PlanStep } from "../../model/tensor-plan/steps.ts";
import { axesText } from "../../model/tensor-plan/tasks.ts";
import { localBytes, tensorBytes } from "../../model/tensor-plan/work.ts";
import { askedCollective } from "../../model/workload/asked-collective.ts";
import { streamText } from "../../report/tensor-plan.ts";
import type { PlannedStage, PlannedStep } from "../../run/plan/ways.ts";
import type {
  AxisLie,
  GivenTensor,
  PlanNode,
  PlannedCopy,
  PlannedMove,
  PlanPart,
  TensorFacts,
} from "../plan-protocol.ts";

/** A plan as pictures: what each pass does in one of the parts that repeat, and in what is done once. */

type When = PlannedCopy["when"];
type Phase = PlanPart["phase"];
type Compute = Extract<PlanStep, { kind: "compute" }>;
type Moved = Extract<PlanStep, { kind: "move" }>;
type Drawn = Pick<PlannedStage, "plan" | "steps"> & Pick<PlannedStep, "placed" | "simulated">;

/** The steps of a plan, with what leads from one to the other. */
interface Flow {
  readonly graph: TensorGraph;
  readonly steps: readonly PlanStep[];
  /** [values] the step that makes each; -1 of what is there before. */
  readonly makerOf: Int32Array;
  /** [values] steps that take each. */
  readonly takersOf: readonly (readonly number[])[];
  /** [steps] */
  readonly when: readonly When[];
}

function flowOf({ plan: { graph }, steps: { steps, values } }: Drawn): Flow {
  const makerOf = new Int32Array(values.length).fill(-1);
  const takersOf: number[][] = values.map(() => []);
  steps.forEach(({ kind, makes, takes }, s) => {
    // nothing here makes the gradient of an output
    if (kind !== "answer") makerOf[makes] = s;
    for (const value of takes) takersOf[value]?.push(s);
  });
  const when: When[] = steps.map(() => "update");
  // a move is for those that take what it brings, which stand behind it
  for (let s = steps.length - 1; s >= 0; s--) {
    const step = steps[s] as PlanStep;
    if (step.kind === "compute")
      when[s] = step.isAgain || graph.nodes[step.node]?.phase === "backward" ? "backward" : "forward";
    else if (step.kind === "move") {
      const [first] = takersOf[step.makes] as number[];
      when[s] = first === undefined ? "update" : (when[first] as When);
    }
  }
  return { graph, steps, makerOf, takersOf, when };
}

/** Steps of a pass that stand for those of all equal parts: indices of steps, in their order. */
interface Window {
  readonly steps: readonly number[];
  readonly count: number;
}

/**
 * Returns the windows of a pass: neighbours whose classes come equally often are parts that repeat, and one from the middle stands
 * for all of them, for the first and the last have other neighbours. O(steps).
 */
function windowsOf({ graph, steps, when }: Flow, phase: Phase): Window[] {
  const sequence = steps.flatMap((step, s) => (step.kind === "compute" && when[s] === phase ? [s] : []));
  const classOf = (at: number): number => graph.classes[(steps[sequence[at] as number] as Compute).node] as number;
  const placesOf = new Map<number, number[]>();
  sequence.forEach((_, at) => {
    placesOf.set(classOf(at), [...(placesOf.get(classOf(at)) ?? []), at]);
  });
  const sections: { count: number; classes: number[] }[] = [];
  for (const [of, { length: count }] of placesOf) {
    const last = sections.at(-1);
    if (last?.count === count) last.classes.push(of);
    else sections.push({ count, classes: [of] });
  }
  const covered = new Set<number>();
  const windows: Window[] = [];
  for (const { count, classes } of sections) {
    const left = classes.filter((of) => !covered.has(of));
    const [first] = left;
    if (first === undefined) continue;
    const places = placesOf.get(first) as number[];
    // the backward pass meets the parts the other way round
    const middle = phase === "forward" ? count >> 1 : (count - 1) >> 1;
    const ends = left.map((of) => (placesOf.get(of) as number[]).at(-1) as number);
    const from = places[middle] as number;
    const to = places[middle + 1] ?? 1 + Math.max(...ends);
    const own = sequence.slice(from, to).filter((_, i) => count > 1 || placesOf.get(classOf(from + i))?.length === 1);
    for (let at = from; at < to; at++) covered.add(classOf(at));
    windows.push({ steps: own, count });
  }
  return windows;
}

/** The start of a name up to its first number: "layer 7 ". */
const NUMBERED = /^(?:gradient of )?(\D*\d+)[ ._/]/;

/** Returns the name that most tensors of a part have in common; null where there is none. */
function commonName(names: readonly string[]): string | null {
  const votes = new Map<string, number>();
  for (const name of names) {
    const found = NUMBERED.exec(name)?.[1];
    if (found !== undefined) votes.set(found, (votes.get(found) ?? 0) + 1);
  }
  const [best] = [...votes].sort(([, a], [, b]) => b - a);
  return best !== undefined && best[1] * 2 >= names.length ? best[0] : null;
}

/** Returns a name without that of its part, wherever it says it. */
function nameWithin(name: string, part: string | null): string {
  if (part === null) return name;
  const short = [" ", ".", "_", "/"].reduce((text, end) => text.replaceAll(`${part}${end}`, ""), name);
  return short === "" ? name : short;
}

function operationOf(node: GraphNode): string {
  switch (node.kind) {
    case "placeholder":
      return node.role;
    case "einsum":
      return node.selects ? "selection" : "product";
    case "elementwise":
      return node.function;
    case "reduction":
      return node.function;
    case "output":
      return "output";
  }
}

/** Tensors that pictures name, each once. */
interface Facts {
  readonly all: TensorFacts[];
  /** Returns the index of a node's tensor; `part` is the name of the part that names it. */
  of(node: number, part: string | null): number;
}

/** Returns the collectives of moves with what they take. */
function pricing({ plan: { mesh }, placed, simulated }: Drawn): (step: Moved, flow: Flow) => PlannedMove[] {
  const known = new Map<string, PlannedMove>();
  placed.tasks.works.forEach((work, w) => {
    const [cost, groups] = [simulated.costs[w], placed.groups[w]];
    // of the stage that is drawn
    if (work.kind !== "communication" || work.stage !== 0 || !cost || !groups) return;
    if (work.communication.collective === "send") return;
    const { collective: kind, bytes } = work.communication;
    const axes = groups.name ?? "";
    const { sizeBytes } = askedCollective(mesh.npuCount, kind, groups, bytes);
    known.set(`${kind} ${axes} ${bytes}`, {
      kind: collectiveName(kind),
      axes,
      bytes: sizeBytes,
      us: toUs(cost.ps),
      algorithm: cost.algorithm,
    });
  });
  return ({ node, moves }, { graph }) =>
    moves.flatMap(({ kind, axes, parts }) => {
      const bytes = tensorBytes(graph, graph.nodes[node] as GraphNode) / parts;
      return known.get(`${kind} ${axesText(mesh, axes)} ${bytes}`) ?? [];
    });
}

/**
 * Returns a plan, of a pipeline its first stage, as pictures: a part for what each pass does once, and one for what it does in equal parts, with the tensors that they
 * name. What is taken of parameters and inputs stands with the node that takes it; moves of other tensors are nodes of their own.
 * O(steps + parts x their steps).
 */
export function planParts({ stages, placed, simulated }: PlannedStep): {
  readonly tensors: readonly TensorFacts[];
  readonly parts: readonly PlanPart[];
} {
  const [{ plan, steps }] = stages as readonly [PlannedStage];
  const drawn: Drawn = { plan, steps, placed, simulated };
  const { graph, mesh, nodes: plans } = plan;
  const flow = flowOf(drawn);
  const priced = pricing(drawn);
  const lies = (pattern: Pattern): AxisLie[] =>
    mesh.axes.map((_, j) => {
      const state = stateOn(pattern, j);
      return state === REPLICATED ? "whole" : state === PARTIAL ? "summand" : shardedAt(state);
    });
  const patternOf = (value: number): Pattern => steps.values[value]?.pattern as Pattern;
  const copyBy = (s: number): PlannedCopy => {
    const step = flow.steps[s] as Moved;
    return { when: flow.when[s] as When, lies: lies(patternOf(step.makes)), moves: priced(step, flow) };
  };
  const movesOf = new Map<number, number[]>();
  flow.steps.forEach(({ kind, node }, s) => {
    if (kind === "move") movesOf.set(node, [...(movesOf.get(node) ?? []), s]);
  });
  const usersOf: Set<number>[] = graph.nodes.map(() => new Set());
  graph.nodes.forEach((node, i) => {
    if (node.kind !== "output") for (const operand of operandsOf(node)) usersOf[operand.node]?.add(i);
  });
  const countOf = new Int32Array(graph.nodes.length);
  for (const of of graph.classes) countOf[of]++;
  const gradientOf = new Map(graph.gradients.map(({ parameter, gradient }) => [parameter, gradient]));
  const parameterOf = new Map(graph.gradients.map(({ parameter, gradient }) => [gradient, parameter]));

  const facts = factsOf((i, part) => {
    const node = graph.nodes[i] as GraphNode;
    const { rule, pattern, retention, home } = plans[i] as NodePlan;
    const named = (of: number | undefined): string | null =>
      of === undefined ? null : nameWithin((graph.nodes[of] as GraphNode).name, part);
    const isForward = node.phase === "forward" && node.kind !== "placeholder";
    return {
      name: nameWithin(node.name, part),
      count: countOf[graph.classes[i] as number] as number,
      operation: operationOf(node),
      phase: node.phase,
      dims: node.dims.map((dim) => graph.dimensions[dim] as Dimension),
      elementBytes: node.elementBytes,
      bytes: tensorBytes(graph, node),
      ownBytes: localBytes(graph, mesh, node, pattern),
      lies: lies(pattern),
      isFused: node.isFused,
      retention: isForward ? retention : null,
      streamed: streamText(mesh, rule),
      copies: (movesOf.get(i) ?? []).map(copyBy),
      home: gradientOf.has(i) ? lies(home) : null,
      gradient: named(gradientOf.get(i)),
      parameter: named(parameterOf.get(i)),
      madeOf: operandsOf(node).map((operand) => named(operand.node) as string),
      takenBy: [...(usersOf[i] as Set<number>)].map((user) => named(user) as string),
    };
  });

  /** Returns where a gradient is summed to for the update. */
  const sumOf = (value: number): PlannedCopy | null => {
    const by = flow.takersOf[value]?.find((s) => flow.steps[s]?.kind === "move" && flow.when[s] === "update");
    return by === undefined ? null : copyBy(by);
  };
  /** Returns the picture of a window. */
  const drawnPart = (phase: Phase, { steps: own, count }: Window): PlanPart => {
    const nodeOf = (s: number): number => (flow.steps[s] as PlanStep).node;
    const name = count === 1 ? null : commonName(own.map((s) => (graph.nodes[nodeOf(s)] as GraphNode).name));
    const inside = new Map<number, number>();
    const nodes: PlanNode[] = [];
    const edges: [number, number][] = [];
    const others = new Map<number, number>();
    /** Returns the node of a value that is no parameter or input. */
    const sourceOf = (value: number): number => {
      const maker = flow.makerOf[value] as number;
      const known = inside.get(maker) ?? others.get(value);
      if (known !== undefined) return known;
      const step = flow.steps[maker] as PlanStep;
      const tensor = facts.of(step.node, name);
      const isBrought = step.kind === "move" && flow.when[maker] === phase;
      const from = isBrought ? sourceOf(step.takes[0] as number) : -1;
      const at =
        nodes.push(
          isBrought
            ? { kind: "brought", tensor, copy: copyBy(maker) }
            : { kind: "from", tensor, isKept: phase === "backward" && flow.when[maker] === "forward" },
        ) - 1;
      others.set(value, at);
      if (from >= 0) edges.push([from, at]);
      return at;
    };
    const isGiven = (value: number): boolean =>
      graph.nodes[steps.values[value]?.node as number]?.kind === "placeholder";
    let end = -1;
    const leave = (at: number): void => {
      if (end < 0) end = nodes.push({ kind: "to" }) - 1;
      edges.push([at, end]);
    };
    const shown = new Set(own);
    for (const s of own) {
      const { node, takes, isAgain, makes } = flow.steps[s] as Compute;
      const given = new Map<number, GivenTensor>();
      const sources = new Set<number>();
      for (const value of takes) {
        const maker = flow.makerOf[value] as number;
        if (!isGiven(value)) sources.add(sourceOf(value));
        else
          given.set(value, {
            tensor: facts.of(steps.values[value]?.node as number, name),
            copy: maker < 0 ? null : copyBy(maker),
          });
      }
      const parameter = parameterOf.get(node);
      const at =
        nodes.push({
          kind: "made",
          tensor: facts.of(node, name),
          isAgain,
          given: [...given.values()],
          updates: parameter === undefined ? null : { tensor: facts.of(parameter, name), copy: sumOf(makes) },
        }) - 1;
      inside.set(s, at);
      for (const from of sources) edges.push([from, at]);
    }
    for (const [s, at] of [...inside]) {
      const { makes } = flow.steps[s] as Compute;
      let leaves = false;
      for (const taker of flow.takersOf[makes] as readonly number[]) {
        const step = flow.steps[taker] as PlanStep;
        if (step.kind === "move" && flow.when[taker] === phase)
          leaves ||= (flow.takersOf[step.makes] as readonly number[]).every((one) => !shown.has(one));
        else if (step.kind === "compute" && flow.when[taker] === phase) leaves ||= !shown.has(taker);
      }
      if (leaves) leave(at);
    }
    return { phase, name, count, nodes, edges };
  };
  const parts = (["forward", "backward"] as const).flatMap((phase) =>
    windowsOf(flow, phase).map((window) => drawnPart(phase, window)),
  );
  return { tensors: facts.all, parts };
}

/** Returns tensors that are named, each once a part's name. */
function factsOf(make: (node: number, part: string | null) => TensorFacts): Facts {
  const known = new Map<string, number>();
  const all: TensorFacts[] = [];
  return {
    all,
    of(node, part) {
      const key = `${node} ${part}`;
      const at = known.get(key) ?? all.push(make(node, part)) - 1;
      known.set(key, at);
      return at;
    },
  };
}
