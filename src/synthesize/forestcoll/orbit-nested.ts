import { nodeCount, type Topology } from "../../model/topology/topology.ts";
import type { OrbitBudgets } from "./orbit-budgets.ts";
import type { Meter } from "./orbit-entries.ts";
import { type GrownTree, growTree } from "./orbit-grow.ts";
import { type Level, levelsOf } from "./orbit-levels.ts";
import type { OrbitTree, Paths } from "./orbit-paths.ts";

/** Prices are at most NPUs times this. */
const PRICE_SCALE = 2 ** 20;

/**
 * Returns k trees of root 0 within the budgets, grown from scarce orbits to plentiful ones (orbit-grow.ts), each as low as the
 * growth makes it; null where it gets stuck. Made for switched fabrics whose tiers are ever scarcer: every pod, then every
 * leaf, server and NPU is entered once, and what the scarce tiers can carry beyond that shortens the trees. Copies share every
 * orbit's budget evenly, so at most orbits + 1 trees differ. Not exact: null says nothing of other methods. O(trees * levels * height * (nodes + links)).
 */
export function nestedTrees(
  topology: Topology,
  paths: Paths,
  { orbit, budget }: OrbitBudgets,
  k: number,
): readonly OrbitTree[] | null {
  for (const byBudget of [true, false]) {
    const trees = nestedBy(topology, paths, { orbit, budget }, k, byBudget);
    if (trees !== null) return trees;
  }
  return null;
}

function nestedBy(
  topology: Topology,
  paths: Paths,
  { orbit, budget }: OrbitBudgets,
  k: number,
  byBudget: boolean,
): readonly OrbitTree[] | null {
  const levels = levelsOf(topology, { orbit, budget }, byBudget);
  if (levels.length === 0 || levels[levels.length - 1].groups < topology.npuCount) return null;
  const price = budget.map(
    (uses) => 1 + Math.floor((topology.npuCount * PRICE_SCALE) / Math.max(1, Math.floor(uses / k))),
  );
  const trees: OrbitTree[] = [];
  for (const { copies, left } of evenShares(topology, { orbit, budget }, k)) {
    const into = growLowest(topology, paths, levels, { orbit, left, price });
    if (into === null) return null;
    trees.push({ copies, into });
  }
  return trees;
}

/** Returns the first tree no higher than what it aims at, from height 1 up; where there is none, the lowest that grows at all. */
function growLowest(topology: Topology, paths: Paths, levels: readonly Level[], meter: Meter): Int32Array | null {
  const grown = (aim: number, strict: boolean): GrownTree | null =>
    growTree(topology, paths, levels, { ...meter, left: meter.left.slice() }, aim, strict);
  for (let aim = 1; aim <= levels.length; aim++) {
    const tree = grown(aim, true);
    if (tree !== null) return tree.into;
  }
  let best: GrownTree | null = null;
  for (let aim = levels.length; aim >= 1; aim--) {
    const tree = grown(aim, false);
    if (tree !== null && (best === null || tree.height < best.height)) best = tree;
  }
  return best?.into ?? null;
}

/**
 * Splits budgets evenly over k copies; what does not divide goes to copies in turn, orbit after orbit of the same direction
 * (away from NPUs, towards them, neither), for orbits of one tier stand in for each other. Equal neighbours come as one.
 */
function evenShares(
  topology: Topology,
  { orbit, budget }: OrbitBudgets,
  k: number,
): { readonly copies: number; readonly left: Float64Array }[] {
  const direction = directionsOf(topology, orbit, budget.length);
  const turn = [0, 0, 0];
  const from = new Float64Array(budget.length);
  const starts = new Set([0]);
  for (let o = 0; o < budget.length; o++) {
    from[o] = turn[direction[o]];
    const end = (from[o] + (budget[o] % k)) % k;
    turn[direction[o]] = end;
    starts.add(from[o]).add(end);
  }
  const order = [...starts].sort((a, b) => a - b);
  return order.map((copy, i) => ({
    copies: (i + 1 < order.length ? order[i + 1] : k) - copy,
    left: budget.map((uses, o) => Math.floor(uses / k) + ((copy - from[o] + k) % k < uses % k ? 1 : 0)),
  }));
}

function directionsOf(topology: Topology, orbit: Int32Array, orbits: number): Int32Array {
  const { npuCount, linkSource, linkTarget } = topology;
  const distance = new Int32Array(nodeCount(topology)).fill(-1).fill(0, 0, npuCount);
  for (let round = 0, changed = true; changed; round++) {
    changed = false;
    for (let link = 0; link < orbit.length; link++) {
      if (distance[linkSource[link]] !== round || distance[linkTarget[link]] >= 0) continue;
      distance[linkTarget[link]] = round + 1;
      changed = true;
    }
  }
  const direction = new Int32Array(orbits);
  for (let link = 0; link < orbit.length; link++) {
    direction[orbit[link]] = 1 + Math.sign(distance[linkTarget[link]] - distance[linkSource[link]]);
  }
  return direction;
}
