import type { NumberedSets } from "../../model/graph/disjoint-sets.ts";
import { nodeCount, type Topology } from "../../model/topology/topology.ts";
import type { Forest, TreeFlow } from "../../model/trees/tree-flow.ts";

/**
 * Calls with each run of places in `links` over which a tree's data goes when switches duplicate (of in-trees: sum) what they can.
 *
 * The rule: a tree's data comes into an able switch over one edge, the first through it in the order of generations: edges that
 * start at the root, then those that start where these end, and so on, those of one generation as they are listed. Every other edge
 * through it starts there instead. An edge with several such switches starts at the last. So who feeds a switch is never fed by
 * it: that would put its start into a later generation than that of an edge which the switch serves. In-trees are out-trees of the
 * reversed network, data and time run backwards, and an able switch sends a tree's sum over one edge.
 *
 * A switch is able by its traits alone; as listed trees stand for their images, only where all of its orbit are. Edges of a tree
 * that is none may be called with anything: such flows are refused for that. O(links of all edges).
 */
export function eachServedRun(
  { topology, collective }: TreeFlow,
  { direction, root, linkOffset, links }: Forest,
  orbits: NumberedSets,
  run: (tree: number, from: number, to: number) => void,
): void {
  const isOut = direction === "out";
  const start = isOut ? topology.linkSource : topology.linkTarget;
  const end = isOut ? topology.linkTarget : topology.linkSource;
  const able = ableSwitches(topology, orbits, isOut ? "multicast" : "aggregation");
  const edges = collective.groupSize - 1;
  /** [nodes] the last tree whose data the switch has; the generation in which the last tree reached a member. */
  const servedBy = new Int32Array(able.length).fill(-1);
  const born = new Int32Array(able.length);
  for (let tree = 0; tree < root.length; tree++) {
    born[root[tree]] = 0;
    for (const generation of generations(tree)) for (const edge of generation) follow(tree, edge);
  }

  function generations(tree: number): number[][] {
    const list: number[][] = [];
    for (let edge = tree * edges; edge < (tree + 1) * edges; edge++) {
      const [from, to] = [linkOffset[edge], linkOffset[edge + 1]];
      if (from === to) continue;
      const generation = born[start[links[from]]];
      born[end[links[to - 1]]] = Math.min(generation + 1, edges);
      while (list.length <= generation) list.push([]);
      list[generation].push(edge);
    }
    return list;
  }

  function follow(tree: number, edge: number): void {
    const to = linkOffset[edge + 1];
    let from = to - 1;
    // back along the path to where the data is: a switch that has it, or else where the edge starts
    for (; from > linkOffset[edge]; from--) {
      const node = start[links[from]];
      if (servedBy[node] === tree) break;
      if (able[node] === 1) servedBy[node] = tree;
    }
    run(tree, from, to);
  }
}

function ableSwitches(topology: Topology, orbits: NumberedSets, trait: "multicast" | "aggregation"): Uint8Array {
  const nodes = nodeCount(topology);
  const isAble = (node: number): boolean => node >= topology.npuCount && topology.nodeTraits[node][trait] === true;
  const unable = new Uint8Array(orbits.size.length);
  for (let node = 0; node < nodes; node++) if (!isAble(node)) unable[orbits.of[node]] = 1;
  return Uint8Array.from({ length: nodes }, (_, node) => 1 - unable[orbits.of[node]]);
}
