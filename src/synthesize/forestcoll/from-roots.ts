import type { TreeContext, TreeRequest, TreeSynthesis } from "../tree-maker.ts";
import { growBack, growForest } from "./grow.ts";
import { reduceAndBroadcast } from "./side-by-side.ts";

/**
 * Returns an all-reduce that sums and sends from some NPUs only, member r in proportion to weight[r]: the fastest broadcast of
 * such shares, exactly, and a reduction of them, one after the other or side by side, whatever is faster. The certificate is
 * the cut that bounds the broadcast. Throws InfeasibleError where an NPU cannot be reached.
 */
export async function allReduceFrom(
  request: TreeRequest,
  context: TreeContext,
  weight: Float64Array,
): Promise<TreeSynthesis> {
  const { topology, collective, usable } = request;
  const out = await growForest(request, context, "out", weight);
  const back = await growBack(request, context, weight, out);
  const both = reduceAndBroadcast(back.forest, out.forest, collective.groupSize, usable);
  const certificate = { kind: "cut" as const, nodes: out.cut, direction: "out" as const };
  return {
    flow: { kind: "trees", topology, collective, symmetry: null, certificate, ...both },
    policy: `${both.concurrent ? "side by side" : "two phases"}, ${out.policy}`,
    trials: out.trials + back.trials,
    repaired: out.repaired,
    notes: [...out.notes, ...back.notes],
  };
}
