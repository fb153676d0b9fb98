import { draw } from "../../src/base/random.ts";
import { withGradients } from "../../src/model/tensor-graph/backward.ts";
import { elementsOf, type GraphNode, type TensorGraph } from "../../src/model/tensor-graph/graph.ts";
import type { StagedGraph } from "../../src/model/tensor-graph/stages.ts";

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
