import { InputError } from "../../base/errors.ts";
import { generatorMaps, type NetworkMap } from "../symmetry/network-maps.ts";
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
  const maps = generatorMaps(topology, symmetry);
  const whole = forests.map((forest) => {
    const images = roomFor(forest, order, edges);
    for (let tree = 0; tree < treeCount(forest); tree++) {
      writeTree(forest, tree, images, tree * order, edges);
      let written = 1;
      // those of the dimensions so far, moved on along the next one, power by power
      for (const [d, size] of symmetry.sizes.entries()) {
        const before = written;
        for (; written < before * size; written++) writeImage(images, tree * order + written, before, maps[d], edges);
      }
    }
    return images;
  });
  return { ...flow, forests: whole, symmetry: null };
}

/** Returns a forest with room for the images, its copies filled in. */
function roomFor(forest: Forest, order: number, edges: number): Forest {
  const trees = treeCount(forest);
  const copies = new Float64Array(trees * order);
  forest.copies.forEach((many, tree) => {
    copies.fill(many, tree * order, (tree + 1) * order);
  });
  return {
    ...forest,
    copies,
    root: new Int32Array(trees * order),
    linkOffset: new Float64Array(trees * order * edges + 1),
    links: new Int32Array(forest.links.length * order),
  };
}

/** Writes a tree as tree `to` of the room, behind those before it. */
function writeTree(forest: Forest, tree: number, room: Forest, to: number, edges: number): void {
  const { linkOffset } = forest;
  const first = tree * edges;
  const end = first + edges;
  const start = room.linkOffset[to * edges];
  room.root[to] = forest.root[tree];
  room.links.set(forest.links.subarray(linkOffset[first], linkOffset[end]), start);
  for (let e = 1; e <= edges; e++) room.linkOffset[to * edges + e] = start + linkOffset[first + e] - linkOffset[first];
}

/** Writes as tree `to` the image of the tree that is `back` before it. */
function writeImage(
  { root, linkOffset, links }: Forest,
  to: number,
  back: number,
  map: NetworkMap,
  edges: number,
): void {
  root[to] = map.node[root[to - back]];
  const image = map.link;
  const first = to * edges;
  const shift = back * (linkOffset[first] - linkOffset[first - edges]);
  for (let e = first + 1; e <= first + edges; e++) linkOffset[e] = linkOffset[e - back * edges] + shift;
  const end = linkOffset[first + edges] | 0;
  const before = shift | 0;
  for (let i = linkOffset[first] | 0; i < end; i++) links[i] = image[links[i - before]];
}
