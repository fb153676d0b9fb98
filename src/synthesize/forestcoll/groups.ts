import { InputError } from "../../base/errors.ts";
import { optionName } from "../../base/option-names.ts";
import { type Collective, collective as named } from "../../model/collective/collective.ts";
import { compare, rational, toNumber } from "../../model/numbers/rational.ts";
import type { TreeFlow } from "../../model/trees/tree-flow.ts";
import type { GroupsSynthesis, TreeContext, TreeMaker, TreeRequest } from "../tree-maker.ts";
import { groupShares } from "./group-shares.ts";
import { contributions } from "./requests.ts";
import { unreached } from "./unreached.ts";

/** Returns the collective of one of several groups. Throws InputError for a table. */
function ofGroup(
  { kind, groupSize, groupMembers, sizeBytes, chunksPerNpu, rootRank }: Collective,
  group: number,
): Collective {
  if (kind === "custom") throw new InputError(optionName("collective"), "one with a name, for several groups", kind);
  const members = groupMembers.subarray(group * groupSize, (group + 1) * groupSize);
  return named({ kind, groups: [members], sizeBytes, chunksPerNpu, rootRank });
}

/**
 * Returns the trees of several groups at once: those that a maker packs for each group by itself, in shares of the links that let
 * the slowest group be as fast as it can (`groupShares`). Throws InputError for what only one group can ask, InfeasibleError as `make`.
 */
export async function makeGroups(
  maker: Pick<TreeMaker, "make" | "name">,
  request: TreeRequest,
  context: TreeContext,
): Promise<GroupsSynthesis> {
  const { topology, collective, usable, repair, own } = request;
  const { groupCount } = collective;
  if (repair !== null)
    throw new InputError(optionName("repair"), "one group beside it (trees of several are made anew)", groupCount);
  if (own?.offload === true)
    throw new InputError(optionName("offload"), "one group beside it (trees of several only forward)", groupCount);
  const each = Array.from({ length: groupCount }, (_, group) => ofGroup(collective, group));
  for (const one of each) {
    const error = unreached(topology, one, usable);
    if (error !== null) throw error;
  }
  const weight = contributions(each[0]);
  const groups = each.map(({ groupMembers }) => groupMembers);
  const { shares, how, rate, most } = await groupShares(
    { topology, groups, usable, weight },
    context.kernels.rate,
    context.lp,
  );
  if (compare(rate, rational(0)) === 0)
    throw new InputError(
      optionName("group"),
      `groups that can each have a part of the links (${maker.name}), or one at a time`,
      groups.length,
    );
  const flows: TreeFlow[] = [];
  const notes = new Set<string>();
  const policies = new Set<string>();
  let trials = 0;
  let couldBeBetter = false;
  for (const [group, one] of each.entries()) {
    const found = await maker.make({ ...request, collective: one, usable: shares[group] }, context);
    flows.push(found.flow);
    policies.add(found.policy);
    trials += found.trials;
    couldBeBetter ||= found.couldBeBetter === true;
    for (const note of found.notes) notes.add(note);
  }
  const share = Math.min(100, Math.floor((10_000 * toNumber(rate)) / most + 1e-3) / 100);
  const reached = `; the slowest group has ${share === 100 ? "" : "at least "}${share} % of the rate that any shares allow`;
  return {
    flows,
    policy: [...policies].join(" or "),
    trials,
    couldBeBetter,
    notes: [`trees of ${groups.length} groups at once, ${how}${reached}`, ...notes],
  };
}
