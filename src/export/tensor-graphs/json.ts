import { jsonText } from "../../base/visible.ts";
import {
  DROPPED_MARK,
  PLAIN_DIMENSION,
  TENSOR_GRAPH_FORMAT,
  TENSOR_GRAPH_VERSION,
} from "../../model/files/tensor-graph-format.ts";
import {
  type Dimension,
  DROPPED,
  type GraphNode,
  operandsOf,
  type TensorGraph,
} from "../../model/tensor-graph/graph.ts";

/** JSON has no infinite numbers. */
const numberText = (number: number): number | string => (Number.isFinite(number) ? number : `${number}`);

/**
 * Returns a tensor graph as JSON, a line a dimension and a node (FORMATS.md): the dimensions of a node stand as in einsums, "c d a,
 * a b -> c d b", each by its name.
 */
export function tensorGraphToJson(graph: TensorGraph): string {
  const { name, dimensions, nodes, gradients, classes } = graph;
  const named = (dim: number): string => {
    if (dim === DROPPED) return DROPPED_MARK;
    const called = (dimensions[dim] as Dimension).name;
    return PLAIN_DIMENSION.test(called) ? called : jsonText(called);
  };
  const list = (dims: readonly number[]): string => dims.map(named).join(" ");
  const nameOf = (node: number): string => (nodes[node] as GraphNode).name;
  const nodeOf = (node: GraphNode): unknown => {
    const operands = operandsOf(node);
    const taken = operands.map(({ dims }) => list(dims)).join(", ");
    const result = list(node.dims);
    return {
      name: node.name,
      kind: node.kind,
      ...(node.kind === "placeholder" && { role: node.role }),
      ...("function" in node && { function: node.function }),
      ...(node.kind === "elementwise" && { constant: numberText(node.constant) }),
      ...(node.kind !== "placeholder" && { of: operands.map((operand) => nameOf(operand.node)) }),
      dims: node.kind === "placeholder" ? result : `${taken} -> ${result}`.trim(),
      ...(node.kind === "elementwise" && { whole: list(node.whole) }),
      ...(node.kind === "reduction" && { over: list(node.over) }),
      ...(node.kind === "einsum" && node.selects && { selects: true }),
      elementBytes: node.elementBytes,
      phase: node.phase,
      ...(node.isFused && { fused: true }),
    };
  };
  const lines = (of: readonly unknown[]): string => of.map((one) => `\n    ${jsonText(one)}`).join(",");
  const pairs = gradients.map(({ parameter, gradient }) => [nameOf(parameter), nameOf(gradient)]);
  return `{
  "format": "${TENSOR_GRAPH_FORMAT}",
  "version": ${TENSOR_GRAPH_VERSION},
  "name": ${jsonText(name)},
  "dimensions": [${lines(dimensions.map(({ name: called, size }) => [called, size]))}
  ],
  "nodes": [${lines(nodes.map(nodeOf))}
  ],
  "gradients": [${lines(pairs)}
  ],
  "classes": ${jsonText([...classes])}
}
`;
}
