import { InputError } from "../../base/errors.ts";
import type { Collective } from "../../model/collective/collective.ts";
import type { Topology } from "../../model/topology/topology.ts";
import { allReduceFrom } from "../forestcoll/from-roots.ts";
import { refuseSeveralGroups } from "../forestcoll/one-group.ts";
import { PACK_POLICIES } from "../forestcoll/pack-trees.ts";
import type { TreeMaker } from "../tree-maker.ts";
import { meshOf } from "./mesh.ts";

const NEEDED = "a 2D mesh of 3x3 or more, all of its NPUs or all but one corner, for tto";

/** Where trees start, and the corner without one: an NPU that takes part, one that only forwards, or none. */
interface Roots {
  readonly npus: readonly number[];
  readonly fourth: { readonly npu: number; readonly takesPart: boolean } | null;
}

/**
 * TTO (three tree overlap; Laskar et al., HPCA 2024, recalled; TACOS 2024, VII names it as Blink made for 2D meshes, with three
 * spanning trees from NPUs at the rim): an all-reduce by three trees of a mesh, rooted at three of its corners, over different
 * links. The fourth corner is left out of the work, and only forwards.
 *
 * That much follows from cuts. A corner has two links in, so where all four take part no more than two of three equal trees can
 * enter the fourth at full rate; a root needs only the two that are not its own. The two NPUs beside the fourth corner have
 * three links in, one of them from that corner: without its links they are the bottleneck. Rates are those of an exact packing,
 * so three trees are at full rate where they can be, and all other cases (no fourth corner, unequal links) are as fast as
 * three corners allow. Which edges the paper's trees have is not known here. A reduction and a broadcast follow each other or
 * run side by side, whatever is faster.
 */
export const tto: TreeMaker = {
  name: "tto",
  description: "three trees from three corners of a 2D mesh over different links (TTO)",
  collectives: ["allreduce"],
  policies: PACK_POLICIES,
  refuses: (topology, collective) => (rootsOf(topology, collective) === null ? NEEDED : null),
  async make(request, context) {
    const { topology, collective } = request;
    refuseSeveralGroups(collective, "tto packs the trees of one mesh");
    const roots = rootsOf(topology, collective);
    if (roots === null) throw new InputError("the topology", NEEDED, topology.name);
    const weight = Float64Array.from(collective.groupMembers, (npu) => (roots.npus.includes(npu) ? 1 : 0));
    const found = await allReduceFrom(request, context, weight);
    const name = (npu: number): string => topology.nodeNames[npu];
    return {
      ...found,
      policy: `roots ${roots.npus.map(name).join(", ")}, ${found.policy}`,
      notes: [...found.notes, ...noteOf(roots, name)],
    };
  },
};

function rootsOf(topology: Topology, { groupCount, groupSize, groupMembers }: Collective): Roots | null {
  const mesh = groupCount === 1 && groupSize >= topology.npuCount - 1 ? meshOf(topology) : null;
  if (mesh === null) return null;
  const { corners } = mesh;
  const isMember = new Set(groupMembers);
  const outside = corners.filter((npu) => !isMember.has(npu));
  if (groupSize + outside.length !== topology.npuCount) return null;
  if (corners.length === 3) return outside.length === 0 ? { npus: corners, fourth: null } : null;
  const takesPart = outside.length === 0;
  const npu = takesPart ? corners[3] : outside[0];
  return { npus: corners.filter((corner) => corner !== npu), fourth: { npu, takesPart } };
}

function noteOf({ fourth }: Roots, name: (npu: number) => string): string[] {
  if (fourth === null) {
    return [
      "the two NPUs beside the missing corner have two links each, which three trees share; a corner that only forwards (--group without it) would help",
    ];
  }
  if (!fourth.takesPart) return [];
  return [
    `corner ${name(fourth.npu)} takes part, over two links that three trees share; the others alone (--group without it) would be faster`,
  ];
}
