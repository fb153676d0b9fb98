import { disjointSets } from "../../model/graph/disjoint-sets.ts";
import { type Grouped, groupedBy } from "../../model/graph/graph.ts";
import { nodeCount, type Topology } from "../../model/topology/topology.ts";
import type { OrbitBudgets } from "./orbit-budgets.ts";

/** NPUs split ever finer: level i are the components that remain without the links of some orbits, last the single NPUs. */
export interface Level {
  /** [NPUs] the component of each NPU, numbered from that of NPU 0 on. */
  readonly group: Int32Array;
  readonly groups: number;
  /** The NPUs of each component. */
  readonly members: Grouped;
  /** [orbits] 1 where the links of an orbit lead from elsewhere into a component with NPUs. */
  readonly enters: Uint8Array;
  /** [orbits] 1 where they lead out of one. */
  readonly leaves: Uint8Array;
}

/** Above so many tiers all that have equal budgets go at once. */
const MOST_TIERS = 32;

/**
 * Returns the levels, coarsest first: tier after tier of links is taken away, and each that splits the NPUs further makes a
 * level. On a fat tree these are pods, leaves, servers and NPUs. A tier is the orbits that join nodes of the same two orbits.
 * Scarce tiers go first when `byBudget`, and those that split least among equals; otherwise the latter alone decides.
 * O(tiers^2 * (nodes + links)).
 */
export function levelsOf(topology: Topology, { orbit, budget }: OrbitBudgets, byBudget: boolean): Level[] {
  const levels: Level[] = [];
  const tier = tiersOf(topology, orbit, budget.length);
  const scarcity = new Map<number, number>();
  for (let o = 0; o < budget.length; o++) {
    scarcity.set(tier[o], byBudget ? Math.min(scarcity.get(tier[o]) ?? budget[o], budget[o]) : 0);
  }
  const gone = new Uint8Array(budget.length);
  let last = splitWithout(topology, orbit, gone);
  while (scarcity.size > 0) {
    const least = Math.min(...scarcity.values());
    const equals = [...scarcity.keys()].filter((t) => scarcity.get(t) === least);
    let next = equals;
    if (equals.length > 1 && equals.length <= MOST_TIERS) {
      let fewest = Number.POSITIVE_INFINITY;
      for (const t of equals) {
        const { groups } = splitWithout(
          topology,
          orbit,
          gone.map((flag, o) => (tier[o] === t ? 1 : flag)),
        );
        if (groups <= last.groups || groups >= fewest) continue;
        fewest = groups;
        next = [t];
      }
    }
    for (const t of next) scarcity.delete(t);
    for (let o = 0; o < gone.length; o++) if (next.includes(tier[o])) gone[o] = 1;
    const split = splitWithout(topology, orbit, gone);
    if (split.groups > last.groups) levels.push(levelOf(topology, orbit, budget.length, split));
    last = split;
  }
  return levels;
}

/** Returns a number for the tier of each orbit; each orbit of links between NPUs is a tier of its own. */
function tiersOf(
  { npuCount, linkSource, linkTarget, nodeNames }: Topology,
  orbit: Int32Array,
  orbits: number,
): Int32Array {
  const nodes = disjointSets(nodeNames.length);
  const first = new Int32Array(orbits).fill(-1);
  for (let link = orbit.length - 1; link >= 0; link--) {
    const known = first[orbit[link]];
    first[orbit[link]] = link;
    if (known < 0) continue;
    nodes.join(linkSource[link], linkSource[known]);
    nodes.join(linkTarget[link], linkTarget[known]);
  }
  const byEnds = new Map<string, number>();
  return first.map((link, o) => {
    const [a, b] = [linkSource[link], linkTarget[link]];
    const ends = [nodes.least(a), nodes.least(b)].sort((x, y) => x - y).join();
    const key = Math.max(a, b) < npuCount ? `orbit ${o}` : ends;
    const known = byEnds.get(key) ?? byEnds.size;
    byEnds.set(key, known);
    return known;
  });
}

interface Split {
  /** [nodes] the least node of each node's component. */
  readonly component: Int32Array;
  /** The numbers of those with NPUs, in the order of their first NPUs. */
  readonly number: ReadonlyMap<number, number>;
  readonly groups: number;
}

/** Returns the components over links, both ways, of orbits that are not gone. O(nodes + links). */
function splitWithout(topology: Topology, orbit: Int32Array, gone: Uint8Array): Split {
  const { npuCount, linkSource, linkTarget } = topology;
  const sets = disjointSets(nodeCount(topology));
  for (let link = 0; link < orbit.length; link++) {
    if (gone[orbit[link]] === 0) sets.join(linkSource[link], linkTarget[link]);
  }
  const component = Int32Array.from({ length: nodeCount(topology) }, (_, v) => sets.least(v));
  const number = new Map<number, number>();
  for (let v = 0; v < npuCount; v++) if (!number.has(component[v])) number.set(component[v], number.size);
  return { component, number, groups: number.size };
}

function levelOf(topology: Topology, orbit: Int32Array, orbits: number, { component, number, groups }: Split): Level {
  const { npuCount, linkSource, linkTarget } = topology;
  const group = Int32Array.from({ length: npuCount }, (_, v) => number.get(component[v]) ?? 0);
  const enters = new Uint8Array(orbits);
  const leaves = new Uint8Array(orbits);
  for (let link = 0; link < orbit.length; link++) {
    const [from, to] = [component[linkSource[link]], component[linkTarget[link]]];
    if (from === to) continue;
    if (number.has(to)) enters[orbit[link]] = 1;
    if (number.has(from)) leaves[orbit[link]] = 1;
  }
  return { group, groups, members: groupedBy(group, groups), enters, leaves };
}
