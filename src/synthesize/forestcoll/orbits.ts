import type { PackedTrees } from "../../engine/contract/kernels.ts";
import type { Rational } from "../../model/numbers/rational.ts";
import { linkOrbits } from "../../model/symmetry/network-maps.ts";
import type { Topology } from "../../model/topology/topology.ts";
import type { NetworkSymmetry } from "../../model/trees/tree-flow.ts";
import { coversAllEdges, orbitBudgets } from "./orbit-budgets.ts";
import { exchangedTrees } from "./orbit-exchange.ts";
import { nestedTrees } from "./orbit-nested.ts";
import { forestOf, type OrbitTree, type Paths } from "./orbit-paths.ts";
import { shortestTrees } from "./orbit-shortest.ts";

/** Trees of root 0 that stand for all their images. */
export interface SymmetricForest {
  /** Their copies add up to k. */
  readonly trees: PackedTrees;
  /** Edges between the root and the farthest NPU. */
  readonly height: number;
}

/**
 * Returns k trees of NPU 0 (equal ones as one) that, with their images under the group as the trees of all other NPUs, put at
 * most floor(U * bandwidth) copies on each link; null when it finds none, although there may be. An optimum that is the same
 * under all maps of the network always exists (optimal packings are convex), though not for every k.
 *
 * Zhao 2026, 4.5 builds the trees of all roots on the network without its switches; here one root stands for all, and only the
 * load of each link orbit matters. First shortest-path trees, whose height is the least there is; else the lower of trees
 * grown tier by tier and of shortest-path trees repaired by exchanges.
 */
export function symmetricForest(
  topology: Topology,
  symmetry: NetworkSymmetry,
  k: number,
  U: Rational,
): SymmetricForest | null {
  if (!(k * topology.npuCount <= Number.MAX_SAFE_INTEGER)) return null;
  const budgets = orbitBudgets(topology, linkOrbits(topology, symmetry), k, U);
  if (!coversAllEdges(topology, budgets, k)) return null;
  const paths: Paths = { link: [], before: [] };
  const columns = (trees: readonly OrbitTree[] | null): SymmetricForest | null =>
    trees === null ? null : forestOf(topology, paths, trees);
  const shortest = columns(shortestTrees(topology, paths, budgets, k));
  if (shortest !== null) return shortest;
  const nested = columns(nestedTrees(topology, paths, budgets, k));
  const exchanged = columns(exchangedTrees(topology, paths, budgets, k));
  if (nested === null || exchanged === null) return nested ?? exchanged;
  return nested.height <= exchanged.height ? nested : exchanged;
}
