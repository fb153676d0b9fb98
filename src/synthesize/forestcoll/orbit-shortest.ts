import { outLinks, type Topology } from "../../model/topology/topology.ts";
import type { OrbitBudgets } from "./orbit-budgets.ts";
import { type PathKinds, pathKinds } from "./orbit-kinds.ts";
import { extended, type OrbitTree, type Paths } from "./orbit-paths.ts";
import { type Choices, sharesOf } from "./orbit-shares.ts";

/** A switch remembers at most so many kinds of paths from one distance. */
const MOST_KINDS = 16;

/**
 * Returns k trees of root 0 in which every NPU is as many hops from the root as in the network (the least height there is),
 * together within the budgets; null where there are none, or where budgets overlap in a way that flows do not cover.
 *
 * BFB (Zhao 2026, chapter 3) by orbits: any choice of parents one hop nearer to the root is a tree, so only the number of paths
 * of each kind (set of link orbits) matters, a flow from NPUs with equal choices over kinds to nested budgets. It is integral,
 * hence exact, unlike the linear program (3.1), and serves all distances at once. O(links + flow on classes).
 */
export function shortestTrees(
  topology: Topology,
  paths: Paths,
  budgets: OrbitBudgets,
  k: number,
): readonly OrbitTree[] | null {
  const choices = choicesOf(topology, paths, budgets);
  return choices === null ? null : sharesOf(choices, budgets.budget, k);
}

/** Collects the paths into each NPU from those one hop nearer to the root, one of each kind; null when one is out of reach. */
function choicesOf(topology: Topology, paths: Paths, { orbit, budget }: OrbitBudgets): Choices | null {
  const { npuCount, linkTarget } = topology;
  const { offset, links } = outLinks(topology);
  const kinds: PathKinds = pathKinds(budget.length);
  const distance = new Int32Array(npuCount).fill(-1);
  distance[0] = 0;
  const choiceKind: number[][] = Array.from({ length: npuCount }, () => []);
  const choicePath: number[][] = Array.from({ length: npuCount }, () => []);
  const reached = new Int32Array(npuCount);
  let last = 1;

  for (let first = 0, hops = 1; first < last; hops++) {
    // labels of this distance: kinds of paths that end at each switch
    const switchKinds = new Map<number, number[]>();
    const labels: { node: number; kind: number; path: number }[] = [];
    const step = (kind: number, path: number, link: number): void => {
      const node = linkTarget[link];
      if (node < npuCount && distance[node] >= 0 && distance[node] !== hops) return;
      const next = budget[orbit[link]] > 0 ? kinds.extended(kind, orbit[link]) : -1;
      if (next < 0) return;
      if (node < npuCount) {
        if (distance[node] < 0) {
          distance[node] = hops;
          reached[last++] = node;
        }
        if (choiceKind[node].includes(next)) return;
        choiceKind[node].push(next);
        choicePath[node].push(extended(paths, path, link));
        return;
      }
      const known = switchKinds.get(node) ?? [];
      if (known.includes(next) || known.length === MOST_KINDS) return;
      known.push(next);
      switchKinds.set(node, known);
      labels.push({ node, kind: next, path: extended(paths, path, link) });
    };
    const until = last;
    for (; first < until; first++) {
      const v = reached[first];
      for (let i = offset[v]; i < offset[v + 1]; i++) step(-1, -1, links[i]);
    }
    for (let i = 0; i < labels.length; i++) {
      const { node, kind, path } = labels[i];
      for (let j = offset[node]; j < offset[node + 1]; j++) step(kind, path, links[j]);
    }
  }
  return last < npuCount ? null : { kindOrbits: kinds.orbits, choiceKind, choicePath };
}
