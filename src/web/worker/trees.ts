import { InputError } from "../../base/errors.ts";
import { fullestLinks } from "../../explain/trees.ts";
import type { Topology } from "../../model/topology/topology.ts";
import { expandTrees } from "../../model/trees/tree-expansion.ts";
import { type Forest, isTreeFlow, type TreeFlow, treeCount } from "../../model/trees/tree-flow.ts";
import { gbpsText } from "../../report/amounts.ts";
import type { Refusal, TreesView, TreeView } from "../protocol.ts";
import { linkWires } from "./link-wires.ts";
import type { Kept } from "./shelf.ts";

const expanded = new WeakMap<TreeFlow, TreeFlow>();

/** Returns the flow with all its trees listed, once for each flow. */
function wholeFlow(flow: TreeFlow): TreeFlow {
  const before = expanded.get(flow);
  if (before !== undefined) return before;
  const whole = expandTrees(flow);
  expanded.set(flow, whole);
  return whole;
}

/** Edges of one tree. */
interface Edges {
  /** Nearer to the root, and the other end. */
  readonly near: Int32Array;
  readonly far: Int32Array;
  /** Edges from the root to the far end. */
  readonly depth: Int32Array;
}

/** Returns the edges of a tree, from the root outwards. */
function edgesOf({ linkSource, linkTarget }: Topology, forest: Forest, tree: number, edges: number): Edges {
  const { direction, linkOffset, links, root } = forest;
  const [nearOf, farOf] = direction === "out" ? [linkSource, linkTarget] : [linkTarget, linkSource];
  const found = { near: new Int32Array(edges), far: new Int32Array(edges), depth: new Int32Array(edges) };
  const depthOf = new Map([[root[tree], 0]]);
  for (let i = 0; i < edges; i++) {
    const edge = tree * edges + i;
    found.near[i] = nearOf[links[linkOffset[edge]]];
    found.far[i] = farOf[links[linkOffset[edge + 1] - 1]];
    found.depth[i] = (depthOf.get(found.near[i]) ?? 0) + 1;
    depthOf.set(found.far[i], found.depth[i]);
  }
  return found;
}

/** Returns [trees] the height of each tree, in edges. */
function heights({ topology, collective }: TreeFlow, forest: Forest): Int32Array {
  const edges = collective.groupSize - 1;
  return Int32Array.from({ length: treeCount(forest) }, (_, tree) =>
    edgesOf(topology, forest, tree, edges).depth.reduce((most, depth) => Math.max(most, depth), 0),
  );
}

const NO_TREES: Refusal = { refusal: "The schedule is not one of trees." };

/** Returns the trees of a schedule; why there are none. O(links of all edges). */
export function treesView({ schedule, report }: Kept): TreesView | Refusal {
  if (!isTreeFlow(schedule)) return NO_TREES;
  try {
    const whole = wholeFlow(schedule);
    const rate = report.throughput?.algbwGBps ?? null;
    return {
      forests: whole.forests.map((forest) => ({
        direction: forest.direction,
        root: forest.root.slice(),
        copies: forest.copies.slice(),
        height: heights(whole, forest),
      })),
      rate: gbpsText(rate),
      boundRate: gbpsText(rate === null ? null : rate / report.optimality),
      share: report.optimality,
      because: report.bound.because,
      fullest: fullestLinks(schedule)
        .map(({ phase, links }) => (phase === null ? links : `${phase}: ${links}`))
        .join("; "),
    };
  } catch (error) {
    if (error instanceof InputError) return { refusal: `The trees cannot be listed: ${error.message}.` };
    throw error;
  }
}

/** Returns one tree of a schedule. Throws InputError where there is no such tree. */
export function treeView({ schedule }: Kept, forestNumber: number, tree: number): TreeView {
  if (!isTreeFlow(schedule)) throw new InputError("the schedule", "one of trees", schedule.collective.kind);
  const { topology, collective, forests } = wholeFlow(schedule);
  const forest = forests[forestNumber];
  if (forest === undefined || !(tree >= 0 && tree < treeCount(forest)))
    throw new InputError("the tree", "one of the schedule's", `forest ${forestNumber}, tree ${tree}`);
  const edges = collective.groupSize - 1;
  const { near, far, depth } = edgesOf(topology, forest, tree, edges);
  const { ofLink } = linkWires(topology);
  const first = tree * edges;
  const begin = forest.linkOffset[first];
  return {
    root: forest.root[tree],
    direction: forest.direction,
    copies: forest.copies[tree],
    from: near,
    to: far,
    depth,
    wireOffset: Int32Array.from({ length: edges + 1 }, (_, i) => forest.linkOffset[first + i] - begin),
    wires: Int32Array.from(forest.links.subarray(begin, forest.linkOffset[first + edges]), (link) => ofLink[link]),
  };
}
