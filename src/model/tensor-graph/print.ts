import { type Dimension, DROPPED, type GraphNode, type Operand, operandsOf, type TensorGraph } from "./graph.ts";

/** Names that can stand one behind the other. */
const LETTER = /^[a-z]\d*$/;

type Graph = Pick<TensorGraph, "dimensions" | "nodes">;

/** Returns the names of dimensions that a tensor has, but for those that are not seen. */
function named({ dimensions }: Graph, dims: readonly number[]): string {
  const names = dims.filter((dim) => dim !== DROPPED).map((dim) => (dimensions[dim] as Dimension).name);
  return names.join(names.every((name) => LETTER.test(name)) ? "" : " ");
}

/**
 * Returns the dimensions of an einsum's operands in the order of a product of matrices: of the first what the result has, then what
 * is summed; of the others what the result has of those before it, what is summed, and what is left.
 */
function inOrderOfProduct({ operands, dims }: { operands: readonly Operand[]; dims: readonly number[] }): number[][] {
  const before = new Set<number>();
  return operands.map((operand, k) => {
    const has = (dim: number): boolean => operand.dims.includes(dim);
    const summed = operand.dims.filter((dim) => dim !== DROPPED && !dims.includes(dim));
    const kept = dims.filter(has);
    const shared = kept.filter((dim) => k === 0 || before.has(dim));
    for (const dim of operand.dims) before.add(dim);
    return [...shared, ...summed, ...kept.filter((dim) => !shared.includes(dim))];
  });
}

function lineOf(graph: Graph, node: GraphNode): string {
  const nameOf = (operand: Operand): string => (graph.nodes[operand.node] as GraphNode).name;
  const seen = operandsOf(node).map((operand) => `${nameOf(operand)}[${named(graph, operand.dims)}]`);
  const result = named(graph, node.dims);
  switch (node.kind) {
    case "placeholder":
      return `PLACEHOLDER [${result}]`;
    case "einsum": {
      const operands = inOrderOfProduct(node).map((dims) => named(graph, dims));
      return `EINSUM "${operands.join()}->${result}"(${node.operands.map(nameOf).join(", ")}) -> [${result}]`;
    }
    case "elementwise":
      return `ELEMENTWISE(${seen.join(", ")}) -> [${result}]`;
    case "reduction": {
      const over = node.over.map((dim) => (graph.dimensions[dim] as Dimension).name);
      return `REDUCTION(${seen.join(", ")}) over{${over.join()}} -> [${result}]`;
    }
    case "output":
      return `OUTPUT[${seen.join(", ")}]`;
  }
}

/** Returns a graph as text, a line a node (Zhao 2026, figure 5.2b); the last line has an end, too. */
export const printedGraph = (graph: Graph): string =>
  ["Nodes:", ...graph.nodes.map((node) => `  ${node.name}: ${lineOf(graph, node)}`), ""].join("\n");
