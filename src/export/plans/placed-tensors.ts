import type { Dimension, GraphNode } from "../../model/tensor-graph/graph.ts";
import type { Pattern } from "../../model/tensor-plan/patterns.ts";
import type { NodePlan, TensorPlan } from "../../model/tensor-plan/plan.ts";

/** Tensors of one class of nodes that lie alike: those of repeated parts. */
export interface PlacedTensors {
  readonly names: readonly string[];
  /** Of the first of them; the others' have the same sizes. */
  readonly dims: readonly Dimension[];
  /** How they lie: one, but of copies as many as are made. */
  readonly patterns: readonly Pattern[];
}

/** What a framework is to be told of a plan; the backward pass follows from it. */
export interface PlacedPlan {
  /** Where they lie between steps. */
  readonly parameters: readonly PlacedTensors[];
  /** Of parameters: where the optimiser's state and the gradient lie, where that is elsewhere. */
  readonly optimizer: readonly PlacedTensors[];
  readonly inputs: readonly PlacedTensors[];
  /** How nodes of the forward pass make their tensors, but for those that stay inside a kernel. */
  readonly activations: readonly PlacedTensors[];
  /** To which patterns tensors are brought for those that take them in the forward pass. */
  readonly copies: readonly PlacedTensors[];
}

/** Returns the tensors that a plan places, those of a class that lie alike together, in the order of nodes. O(nodes). */
export function placedPlan({ graph, nodes: plans }: TensorPlan): PlacedPlan {
  const { dimensions, nodes, classes } = graph;
  const rows = (patternsOf: (node: GraphNode, plan: NodePlan) => readonly Pattern[]): PlacedTensors[] => {
    const found = new Map<string, PlacedTensors & { readonly names: string[] }>();
    nodes.forEach((node, i) => {
      const patterns = patternsOf(node, plans[i] as NodePlan);
      if (patterns.length === 0) return;
      const key = `${classes[i]} ${patterns.join()}`;
      const known = found.get(key) ?? {
        names: [],
        dims: node.dims.map((dim) => dimensions[dim] as Dimension),
        patterns,
      };
      known.names.push(node.name);
      found.set(key, known);
    });
    return [...found.values()];
  };
  const isGiven = (node: GraphNode, role: string): boolean => node.kind === "placeholder" && node.role === role;
  const isForward = ({ kind, phase, isFused }: GraphNode): boolean =>
    phase === "forward" && kind !== "output" && !isFused;
  return {
    parameters: rows((node, { pattern }) => (isGiven(node, "parameter") ? [pattern] : [])),
    optimizer: rows((node, { pattern, home }) => (isGiven(node, "parameter") && home !== pattern ? [home] : [])),
    inputs: rows((node, { pattern }) => (isGiven(node, "input") ? [pattern] : [])),
    activations: rows((node, { pattern }) => (isForward(node) && node.kind !== "placeholder" ? [pattern] : [])),
    copies: rows((node, { forwardCopies }) => (isForward(node) ? forwardCopies : [])),
  };
}
