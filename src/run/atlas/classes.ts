import { optionName } from "../../base/option-names.ts";
import type { Collective } from "../../model/collective/collective.ts";
import { failureClasses } from "../../model/symmetry/failure-classes.ts";
import { resolver } from "../../model/topology/modify.ts";
import type { Topology } from "../../model/topology/topology.ts";

/** Failures, each of them names that fail together. */
export type Failures = readonly (readonly string[])[];

/**
 * Returns the class of each failure: the place of the one of `known` that it is alike to, or else that of the first alike one among
 * those that are new, counted on from there. Throws InputError for an unknown name.
 */
export function classedWith(
  topology: Topology,
  collective: Collective,
  known: Failures,
  failures: Failures,
): { readonly classOf: readonly number[]; readonly firsts: Failures } {
  const targetOf = resolver(topology, optionName("failures"));
  const all = [...known, ...failures];
  const { classOf } = failureClasses(
    topology,
    collective,
    all.map((names) => names.map(targetOf)),
  );
  const places = new Map<number, number>();
  // of known ones that are alike after all the first stands for what is new
  for (let i = 0; i < known.length; i++) if (!places.has(classOf[i] as number)) places.set(classOf[i] as number, i);
  const firsts: (readonly string[])[] = [];
  const found = failures.map((names, i) => {
    const key = classOf[known.length + i] as number;
    const place = places.get(key) ?? known.length + firsts.push(names) - 1;
    places.set(key, place);
    return place;
  });
  return { classOf: found, firsts };
}
