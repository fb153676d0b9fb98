import type { PackProblem } from "../../contract/kernels.ts";
import { DOUBLES, type FlowGraph, flowGraph } from "./flow.ts";
import { group, type Lists } from "./lists.ts";

/** The network of a pack problem: the twin of native/kernels/pack_net.h, function by function. */

export interface PackNet {
  readonly nodes: number;
  readonly npus: number;
  readonly links: number;
  /** [links] */
  readonly source: Int32Array;
  /** [links] */
  readonly target: Int32Array;
  /** Links out of each node, ascending. */
  readonly out: Lists;
  /** Parallel links are one arc; one more node, the gate, has an arc into every NPU. */
  readonly graph: FlowGraph;
  /** [links] */
  readonly arc: Int32Array;
  /** [npus] the arc from the gate. */
  readonly gate: Int32Array;
  /** [arcs] 1: of links. */
  readonly real: Uint8Array;
}

/** Returns the network. O((nodes + links) log links). */
export function packNet(problem: PackProblem): PackNet {
  const { nodeCount: nodes, npuCount: npus, linkSource: source, linkTarget: target } = problem;
  const links = source.length;
  const graph = buildGraph(problem);
  const arc = new Int32Array(links);
  const gate = new Int32Array(npus);
  const real = new Uint8Array(graph.tail.length);
  for (let i = 0; i < links; i++) {
    arc[i] = arcOf(graph, source[i], target[i]);
    real[arc[i]] = 1;
  }
  for (let v = 0; v < npus; v++) gate[v] = arcOf(graph, nodes, v);
  return { nodes, npus, links, source, target, out: group(source, nodes), graph, arc, gate, real };
}

function buildGraph({ nodeCount, npuCount, linkSource, linkTarget, capacity }: PackProblem): FlowGraph {
  const links = linkSource.length;
  const tails = new Int32Array(links + npuCount).fill(nodeCount);
  const heads = new Int32Array(links + npuCount);
  const amounts = new Float64Array(links + npuCount);
  tails.set(linkSource);
  heads.set(linkTarget);
  amounts.set(capacity);
  for (let v = 0; v < npuCount; v++) heads[links + v] = v;
  const columns = { nodeCount: nodeCount + 1, linkSource: tails, linkTarget: heads, capacity: amounts };
  return flowGraph(columns, 1, group(tails, nodeCount + 1), group(heads, nodeCount + 1), DOUBLES);
}

/** Arcs into a node ascend by tail. */
function arcOf({ offset, tail }: FlowGraph, from: number, head: number): number {
  let low = offset[head];
  let high = offset[head + 1] - 1;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (tail[middle] < from) low = middle + 1;
    else high = middle;
  }
  return low;
}
