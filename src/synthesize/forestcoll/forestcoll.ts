import type { Collective } from "../../model/collective/collective.ts";
import type { CutCertificate, TreeFlow } from "../../model/trees/tree-flow.ts";
import type { TreeContext, TreeMaker, TreeRequest, TreeSynthesis } from "../tree-maker.ts";
import { allReduceTogether } from "./allreduce-forests.ts";
import { type Grown, growBack, growForest } from "./grow.ts";
import { refuseSeveralGroups } from "./one-group.ts";
import { couldBeLower, PACK_POLICIES } from "./pack-trees.ts";
import { contributions } from "./shards.ts";

/**
 * ForestColl (dissertation of Zhao, 2026, chapter 4): trees that reach the exact optimum of throughput on any balanced network.
 * All-gather and reduce-scatter by one forest, broadcast and reduce by the trees of one root, all-reduce by a reduction and a
 * broadcast: one after the other, or side by side with unequal roots where the linear program of B.7 says that this is faster.
 */
export const forestcoll: TreeMaker = {
  name: "forestcoll",
  description: "throughput-optimal trees on any network with switches, with a certificate (ForestColl)",
  collectives: ["allgather", "reducescatter", "allreduce", "broadcast", "reduce", "custom"],
  policies: PACK_POLICIES,
  async make(request, context) {
    const { collective } = request;
    refuseSeveralGroups(collective, "forestcoll packs the trees of one at a time");
    const weight = contributions(collective);
    if (collective.kind === "allreduce") return allReduce(request, context, weight);
    const direction = collective.kind === "reducescatter" || collective.kind === "reduce" ? "in" : "out";
    const grown = await growForest(request, context, direction, weight);
    return synthesisOf(grown, {
      ...flowFrame(request),
      forests: [grown.forest],
      symmetry: grown.symmetry,
      certificate: cutOf(grown, direction),
    });
  },
};

const flowFrame = ({ topology, collective }: { topology: TreeFlow["topology"]; collective: Collective }) => ({
  kind: "trees" as const,
  topology,
  collective,
  concurrent: false,
});

const cutOf = ({ cut }: Grown, direction: "out" | "in"): CutCertificate => ({ kind: "cut", nodes: cut, direction });

const synthesisOf = ({ policy, trials, repaired, notes }: Grown, flow: TreeFlow): TreeSynthesis => ({
  flow,
  policy,
  trials,
  repaired,
  notes,
});

/** The better of reduce-scatter followed by all-gather and what the linear program of B.7 gives. */
async function allReduce(request: TreeRequest, context: TreeContext, weight: Float64Array): Promise<TreeSynthesis> {
  const grown = await growForest(request, context, "out", weight);
  const together = await allReduceTogether(request, context, grown);
  if ("synthesis" in together) return together.synthesis;
  const back = await growBack(request, context, weight, grown);
  const notes = [...grown.notes, ...back.notes, ...together.notes];
  const trials = grown.trials + back.trials;
  const { policy } = couldBeLower(back.policy) ? back : grown;
  return synthesisOf(
    { ...grown, policy, trials, notes },
    {
      ...flowFrame(request),
      forests: [back.forest, grown.forest],
      symmetry: grown.symmetry,
      certificate: together.certificate ?? cutOf(grown, "out"),
    },
  );
}
