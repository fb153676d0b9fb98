import { compare, type Rational, rational } from "../../model/numbers/rational.ts";
import { TREE_OPTIONS, type TreeContext, type TreeMaker, type TreeRequest, type TreeSynthesis } from "../tree-maker.ts";
import { growBack, growForest } from "./grow.ts";
import type { RateKernel } from "./optimum.ts";
import { PACK_POLICIES, type PackingNetwork, packingNetwork } from "./packing.ts";
import { reduceAndBroadcast, refuseSeveralGroups } from "./requests.ts";

/**
 * Blink (Wang et al., MLSys 2020, as Zhao 2026 describes it in 4.2 and 4.6.2): trees from a single root. A broadcast and a
 * reduction are as fast as can be; an all-reduce is a reduction to one root and a broadcast from it, and that root is its
 * bottleneck. The baseline that shows what trees from all roots are worth.
 *
 * Deviations. The packing is exact (as the dissertation's own "Blink+Switch"), not approximate, and switches are passed by paths
 * instead of being replaced by logical links, which changes no rate. All-gather, which Blink does as an all-reduce without
 * sums, is not offered: its data would cross every link as often as an all-reduce's.
 */
export const blink: TreeMaker = {
  name: "blink",
  makes: "trees",
  description: "trees from a single root, an all-reduce through the best one (Blink)",
  collectives: ["allreduce", "broadcast", "reduce"],
  policies: PACK_POLICIES,
  options: TREE_OPTIONS,
  async make(request, context) {
    const { topology, collective, usable } = request;
    const { kind, groupSize, groupMembers, rootRank } = collective;
    refuseSeveralGroups(collective, "blink packs the trees of one at a time");
    const network = packingNetwork(topology, groupMembers, usable, "out");
    const root = kind === "allreduce" ? await fastestRoot(network, context.kernels.rate) : rootRank;
    const weight = new Float64Array(groupSize);
    weight[root] = 1;
    if (kind === "allreduce") {
      const found = await allReduceFrom(request, context, weight);
      return { ...found, policy: `root ${topology.nodeNames[groupMembers[root]]}, ${found.policy}` };
    }
    const direction = kind === "reduce" ? "in" : "out";
    const { forest, certificate, policy, trials, repaired, notes } = await growForest(
      request,
      context,
      direction,
      weight,
    );
    const frame = { kind: "trees", topology, collective, symmetry: null, certificate } as const;
    return { flow: { ...frame, forests: [forest], concurrent: false }, policy, trials, repaired, notes };
  },
};

/**
 * Returns the NPU whose trees carry most, the least of equal ones. A broadcast from v reaches the least capacity that leaves a set
 * which contains v and lacks an NPU. So what leaves the cut that binds one root bounds all roots inside it, and only those
 * outside need be tried: one call of the kernel for each cut, a box at a time on clusters, not one for each NPU.
 */
export async function fastestRoot(network: PackingNetwork, rate: RateKernel): Promise<number> {
  const { nodeCount, npuCount, linkSource, linkTarget, bandwidth } = network;
  const bounded = new Uint8Array(npuCount);
  let best = 0;
  let most: Rational = rational(-1);
  for (let v = 0; v < npuCount; v++) {
    if (bounded[v] === 1) continue;
    const weight = new Float64Array(npuCount);
    weight[v] = 1;
    const { capacity, cut } = await rate({ nodeCount, npuCount, linkSource, linkTarget, capacity: bandwidth, weight });
    for (let u = 0; u < npuCount; u++) if (cut[u] === 1) bounded[u] = 1;
    if (compare(rational(capacity), most) <= 0) continue;
    most = rational(capacity);
    best = v;
  }
  return best;
}

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
