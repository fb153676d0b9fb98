import type { TreeContext, TreeRequest } from "../tree-maker.ts";
import type { AllReduceRates } from "./allreduce-rates.ts";
import type { Grown } from "./grow.ts";
import { forestFrom, packingNetwork, packTrees } from "./packing.ts";
import { mirroredForest } from "./requests.ts";

/** The trees of an all-reduce in both directions side by side, as its linear program has them. */

/** Above this many members the linear program is tried only where symmetry makes it small, above more of them never. */
export const FEW_MEMBERS = 128;
export const MOST_MEMBERS = 1024;
export const MOST_ORBITS = 1000;
/** Above few members, so many copies for each are too many to be packed. */
export const MOST_COPIES = 16;

/** The trees of one direction of an all-reduce. */
export type Side = Pick<Grown, "forest" | "policy" | "trials" | "couldBeLower">;

/** Returns the in-trees that out-trees give when they are turned around; null where links have other room for those. */
export function mirrorOf(
  { topology, usable }: TreeRequest,
  { outCapacity, inCapacity }: AllReduceRates,
  out: Side,
): Side | null {
  const forest = mirroredForest(topology, usable, out.forest, { own: outCapacity, turned: inCapacity });
  return forest && { ...out, forest, trials: 0 };
}

/** Returns trees that fit beside those of the other direction; null where none were packed. */
export async function forestOf(
  { topology, collective, usable, seed, policy }: TreeRequest,
  kernels: TreeContext["kernels"],
  direction: "out" | "in",
  rates: AllReduceRates,
): Promise<Side | null> {
  const network = packingNetwork(topology, collective.groupMembers, usable, direction);
  const fits = direction === "out" ? rates.outCapacity : rates.inCapacity;
  const capacity = Float64Array.from(network.link, (link) => fits[link]);
  const outcome = await packTrees(network, capacity, rates.copies, kernels, { seed, policy });
  if (outcome === null || "cut" in outcome) return null;
  return {
    forest: forestFrom(network, outcome.trees, direction, rates.copyBytesPerSecond, collective.groupMembers),
    policy: outcome.policy,
    trials: outcome.trials,
    couldBeLower: outcome.couldBeLower,
  };
}
