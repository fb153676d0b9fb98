import type { TensorGraph } from "../tensor-graph/graph.ts";
import type { Computation } from "../workload/layer-work.ts";
import type { Mesh } from "./mesh.ts";
import { workRules } from "./rules.ts";
import { workOf } from "./work.ts";

/**
 * Returns picoseconds that an NPU of a mesh computes at least in one pass of a graph: every node by the rule of work that takes
 * least, whatever has to be sent for it. Throws InputError for a function without rules. O(classes x rules).
 */
export function leastComputingPs(
  graph: TensorGraph,
  mesh: Mesh,
  computationPs: (computation: Computation) => number,
): number {
  const known = new Map<number, number>();
  return graph.nodes.reduce((sum, node, i) => {
    if (node.kind === "placeholder" || node.kind === "output") return sum;
    const c = graph.classes[i] as number;
    const least =
      known.get(c) ??
      workRules(graph, node, mesh).reduce(
        (min, rule) => Math.min(min, computationPs(workOf(graph, mesh, node, rule))),
        Number.POSITIVE_INFINITY,
      );
    known.set(c, least);
    return sum + least;
  }, 0);
}
