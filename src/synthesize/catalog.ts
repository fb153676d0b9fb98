import { InputError } from "../base/errors.ts";
import { optionName, type Place } from "../base/option-names.ts";
import type { Collective } from "../model/collective/collective.ts";
import { type Estimate, estimateOf } from "../model/steps/estimate.ts";
import { closest, spelt, unknownName } from "../model/topology/closest.ts";
import type { Topology } from "../model/topology/topology.ts";
import { mcf } from "./alltoall/alltoall.ts";
import { direct } from "./baselines/direct.ts";
import { doubleBinaryTrees } from "./baselines/double-binary-tree.ts";
import { ncclRings, ncclTree } from "./baselines/nccl.ts";
import { ring, rings, shiftedRings } from "./baselines/rings.ts";
import { bruck, parallelAggregatedTrees, recursiveHalvingDoubling } from "./baselines/rounds.ts";
import { bfb } from "./bfb/bfb.ts";
import { expand } from "./expand/expand.ts";
import { blink } from "./forestcoll/blink.ts";
import { forestcoll } from "./forestcoll/forestcoll.ts";
import { multitree } from "./forestcoll/multitree.ts";
import { tacosIlp } from "./ilp/ilp.ts";
import { type JointIlpSynthesis, solveTogether } from "./ilp/together.ts";
import { togetherBy } from "./joint/by-maker.ts";
import { type JointContext, type JointRequest, type JointSynthesis, synthesizeJoint } from "./joint/joint.ts";
import type { MakerOption } from "./maker.ts";
import type { PhaseMaker } from "./phase-maker.ts";
import { sccl } from "./sccl/sccl.ts";
import type { MadeSteps, Synthesizer } from "./synthesizer.ts";
import { taccl } from "./taccl/taccl.ts";
import { tacos } from "./tacos/tacos.ts";
import { blueconnect, themis } from "./themis/themis.ts";
import type { TreeMaker } from "./tree-maker.ts";
import { cCube } from "./trees/c-cube.ts";
import { nvls } from "./trees/nvls.ts";
import { tto } from "./trees/tto.ts";

/** Every synthesizer of step schedules, the default first. */
export const SYNTHESIZERS: readonly Synthesizer<MadeSteps>[] = [
  tacos,
  ring,
  rings,
  ncclRings,
  ncclTree,
  direct,
  recursiveHalvingDoubling,
  bruck,
  parallelAggregatedTrees,
  shiftedRings,
  doubleBinaryTrees,
  bfb,
  expand,
  mcf,
  tacosIlp,
  sccl,
  taccl,
];

/** Everything that makes trees. */
export const TREE_MAKERS: readonly TreeMaker[] = [forestcoll, blink, multitree, cCube, tto, nvls];

/** Everything that makes phases within the dimensions of a network. */
export const PHASE_MAKERS: readonly PhaseMaker[] = [themis, blueconnect];

export type Algorithm = Synthesizer<MadeSteps> | TreeMaker | PhaseMaker;

export const ALGORITHMS: readonly Algorithm[] = [...SYNTHESIZERS, ...TREE_MAKERS, ...PHASE_MAKERS];

/** Stands for the best algorithm in place of a name. */
export const AUTO = "auto";

/** What is used where nobody names one. */
export const USUAL_ALGORITHM = "tacos";

/** What makes one schedule of several collectives at once, by algorithm; the usual one first. */
export const TOGETHER: Readonly<
  Record<string, (request: JointRequest, context: JointContext) => Promise<JointSynthesis & Partial<JointIlpSynthesis>>>
> = { tacos: synthesizeJoint, "tacos-ilp": solveTogether, taccl: togetherBy(taccl), direct: togetherBy(direct) };

/** Returns the names of the makers that take an option, in the catalogue's order. */
export const takersOf = (option: MakerOption): string[] =>
  ALGORITHMS.filter(({ options }) => options?.includes(option)).map(({ name }) => name);

/** Names that others give to algorithms, in small letters without what joins words. */
const ALSO_CALLED: Readonly<Record<string, string>> = {
  halvingdoubling: "rhd",
  recursivehalvingdoubling: "rhd",
  doublebinarytree: "dbt",
  doublebinarytrees: "dbt",
  tree: "nccl-tree",
  nccl: "nccl-rings",
  multirail: "blueconnect",
  hierarchical: "blueconnect",
  parallelaggregatedtrees: "pat",
  best: AUTO,
  fastest: AUTO,
  optimal: AUTO,
  automatic: AUTO,
};

/** Returns what has that name, in any spelling; throws InputError for `place`, which lists the others as well. */
export function algorithmNamed(
  name: string,
  others: readonly string[] = [],
  place: Place = optionName("algorithm"),
): Algorithm {
  const names = ALGORITHMS.map((one) => one.name);
  const found = spelt(name, names);
  if (found === undefined) {
    const known = [...names, ...others];
    const meant = ALSO_CALLED[name.toLowerCase().replace(/[\s_-]/g, "")] ?? closest(name, known);
    throw unknownName(place, name, known, { list: "algorithms", meant });
  }
  return ALGORITHMS.find((algorithm) => algorithm.name === found) as Algorithm;
}

/** Returns the name of an algorithm, or "auto"; throws InputError. */
export const algorithmOrAuto = (name: string): string => spelt(name, [AUTO]) ?? algorithmNamed(name, [AUTO]).name;

/** Throws InputError for a policy that the algorithm does not have. */
export function checkPolicy(
  { name, policies }: Pick<Algorithm, "name" | "policies">,
  policy: string | undefined,
): void {
  if (policy === undefined || policies.includes(policy)) return;
  if (policies.length > 0) throw unknownName(optionName("policy"), policy, policies);
  throw new InputError(optionName("policy"), `nothing beside ${name}, which has no policies,`, policy).as(
    "unknown-name",
  );
}

/** Returns what a schedule will take, about: as its maker keeps it, else transfer by transfer or as logs. O(links). */
export const estimateBy = (
  { estimate }: Synthesizer<MadeSteps>,
  topology: Topology,
  collective: Collective,
): Estimate => estimate?.(topology, collective) ?? estimateOf(topology, collective);

/** Returns the synthesizer of step schedules of that name; throws InputError. */
export function synthesizerNamed(name: string): Synthesizer<MadeSteps> {
  const found = algorithmNamed(name);
  if (found.makes !== "steps") {
    const names = SYNTHESIZERS.map((one) => one.name).join(", ");
    throw new InputError(optionName("algorithm"), `one that makes steps (${names})`, name);
  }
  return found;
}
