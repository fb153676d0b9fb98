import type { NumberedSets } from "../../model/graph/disjoint-sets.ts";
import type { Rational } from "../../model/numbers/rational.ts";
import type { Topology } from "../../model/topology/topology.ts";

/** How often the k trees of root 0 together may use the links of each orbit. */
export interface OrbitBudgets {
  /** [links] */
  readonly orbit: Int32Array;
  /** [orbits] exact integers; what no k trees can use up is cut off at k * NPUs. */
  readonly budget: Float64Array;
}

/**
 * Returns the budgets of k trees with capacity floor(U * bandwidth) copies in each link. A group that moves NPUs freely and
 * transitively has NPUs / |orbit| elements that take one given link of an orbit to another, so a use of any link of the orbit
 * loads every one of them that often. O(links).
 */
export function orbitBudgets(
  topology: Topology,
  { of: orbit, size }: NumberedSets,
  k: number,
  U: Rational,
): OrbitBudgets {
  const { npuCount, linkBytesPerSecond } = topology;
  const most = BigInt(k) * BigInt(npuCount);
  const budget = new Float64Array(size.length).fill(-1);
  for (let link = 0; link < orbit.length; link++) {
    if (budget[orbit[link]] >= 0) continue;
    const copies = (U.num * BigInt(linkBytesPerSecond[link])) / U.den;
    const uses = (copies * BigInt(size[orbit[link]])) / BigInt(npuCount);
    budget[orbit[link]] = Number(uses < most ? uses : most);
  }
  return { orbit, budget };
}

/** Returns whether the links into NPUs, and those out of them, can be used once for each edge of k trees. O(links). */
export function coversAllEdges(topology: Topology, { orbit, budget }: OrbitBudgets, k: number): boolean {
  const { npuCount } = topology;
  return [topology.linkSource, topology.linkTarget].every((ends) => {
    const counted = new Uint8Array(budget.length);
    let uses = 0;
    for (let link = 0; link < orbit.length; link++) {
      if (ends[link] >= npuCount || counted[orbit[link]] !== 0) continue;
      counted[orbit[link]] = 1;
      uses += budget[orbit[link]];
    }
    return uses >= k * (npuCount - 1);
  });
}
