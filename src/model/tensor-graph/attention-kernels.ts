import { attendedPairs } from "../workload/transformer/parameters.ts";
import { type Dimension, type GraphNode, operandsOf, type TensorGraph } from "./graph.ts";

/** Functions between the two products of attention. */
const OF_ATTENTION = ["softmax", "causal-softmax"];

/** [graphs] by node of a kernel of attention, and by who takes what stays inside: the share of pairs that it works on. */
const known = new WeakMap<TensorGraph, ReadonlyMap<GraphNode, number>>();

/**
 * Returns the share of the pairs of queries and keys that a product of an attention kernel works on: those of tokens that see each
 * other, all where all do. A kernel is fused nodes that take each other, among them a softmax. Null for what is in none.
 * O(nodes + operands) the first time for a graph.
 */
export function attentionShare(graph: TensorGraph, node: GraphNode): number | null {
  let shares = known.get(graph);
  if (shares === undefined) {
    shares = sharesOf(graph);
    known.set(graph, shares);
  }
  return shares.get(node) ?? null;
}

function sharesOf({ nodes, dimensions }: TensorGraph): Map<GraphNode, number> {
  // the first node of each fused node's kernel, by way of earlier ones
  const before = Int32Array.from(nodes, (_, i) => i);
  const firstOf = (node: number): number => {
    let at = node;
    while (before[at] !== at) at = before[at] as number;
    before[node] = at;
    return at;
  };
  nodes.forEach((node, i) => {
    if (!node.isFused) return;
    for (const { node: of } of operandsOf(node)) {
      if (nodes[of]?.isFused === true) before[Math.max(firstOf(i), firstOf(of))] = Math.min(firstOf(i), firstOf(of));
    }
  });
  const shareOf = new Map<number, number>();
  nodes.forEach((node, i) => {
    if (!node.isFused || node.kind !== "elementwise" || !OF_ATTENTION.includes(node.function)) return;
    shareOf.set(firstOf(i), pairsSeen(node.function === "causal-softmax", node.constant, node.whole, dimensions));
  });
  const shares = new Map<GraphNode, number>();
  nodes.forEach((node, i) => {
    const kernels = [
      ...(node.isFused ? [i] : []),
      ...operandsOf(node).flatMap(({ node: of }) => (nodes[of]?.isFused ? [of] : [])),
    ];
    const found = kernels.map((one) => shareOf.get(firstOf(one))).filter((share) => share !== undefined);
    if (found.length > 0) shares.set(node, Math.max(...found));
  });
  return shares;
}

/** Returns the share of pairs that see each other, of as many queries as keys. */
function pairsSeen(
  isCausal: boolean,
  window: number,
  whole: readonly number[],
  dimensions: readonly Dimension[],
): number {
  if (!isCausal) return 1;
  const tokens = whole.reduce((all, dim) => all * (dimensions[dim] as Dimension).size, 1);
  return attendedPairs(tokens, true, window === 0 ? null : window) / tokens ** 2;
}
