import { InputError } from "../../base/errors.ts";
import { optionName } from "../../base/option-names.ts";
import { type AtlasClass, type AtlasIndex, type Found, foundByName } from "../../model/atlas/atlas-index.ts";
import { failureClasses } from "../../model/symmetry/failure-classes.ts";
import type { NetworkMap } from "../../model/symmetry/network-maps.ts";
import { resolver, type Target } from "../../model/topology/modify.ts";
import { linkNames, type Topology } from "../../model/topology/topology.ts";
import { namedRequest } from "../../request/from-texts.ts";
import { problemOf } from "../../request/problem.ts";

/** Returns the collective of an atlas on its network. */
const collectiveOf = (index: AtlasIndex, kind: string, topology: Topology) =>
  problemOf(topology, namedRequest(kind, index.making)).collective;

const targetsOf = (topology: Topology, names: readonly string[]): Target[] =>
  names.map(resolver(topology, optionName("failed")));

/**
 * Returns what failed by the names that atlases have: cables from their lower end, whichever way they were named. Throws InputError
 * for what is no part of the network.
 */
export function namesHeard(topology: Topology, names: readonly string[]): string[] {
  const { linkSource, linkTarget, nodeNames } = topology;
  const targetOf = resolver(topology, optionName("failed"));
  let links: string[] | undefined;
  return names.map((name) => {
    const link = targetOf(name).links[0];
    if (link === undefined) return name.trim();
    links ??= linkNames(topology);
    const [from, to] = [linkSource[link] as number, linkTarget[link] as number];
    const [a, b] = from < to ? [from, to] : [to, from];
    return `${nodeNames[a]}-${nodeNames[b]}${/#\d+$/.exec(links[link] as string)?.[0] ?? ""}`;
  });
}

/** Returns the class of a failure: by its name, or else by a symmetry of the network that takes one that is there to it. */
export function classFound(
  index: AtlasIndex,
  kind: string,
  topology: Topology,
  names: readonly string[],
): (Found & { readonly one: AtlasClass }) | null {
  const collective = index.collectives[kind];
  if (collective === undefined) return null;
  const { classes } = collective;
  const heard = namesHeard(topology, names);
  const named = foundByName(collective, names) ?? foundByName(collective, heard);
  if (named !== null) return { ...named, one: classes[named.at] as AtlasClass };
  const firsts = classes.map(({ failed }) => targetsOf(topology, failed));
  const { find, firstOf } = failureClasses(topology, collectiveOf(index, kind, topology), firsts);
  const found = find(targetsOf(topology, heard));
  if (found === null) return null;
  const at = firstOf[found.of] as number;
  return { at, failed: heard, one: classes[at] as AtlasClass };
}

/** Returns the map of the network that takes the failure that stands for a class onto another one of the class. Throws InputError. */
export function mapOnto(
  index: AtlasIndex,
  kind: string,
  topology: Topology,
  first: readonly string[],
  failed: readonly string[],
): NetworkMap {
  const { find } = failureClasses(topology, collectiveOf(index, kind, topology), [targetsOf(topology, first)]);
  const found = find(targetsOf(topology, failed));
  if (found === null)
    throw new InputError(optionName("failed"), `a failure that is alike to ${first.join(",")}`, failed.join(","));
  return found.map();
}
