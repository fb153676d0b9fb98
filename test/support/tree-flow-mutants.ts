import type { Random } from "../../src/base/random.ts";
import { multiply, rational } from "../../src/model/numbers/rational.ts";
import { pick, shuffle } from "./draws.ts";
import { copiedTrees, type PlainFlow, type PlainForest, type PlainTree } from "./plain-trees.ts";

type Mutation = (flow: PlainFlow, forest: PlainForest, tree: PlainTree, draws: Random) => void;

const links = ({ topology }: PlainFlow): number => topology.linkSource.length;
const anEdge = ({ edges }: PlainTree, draws: Random): number[] => (edges.length === 0 ? [] : pick(edges, draws));

/** Ways to change a flow a little, most of which break it. */
export const TREE_MUTATIONS: Readonly<Record<string, Mutation>> = {
  "another link": (flow, _, tree, draws) => {
    const edge = anEdge(tree, draws);
    if (edge.length > 0) edge[draws.below(edge.length)] = draws.below(links(flow));
  },
  "a parallel link": (flow, _, tree, draws) => {
    const { linkSource, linkTarget } = flow.topology;
    const edge = anEdge(tree, draws);
    if (edge.length === 0) return;
    const at = draws.below(edge.length);
    const same = [...linkSource.keys()].filter(
      (l) => linkSource[l] === linkSource[edge[at]] && linkTarget[l] === linkTarget[edge[at]],
    );
    edge[at] = pick(same, draws);
  },
  "a longer path": (flow, _, tree, draws) => {
    const edge = anEdge(tree, draws);
    edge.splice(draws.below(edge.length + 1), 0, draws.below(links(flow)));
  },
  "a detour": (flow, _, tree, draws) => {
    // there and back through a neighbour
    const { linkSource, linkTarget } = flow.topology;
    const edge = anEdge(tree, draws);
    if (edge.length === 0) return;
    const at = draws.below(edge.length);
    const back = [...linkSource.keys()].filter(
      (l) => linkSource[l] === linkTarget[edge[at]] && linkTarget[l] === linkSource[edge[at]],
    );
    if (back.length > 0) edge.splice(at, 0, edge[at], pick(back, draws));
  },
  "a shorter path": (_, __, tree, draws) => {
    const edge = anEdge(tree, draws);
    edge.splice(draws.below(edge.length + 1), 1);
  },
  "edges in another order": (_, __, tree, draws) => shuffle(tree.edges, draws),
  "an edge twice": (_, __, tree, draws) => {
    if (tree.edges.length > 0) tree.edges[draws.below(tree.edges.length)] = [...anEdge(tree, draws)];
  },
  "another root": (flow, _, tree, draws) => {
    tree.root = draws.below(flow.topology.npuCount);
  },
  "another tree's edges": (_, forest, tree, draws) => {
    tree.edges = pick(forest.trees, draws).edges.map((edge) => [...edge]);
  },
  "a copy more": (_, __, tree) => {
    tree.copies++;
  },
  "a copy less": (_, __, tree) => {
    if (tree.copies > 1) tree.copies--;
  },
  "twice the copies everywhere": (flow) => {
    for (const forest of flow.forests) {
      forest.y = multiply(forest.y, rational(1, 2));
      for (const tree of forest.trees) tree.copies *= 2;
    }
  },
  "a tree less": (_, forest, tree) => {
    if (forest.trees.length > 1) forest.trees = forest.trees.filter((other) => other !== tree);
  },
  "a tree twice": (_, forest, tree) => {
    forest.trees.push(structuredClone(tree));
  },
  "a little more bandwidth": (_, forest) => {
    forest.y = multiply(forest.y, rational(1_000_000_001, 1_000_000_000));
  },
  "a little less bandwidth": (_, forest) => {
    forest.y = multiply(forest.y, rational(999_999_999, 1_000_000_000));
  },
  "the other direction": (_, forest) => {
    forest.direction = forest.direction === "out" ? "in" : "out";
  },
  "forests in another order": (flow) => {
    flow.forests.reverse();
  },
  "a forest less": (flow) => {
    if (flow.forests.length > 1) flow.forests.pop();
  },
  "a forest twice": (flow) => {
    if (flow.forests.length === 1) flow.forests.push(flow.forests[0]);
  },
  "side by side or not": (flow) => {
    flow.concurrent = !flow.concurrent;
  },
  "a map with two nodes exchanged": ({ symmetry }, _, __, draws) => {
    if (symmetry === null) return;
    const step = pick(symmetry.steps, draws);
    const a = draws.below(step.length);
    const b = draws.below(step.length);
    [step[a], step[b]] = [step[b], step[a]];
  },
  "a map with a node repeated": ({ symmetry }, _, __, draws) => {
    if (symmetry === null) return;
    const step = pick(symmetry.steps, draws);
    step[draws.below(step.length)] = pick(step, draws);
  },
  "a map of another size": ({ symmetry }, _, __, draws) => {
    if (symmetry !== null) symmetry.sizes[draws.below(symmetry.sizes.length)] = 1 + draws.below(12);
  },
  "a map's square": ({ symmetry }, _, __, draws) => {
    if (symmetry === null) return;
    const d = draws.below(symmetry.steps.length);
    symmetry.steps[d] = symmetry.steps[d].map((v, _, step) => step[v]);
  },
  "no symmetry": (flow) => {
    flow.symmetry = null;
  },
  "the reflection besides": (flow) => {
    // commutes with turns of order 1 or 2 only
    if (flow.symmetry === null) return;
    const n = flow.topology.npuCount;
    flow.symmetry.steps.push(flow.topology.nodeNames.map((_, v) => (v < n ? (n - v) % n : v)));
    flow.symmetry.sizes.push(2);
  },
};

/** Returns the flow after one or two random mutations. */
export function treeMutant(flow: PlainFlow, draws: Random): { readonly name: string; readonly flow: PlainFlow } {
  const changed = copiedTrees(flow);
  const names: string[] = [];
  for (let left = 1 + draws.below(2); left > 0; left--) {
    const name = pick(Object.keys(TREE_MUTATIONS), draws);
    const forest = pick(changed.forests, draws);
    TREE_MUTATIONS[name](changed, forest, pick(forest.trees, draws), draws);
    names.push(name);
  }
  return { name: names.join(", then "), flow: changed };
}
