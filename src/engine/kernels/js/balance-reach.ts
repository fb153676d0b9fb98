import type { BalanceProblem } from "../../contract/kernels.ts";

/** The JavaScript twin of native/kernels/balance_reach.h, one target at a time: who reaches it when, and over which ports. */
export interface Reach {
  /** Words of a mask. */
  readonly words: number;
  /** [nodes * words] bit k & 31 of word k >> 5: port k of the target lies on a shortest path from the node. */
  readonly masks: Int32Array;
  /** [nodes] steps from the target; -1 where it is not reached. */
  readonly distance: Int32Array;
  readonly queue: Int32Array;
  /** [nodes] all but the target by distance, then by number: at distance t byStep[stepOffset[t] .. stepOffset[t + 1]]. */
  readonly byStep: Int32Array;
  readonly stepOffset: Int32Array;
  /** [nodes] class of the i-th shard of a step. */
  readonly classOf: Int32Array;
  /** Class by hash of the mask, -1 between uses. */
  readonly table: Int32Array;
  /** The greatest distance. */
  steps: number;
}

export function reachFrom({ nodeCount }: BalanceProblem, ports: number): Reach {
  const words = Math.max(1, (ports + 31) >>> 5);
  let slots = 16;
  while (slots < 2 * nodeCount) slots *= 2;
  return {
    words,
    masks: new Int32Array(nodeCount * words),
    distance: new Int32Array(nodeCount),
    queue: new Int32Array(nodeCount),
    byStep: new Int32Array(nodeCount),
    stepOffset: new Int32Array(nodeCount + 2),
    classOf: new Int32Array(nodeCount),
    table: new Int32Array(slots).fill(-1),
    steps: 0,
  };
}

/** Searches backwards from the target; returns the least node that does not reach it, -1 where all do. O(arcs * words). */
export function searchTo(reach: Reach, { nodeCount, inOffset, inSource }: BalanceProblem, target: number): number {
  const { words, masks, distance, queue } = reach;
  distance.fill(-1);
  masks.fill(0);
  distance[target] = 0;
  queue[0] = target;
  let reached = 1;
  const visit = (node: number, steps: number): boolean => {
    if (distance[node] < 0) {
      distance[node] = steps;
      queue[reached++] = node;
    }
    return distance[node] === steps;
  };
  for (let i = inOffset[target]; i < inOffset[target + 1]; i++) {
    const port = i - inOffset[target];
    if (visit(inSource[i], 1)) masks[inSource[i] * words + (port >>> 5)] |= 1 << (port & 31);
  }
  for (let taken = 1; taken < reached; taken++) {
    const next = queue[taken];
    const row = next * words;
    for (let i = inOffset[next]; i < inOffset[next + 1]; i++) {
      if (!visit(inSource[i], distance[next] + 1)) continue;
      const into = inSource[i] * words;
      for (let w = 0; w < words; w++) masks[into + w] |= masks[row + w];
    }
  }
  reach.steps = distance[queue[reached - 1]];
  if (reached < nodeCount) return distance.indexOf(-1);
  sortBySteps(reach, nodeCount);
  return -1;
}

function sortBySteps({ distance, byStep, stepOffset, steps }: Reach, nodeCount: number): void {
  stepOffset.fill(0, 0, steps + 2);
  for (let v = 0; v < nodeCount; v++) stepOffset[distance[v] + 1]++;
  for (let t = 0; t <= steps; t++) stepOffset[t + 1] += stepOffset[t];
  const next = stepOffset.slice(0, steps + 1);
  for (let v = 0; v < nodeCount; v++) byStep[next[distance[v]]++] = v;
}
