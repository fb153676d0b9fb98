import { type GraphNode, operandsOf, tangentsOf } from "../tensor-graph/graph.ts";
import { type Move, movesBetween, type Pattern } from "./patterns.ts";
import type { NodePlan, TensorPlan } from "./plan.ts";
import { isFree } from "./problem.ts";
import { localBytes, sizesOf } from "./work.ts";

/** A tensor as it lies on all NPUs from one step of a plan on. */
export interface PlanValue {
  /** Index of the node whose tensor it is. */
  readonly node: number;
  readonly pattern: Pattern;
  /** Bytes of one NPU. */
  readonly bytes: number;
}

/** What all NPUs do next. Indices of values; -1 where nothing is made. */
export type PlanStep =
  /** A node is computed; `isAgain`: in the backward pass what was not kept from the forward pass. */
  | {
      readonly kind: "compute";
      readonly node: number;
      readonly isAgain: boolean;
      readonly takes: readonly number[];
      readonly makes: number;
    }
  /** A tensor is brought to another pattern. */
  | {
      readonly kind: "move";
      readonly node: number;
      readonly moves: readonly Move[];
      readonly takes: readonly [number];
      readonly makes: number;
    }
  /** The gradient of an output is there, made of the output by nobody here. */
  | { readonly kind: "answer"; readonly node: number; readonly takes: readonly [number]; readonly makes: number }
  /** A parameter takes its gradient, summed to where the optimiser's state lies. */
  | { readonly kind: "update"; readonly node: number; readonly takes: readonly [number]; readonly makes: number };

/** A pass of a plan in the order in which it is done, then the update of parameters. */
export interface PlanSteps {
  readonly values: readonly PlanValue[];
  /** Values that are there before: placeholders, but for gradients of outputs. */
  readonly given: readonly number[];
  readonly steps: readonly PlanStep[];
  /** [outputs of the graph] the values that they are. */
  readonly outputs: readonly number[];
  /** [gradients of the graph] parameters behind the update, where they lie between steps. */
  readonly updated: readonly number[];
}

/**
 * Returns what a plan does, node by node: copies are made when they are first taken, what was not kept is made again when it is
 * first wanted in the backward pass (with all that it is made of, back to what was kept: Zhao 2026, 5.2.2); gradients are summed as
 * soon as they are made. Throws TypeError for a
 * plan in which something is not there, which no search makes. O(nodes + operands).
 */
export function planSteps({ graph, mesh, nodes: plans }: TensorPlan): PlanSteps {
  const values: PlanValue[] = [];
  const steps: PlanStep[] = [];
  const planned = (node: number): NodePlan => plans[node] as NodePlan;
  const value = (node: number, pattern: Pattern): number =>
    values.push({ node, pattern, bytes: localBytes(graph, mesh, graph.nodes[node] as GraphNode, pattern) }) - 1;
  /** Values of tensors as they were made, and made again. */
  const made = new Map<number, number>();
  const again = new Map<number, number>();
  const copied = new Map<string, number>();

  /** Returns the value of a tensor in the pattern in which it was made, for a node of a phase. */
  const basis = (of: number, isBackward: boolean): number => {
    const wasForward = (graph.nodes[of] as GraphNode).phase === "forward";
    if (!isBackward || !wasForward || planned(of).retention !== "again") return made.get(of) as number;
    return again.get(of) ?? compute(of, true);
  };
  const copyOf = (of: number, from: number, to: Pattern, time: string): number => {
    const key = `${time} ${of} ${to}`;
    const known = copied.get(key);
    if (known !== undefined) return known;
    const node = graph.nodes[of] as GraphNode;
    const moves = movesBetween(mesh, sizesOf(graph, node), (values[from] as PlanValue).pattern, to);
    if (moves === null) throw new TypeError(`${node.name} cannot be brought there`);
    const makes = value(of, to);
    steps.push({ kind: "move", node: of, moves, takes: [from], makes });
    copied.set(key, makes);
    return makes;
  };
  /** Returns a value of a tensor from which a pattern is there for free. */
  const taken = (of: number, wanted: Pattern, isBackward: boolean): number => {
    const from = basis(of, isBackward);
    if (isFree(mesh, (values[from] as PlanValue).pattern, wanted)) return from;
    const copies = isBackward ? planned(of).backwardCopies : planned(of).forwardCopies;
    const to = copies.find((pattern) => isFree(mesh, pattern, wanted));
    if (to === undefined) throw new TypeError(`${graph.nodes[of]?.name} is not there`);
    return copyOf(of, from, to, isBackward ? "backward" : "forward");
  };
  function compute(node: number, isAgain: boolean): number {
    const { rule, pattern } = planned(node);
    const one = graph.nodes[node] as GraphNode;
    const isBackward = isAgain || one.phase === "backward";
    const takes = operandsOf(one).map((operand, k) => taken(operand.node, rule?.operands[k] as Pattern, isBackward));
    const makes = value(node, pattern);
    (isAgain ? again : made).set(node, makes);
    steps.push({ kind: "compute", node, isAgain, takes, makes });
    return makes;
  }

  /** Returns the value of a gradient from which it is where the optimiser's state lies for free. */
  const sumOf = (gradient: number, from: number, home: Pattern): number => {
    const { pattern, updateCopies } = planned(gradient);
    const to = updateCopies.find((copy) => isFree(mesh, copy, home));
    return isFree(mesh, pattern, home) || to === undefined ? from : copyOf(gradient, from, to, "update");
  };
  const parameterOf = new Map(graph.gradients.map(({ parameter, gradient }) => [gradient, parameter]));
  /** By node of a gradient. */
  const summed = new Map<number, number>();

  const answeredBy = tangentsOf(graph);
  const given: number[] = [];
  let outputs: readonly number[] = [];
  graph.nodes.forEach((node, i) => {
    if (node.kind === "placeholder") {
      const at = value(i, planned(i).pattern);
      made.set(i, at);
      const output = answeredBy[i] as number;
      if (output < 0) given.push(at);
      else steps.push({ kind: "answer", node: i, takes: [taken(output, planned(i).pattern, false)], makes: at });
    } else if (node.kind === "output") outputs = node.operands.map((operand) => made.get(operand.node) as number);
    else {
      const at = compute(i, false);
      const parameter = parameterOf.get(i);
      if (parameter !== undefined) summed.set(i, sumOf(i, at, planned(parameter).home));
    }
  });
  const updated = graph.gradients.map(({ parameter, gradient }) => {
    const { home, pattern, updateCopies } = planned(parameter);
    const makes = value(parameter, home);
    steps.push({ kind: "update", node: parameter, takes: [summed.get(gradient) as number], makes });
    if (isFree(mesh, home, pattern)) return makes;
    const back = updateCopies.find((copy) => isFree(mesh, copy, pattern));
    if (back === undefined) throw new TypeError(`${graph.nodes[parameter]?.name} does not come back`);
    return copyOf(parameter, makes, back, "update");
  });
  return { values, given, steps, outputs, updated };
}
