import { InputError, InternalError } from "../../base/errors.ts";
import { groupElements, type NetworkMap } from "../symmetry/network-maps.ts";
import { type Forest, groupOrder, type TreeFlow, treeCount } from "./tree-flow.ts";

/** Above this many links of all edges trees are not written out. */
const MOST_LINKS = 2 ** 28;

/**
 * Returns the flow without symmetry: in place of each listed tree its images under the whole group, one behind the other. A
 * flow without symmetry is returned as it is. O(links of all edges of all images).
 * Throws InputError for more than 2^28 of those, and for a symmetry that does not take links to equal links.
 */
export function expandTrees(flow: TreeFlow): TreeFlow {
  const { topology, symmetry, forests } = flow;
  if (symmetry === null) return flow;
  const order = groupOrder(symmetry);
  const links = forests.reduce((sum, forest) => sum + forest.links.length, 0);
  if (links * order > MOST_LINKS) {
    throw new InputError("a tree flow to be written out", `at most ${MOST_LINKS} links of edges`, links * order).as(
      "out-of-range",
    );
  }
  const edges = flow.collective.groupSize - 1;
  const whole = forests.map((forest) => roomFor(forest, order, edges));
  let g = 0;
  for (const map of groupElements(topology, symmetry)) {
    forests.forEach((forest, f) => {
      writeImage(forest, map, whole[f], g, order, edges);
    });
    g++;
  }
  if (g !== order) throw new InternalError(`${g} elements of a group of ${order}`);
  return { ...flow, forests: whole, symmetry: null };
}

/** Returns a forest with room for the images, its copies filled in. */
function roomFor(forest: Forest, order: number, edges: number): Forest {
  const trees = treeCount(forest);
  const copies = new Float64Array(trees * order);
  forest.copies.forEach((many, tree) => {
    copies.fill(many, tree * order, (tree + 1) * order);
  });
  const linkOffset = new Float64Array(trees * order * edges + 1);
  linkOffset[linkOffset.length - 1] = forest.links.length * order;
  return {
    ...forest,
    copies,
    root: new Int32Array(trees * order),
    linkOffset,
    links: new Int32Array(forest.links.length * order),
  };
}

/** Writes image g of each tree, behind the images 0 .. g - 1 of it. */
function writeImage(forest: Forest, map: NetworkMap, whole: Forest, g: number, order: number, edges: number): void {
  const { root, linkOffset, links } = forest;
  const { links: written, linkOffset: offsets } = whole;
  const imageOf = map.link;
  for (let tree = 0; tree < root.length; tree++) {
    whole.root[tree * order + g] = map.node[root[tree]];
    const first = tree * edges;
    const from = linkOffset[first];
    const to = linkOffset[first + edges];
    const at = from * order + g * (to - from);
    for (let i = from; i < to; i++) written[at + i - from] = imageOf[links[i]];
    const image = (tree * order + g) * edges;
    for (let e = 0; e < edges; e++) offsets[image + e] = at + linkOffset[first + e] - from;
  }
}
