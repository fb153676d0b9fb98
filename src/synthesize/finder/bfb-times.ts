import type { Balance, BalanceProblem } from "../../engine/kernels/kernels.ts";
import { InternalError } from "../../errors.ts";
import { arcCount, type Digraph } from "../../model/direct/digraph.ts";
import { add, multiply, type Rational, rational } from "../../model/rational.ts";

/** Runs the kernel `balance`. */
export type Balancer = (problem: Omit<BalanceProblem, "threads">) => Promise<Balance | null>;

/** Steps are counted in 16 bits. */
const MOST_STEPS = 65_535;

export interface BfbTimes {
  /** T_L / alpha. */
  readonly steps: number;
  /** T_B in units of M / B. */
  readonly bandwidth: Rational;
}

/** Returns the times of the optimal BFB schedule of a regular graph (Zhao 2026, (3.1), (3.2)), as far as these targets tell. */
export async function bfbTimes(graph: Digraph, targets: Int32Array, balance: Balancer): Promise<BfbTimes> {
  const { nodes, offset } = graph;
  const problem = { nodeCount: nodes, ...entering(graph), targets, parts: 0, wantsShares: 0 };
  const loads = await balance({ ...problem, maxSteps: Math.min(nodes, MOST_STEPS), maxRows: 0 });
  if (loads === null) throw new InternalError(`more BFB steps than ${nodes} nodes`);
  let sum = rational(0);
  for (let t = 0; t < loads.steps; t++) sum = add(sum, rational(loads.loadNum[t], loads.loadDen[t]));
  return { steps: loads.steps, bandwidth: multiply(sum, rational(offset[1] - offset[0], nodes)) };
}

/** Returns the arcs that enter each node, ascending by arc. O(arcs). */
function entering(graph: Digraph): Pick<BalanceProblem, "inOffset" | "inSource"> {
  const { nodes, offset, target } = graph;
  const inOffset = new Int32Array(nodes + 1);
  for (const to of target) inOffset[to + 1]++;
  for (let v = 0; v < nodes; v++) inOffset[v + 1] += inOffset[v];
  const next = inOffset.slice();
  const inSource = new Int32Array(arcCount(graph));
  for (let v = 0; v < nodes; v++) {
    for (let arc = offset[v]; arc < offset[v + 1]; arc++) inSource[next[target[arc]]++] = v;
  }
  return { inOffset, inSource };
}
