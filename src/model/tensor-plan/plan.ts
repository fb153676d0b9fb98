import type { TensorGraph } from "../tensor-graph/graph.ts";
import type { Mesh } from "./mesh.ts";
import type { Pattern } from "./patterns.ts";
import type { WorkRule } from "./rules.ts";

/** What becomes of a forward tensor until the backward pass: nobody wants it there, it stays in memory, it is made again. */
export const RETENTIONS = ["dropped", "kept", "again"] as const;
export type Retention = (typeof RETENTIONS)[number];

/** How one node is done. */
export interface NodePlan {
  /** Of einsums, elementwise nodes and reductions; null of placeholders and the output. */
  readonly rule: WorkRule | null;
  /** In which its tensor is made, or, of a placeholder, lies while it is not used. */
  readonly pattern: Pattern;
  readonly retention: Retention;
  /** Patterns to which the tensor is brought from that one, for nodes of the forward pass and for those of the backward pass. */
  readonly forwardCopies: readonly Pattern[];
  readonly backwardCopies: readonly Pattern[];
  /** Of a gradient: where it is summed to for the update; of a parameter: where it is brought from its home behind it. */
  readonly updateCopies: readonly Pattern[];
  /** Of a gradient: those sums are done once a step, for all passes together; else of every pass. */
  readonly isSummedOnce: boolean;
  /** Of a parameter: where its optimiser's state and its gradient lie; else as `pattern`. */
  readonly home: Pattern;
}

/** States of all tensors of a graph on a mesh: all else follows (Zhao 2026, 5.2). */
export interface TensorPlan {
  readonly graph: TensorGraph;
  readonly mesh: Mesh;
  /** [nodes] */
  readonly nodes: readonly NodePlan[];
}
