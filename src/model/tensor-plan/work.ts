import { attentionShare } from "../tensor-graph/attention-kernels.ts";
import {
  type Dimension,
  DROPPED,
  type GraphNode,
  type Operand,
  operandsOf,
  type TensorGraph,
} from "../tensor-graph/graph.ts";
import type { Computation } from "../workload/layer-work.ts";
import type { Mesh, MeshAxis } from "./mesh.ts";
import { type Pattern, shardCount } from "./patterns.ts";
import { NOT_DEALT, type WorkRule } from "./rules.ts";

/** Returns bytes of a tensor that one NPU has in a pattern; of a fused tensor none. */
export function localBytes(graph: TensorGraph, mesh: Mesh, node: GraphNode, pattern: Pattern): number {
  return node.isFused ? 0 : tensorBytes(graph, node) / shardCount(mesh, pattern);
}

/** Returns bytes of a whole tensor. */
export const tensorBytes = ({ dimensions }: TensorGraph, { dims, elementBytes }: GraphNode): number =>
  dims.reduce((all, dim) => all * (dimensions[dim] as Dimension).size, elementBytes);

/** Returns the sizes of a tensor's dimensions. */
export const sizesOf = ({ dimensions }: TensorGraph, { dims }: GraphNode): number[] =>
  dims.map((dim) => (dimensions[dim] as Dimension).size);

/** Returns the dimensions of a graph as one NPU counts them under a rule, of a streamed one in one piece. */
export function localDimensions(graph: TensorGraph, mesh: Mesh, rule: WorkRule): Dimension[] {
  const sizes = localSizes(graph, mesh, rule);
  return graph.dimensions.map(({ name }, dim) => ({ name, size: sizes[dim] as number }));
}

/** Returns the sizes of those dimensions. */
function localSizes({ dimensions }: TensorGraph, { axes }: Mesh, { along, stream }: WorkRule): number[] {
  const local = dimensions.map(({ size }) => size);
  const deal = (dim: number, parts: number): void => {
    local[dim] = (local[dim] as number) / parts;
  };
  along.forEach((dim, j) => {
    if (dim !== NOT_DEALT) deal(dim, (axes[j] as MeshAxis).size);
  });
  if (stream !== undefined) deal(stream.along, stream.pieces);
  return local;
}

/**
 * Returns what one NPU computes of a node under a rule, of a streamed one in each of its pieces: of an einsum 2 x the product of its
 * labels' parts (Zhao 2026, 5.4), as equal products of two matrices, but for pairs of tokens that do not see each other, which
 * kernels of attention leave out; of all else, and of einsums of one operand or more than two, what goes through memory. What stays
 * inside a kernel goes through no memory; whose result leaves it reads all that the kernel is given, and is what starts it. Pieces
 * of a sum add to the result that is there.
 */
export function workOf(graph: TensorGraph, mesh: Mesh, node: GraphNode, rule: WorkRule): Computation {
  const operands = operandsOf(node);
  const local = localSizes(graph, mesh, rule);
  const product = (dims: Iterable<number>): number => {
    let all = 1;
    for (const dim of dims) if (dim !== DROPPED) all *= local[dim] as number;
    return all;
  };
  const counted = new Set<number>();
  /** Bytes that are read of a tensor: of one that stays inside the kernel, of what it is made of, each once. */
  const read = ({ node: of, dims }: Operand): number => {
    const from = graph.nodes[of] as GraphNode;
    if (counted.has(of)) return 0;
    counted.add(of);
    if (!from.isFused) return product(dims) * from.elementBytes;
    return operandsOf(from).reduce((all, operand) => all + read(operand), 0);
  };
  const operandBytes = node.isFused ? operands.map(() => 0) : operands.map(read);
  const resultBytes = node.isFused ? 0 : product(node.dims) * node.elementBytes;
  const { name } = node;
  const inside = node.isFused ? { isInside: true } : {};
  if (node.kind !== "einsum" || node.selects || operands.length !== 2) {
    // of what is selected, only what is taken is read
    const given =
      node.kind === "einsum" && node.selects
        ? (operandBytes[0] as number) + resultBytes
        : operandBytes.reduce((all, bytes) => all + bytes, 0);
    return { name, kind: "memory", flops: 0, bytes: given + resultBytes, ...inside };
  }
  const [left, right] = operands.map(({ dims }) => new Set(dims.filter((dim) => dim !== DROPPED))) as [
    Set<number>,
    Set<number>,
  ];
  const result = new Set(node.dims);
  const all = new Set([...left, ...right]);
  // products of a batch, or of experts, are one kernel, which fills units with all of their rows (grouped, Gale et al. 2023)
  const rows = product([...left].filter((dim) => result.has(dim)));
  const columns = product([...right].filter((dim) => result.has(dim) && !left.has(dim)));
  const inner = product([...all].filter((dim) => !result.has(dim)));
  const share = attentionShare(graph, node);
  const isAdded = rule.stream !== undefined && !result.has(rule.stream.along);
  return {
    name,
    kind: share === null ? "matmul" : "attention",
    flops: 2 * product(all) * (share ?? 1),
    bytes: (operandBytes[0] as number) + (operandBytes[1] as number) + (isAdded ? 2 : 1) * resultBytes,
    shape: { rows, columns, inner },
    ...inside,
  };
}
