import type { Collective } from "../model/collective/collective.ts";
import { generatorMaps, orbitsOf } from "../model/symmetry/network-maps.ts";
import { networkSymmetry } from "../model/symmetry/network-symmetry.ts";
import { linkCount, linkNames, nodeCount, type Topology } from "../model/topology/topology.ts";

/** Collectives in which all NPUs are alike. */
const MUTUAL: ReadonlySet<string> = new Set(["allgather", "reducescatter", "allreduce", "alltoall"]);

/**
 * Returns what tells failures apart: for the name of one node, or of both ways between two (`a-b`), a key that those have which a
 * symmetry of the network takes to each other, so that what is left is the same network; null for all others, and where the
 * network has no symmetry or the collective is not among all NPUs alike. O(generators * (nodes + links)).
 */
export function alikeFailures(topology: Topology, collective: Collective): (name: string) => string | null {
  const { kind, groupCount, groupSize } = collective;
  const isAmongAll = MUTUAL.has(kind) && groupCount === 1 && groupSize === topology.npuCount;
  const symmetry = isAmongAll ? networkSymmetry(topology) : null;
  if (symmetry === null) return () => null;
  const maps = generatorMaps(topology, symmetry);
  const nodes = orbitsOf(
    nodeCount(topology),
    maps.map(({ node }) => node),
  );
  const links = orbitsOf(
    linkCount(topology),
    maps.map(({ link }) => link),
  );
  const keys = new Map<string, string>();
  const names = linkNames(topology);
  const at = new Map(names.map((name, link) => [name, link]));
  names.forEach((name, link) => {
    const [, from, to, ordinal] = /^(.+)>([^#]+)(.*)$/.exec(name) ?? [];
    const other = at.get(`${to}>${from}${ordinal}`);
    // links that lead one way only have no such name
    if (other === undefined) return;
    const both = [links.of[link] as number, links.of[other] as number].sort((a, b) => a - b);
    keys.set(`${from}-${to}${ordinal}`, `links ${both.join()}`);
  });
  topology.nodeNames.forEach((name, node) => {
    keys.set(name, `node ${nodes.of[node]}`);
  });
  return (name) => keys.get(name) ?? null;
}
