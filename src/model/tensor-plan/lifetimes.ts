import type { GraphNode, Placeholder } from "../tensor-graph/graph.ts";
import type { StageMemory } from "../workload/memory.ts";
import { shardCount } from "./patterns.ts";
import type { NodePlan, TensorPlan } from "./plan.ts";
import { copiesOf, type PlanTerms } from "./problem-of.ts";
import type { PlanStep, PlanSteps, PlanValue } from "./steps.ts";
import { pieceMove, streamed } from "./streams.ts";
import { localBytes, tensorBytes } from "./work.ts";

/**
 * Bytes of one NPU; activations are those of all passes under way, `working` what else is there when most is: tensors between the
 * nodes that make and take them, copies of parameters.
 */
export interface PlanMemory extends Omit<StageMemory, "stage"> {
  /** The node at which most is there: that of the graph's order that is computed then, or next. */
  readonly at: number;
}

/**
 * Returns the memory of a plan, exact by the lifetimes of its values: each is there from the step that makes it to the last that
 * takes it, pieces of a streamed product while it is done. What the update takes is counted once, as gradients: from pass to pass
 * where the optimiser's state lies, or, if it is summed once a step, as it was made if that is more. Updated parameters take the
 * place of those before. O(steps).
 */
export function planMemory(plan: TensorPlan, { values, given, steps }: PlanSteps, terms: PlanTerms): PlanMemory {
  const { graph, mesh, nodes: plans } = plan;
  const last = new Int32Array(values.length).fill(-1);
  /** Values that are counted elsewhere. */
  const isElsewhere = new Uint8Array(values.length);
  steps.forEach(({ kind, takes, makes }, s) => {
    if (kind === "update" || (kind === "move" && isElsewhere[takes[0]] === 1)) isElsewhere[makes] = 1;
    if (kind !== "update") for (const at of takes) last[at] = s;
  });
  let parameters = 0;
  let gradients = 0;
  let optimizer = 0;
  for (const { parameter, gradient } of graph.gradients) {
    const node = graph.nodes[parameter] as GraphNode;
    const elements = tensorBytes(graph, node) / node.elementBytes;
    const { home } = plans[parameter] as NodePlan;
    const { pattern, isSummedOnce } = plans[gradient] as NodePlan;
    optimizer += (elements / shardCount(mesh, home)) * terms.optimizerBytes;
    const parts = shardCount(mesh, home);
    const fewest = isSummedOnce ? Math.min(parts, shardCount(mesh, pattern)) : parts;
    gradients += (elements / fewest) * terms.gradientBytes;
    gradients += (elements / parts) * node.elementBytes * (terms.gradientsFrom?.get(parameter) ?? 0);
  }
  /** What passes under way besides the one that is looked at were given, and have kept. */
  let others = 0;
  for (const at of given) {
    isElsewhere[at] = 1;
    const { node, bytes } = values[at] as PlanValue;
    parameters += bytes;
    others += bytes * (copiesOf(graph.nodes[node] as Placeholder, terms) - 1);
  }
  let keptOfOne = 0;
  graph.nodes.forEach((node, i) => {
    const { retention, pattern } = plans[i] as NodePlan;
    if (node.kind !== "placeholder" && retention === "kept") keptOfOne += localBytes(graph, mesh, node, pattern);
  });
  others += keptOfOne * (terms.inFlight - 1);
  let live = 0;
  let most = 0;
  let peak = 0;
  const bytesOf = (value: number): number => (isElsewhere[value] === 1 ? 0 : (values[value] as PlanValue).bytes);
  const piecesOf = ({ kind, node }: PlanStep): number => {
    const rule = streamed(plans[node]?.rule);
    if (kind !== "compute" || rule === null) return 0;
    return pieceMove(graph, mesh, graph.nodes[node] as GraphNode, rule).workingBytes;
  };
  steps.forEach((step, s) => {
    const { takes, makes } = step;
    live += bytesOf(makes);
    const there = live + piecesOf(step);
    if (there > most) {
      most = there;
      peak = s;
    }
    for (const one of new Set(takes)) if (last[one] === s) live -= bytesOf(one);
    if (last[makes] === -1) live -= bytesOf(makes);
  });
  const inOrder = steps.slice(peak).find((step) => step.kind === "compute" && !step.isAgain) ?? steps[peak];
  const at = inOrder?.node ?? 0;
  const activations = Math.min(keptOfOne, most) + others;
  const working = most - Math.min(keptOfOne, most);
  return {
    parameters,
    gradients,
    optimizer,
    activations,
    working,
    total: parameters + gradients + optimizer + activations + working,
    at,
  };
}
