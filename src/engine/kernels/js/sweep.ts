import { CancelledError } from "../../../base/errors.ts";
import type { CancelFlag, SweepProblem } from "../../contract/kernels.ts";
import { exactSum } from "../exact-sum.ts";
import { DOUBLES, Flow, flowGraph } from "./flow.ts";
import { group } from "./lists.ts";

/** The JavaScript twin of native/kernels/sweep.h: the same flows. */
export function sweepJs(problem: SweepProblem, cancel?: CancelFlag): Float64Array {
  const { nodeCount, linkSource, linkTarget, supply, sinks } = problem;
  const graph = flowGraph(problem, 1, group(linkSource, nodeCount), group(linkTarget, nodeCount), DOUBLES);
  const flows = new Flow(graph, DOUBLES);
  flows.scale(1);
  for (let v = 0; v < nodeCount; v++) flows.feed(v, supply[v]);
  const all = Number(exactSum(supply));
  const flow = new Float64Array(sinks.length);
  for (let i = 0; i < sinks.length; i++) {
    if (cancel !== undefined && Atomics.load(cancel, 0) !== 0) throw new CancelledError();
    flow[i] = flows.solve(sinks[i], all);
    flows.undo();
  }
  return flow;
}
