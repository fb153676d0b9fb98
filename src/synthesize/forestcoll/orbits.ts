import type { PackedTrees } from "../../engine/kernels/kernels.ts";
import type { Rational } from "../../model/rational.ts";
import type { Topology } from "../../model/topology.ts";
import type { NetworkSymmetry } from "../../model/tree-flow.ts";
import { orbitBudgets } from "./orbit-budgets.ts";
import { nestedTrees } from "./orbit-nested.ts";
import { forestOf, type Paths } from "./orbit-paths.ts";
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
 * load of each link orbit matters. First shortest-path trees, whose height is the least there is; then trees grown tier by
 * tier through switches.
 */
export function symmetricForest(
  topology: Topology,
  symmetry: NetworkSymmetry,
  k: number,
  U: Rational,
): SymmetricForest | null {
  const budgets = orbitBudgets(topology, symmetry, k, U);
  const paths: Paths = { link: [], before: [] };
  const trees = shortestTrees(topology, paths, budgets, k) ?? nestedTrees(topology, paths, budgets, k);
  return trees === null ? null : forestOf(topology, paths, trees);
}
