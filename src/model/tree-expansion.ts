import { InputError, InternalError } from "../errors.ts";
import { linkCount, nodeCount, type Topology } from "./topology.ts";
import { type Forest, groupOrder, type NetworkSymmetry, type TreeFlow, treeCount } from "./tree-flow.ts";

/** Above so many links of all edges trees are not written out. */
const MOST_LINKS = 2 ** 28;

/** What a generator of a symmetry, or a product of them, does to nodes and links. */
export interface NetworkMap {
  /** [nodes] */
  readonly node: Int32Array;
  /** [links] */
  readonly link: Int32Array;
}

/**
 * Returns what each generator does. Of parallel links that are equal the k-th goes to the k-th, so maps of links commute and
 * compose as those of nodes do. Throws InputError where a link has no image. O(generators x links log links).
 */
export function generatorMaps(topology: Topology, symmetry: NetworkSymmetry): NetworkMap[] {
  const nodes = nodeCount(topology);
  const stay = Int32Array.from({ length: nodes }, (_, node) => node);
  const places = linksByPlace(topology, stay);
  return symmetry.steps.map((node, d) => {
    const sound = node.length === nodes && node.every((image) => image >= 0 && image < nodes);
    if (!sound)
      throw new InputError(`generator ${d} of a symmetry`, `a node of the network for each of ${nodes}`, node.length);
    const images = linksByPlace(topology, node);
    const link = new Int32Array(images.length);
    images.forEach((from, i) => {
      const to = places[i];
      if (compareLinks(topology, from, node, to, stay) !== 0) {
        throw new InputError(
          `generator ${d} of a symmetry`,
          "links that go to links as wide and as long",
          `link ${from}`,
        );
      }
      link[from] = to;
    });
    return { node, link };
  });
}

/** Orders links by where a map takes their ends, then by bandwidth and latency. */
function compareLinks(topology: Topology, a: number, mapA: Int32Array, b: number, mapB: Int32Array): number {
  const { linkSource, linkTarget, linkBytesPerSecond, linkLatencyPs } = topology;
  return (
    mapA[linkSource[a]] - mapB[linkSource[b]] ||
    mapA[linkTarget[a]] - mapB[linkTarget[b]] ||
    linkBytesPerSecond[a] - linkBytesPerSecond[b] ||
    linkLatencyPs[a] - linkLatencyPs[b]
  );
}

const linksByPlace = (topology: Topology, map: Int32Array): Int32Array =>
  Int32Array.from({ length: linkCount(topology) }, (_, link) => link).sort(
    (a, b) => compareLinks(topology, a, map, b, map) || a - b,
  );

const composed = (second: Int32Array, first: Int32Array): Int32Array => first.map((image) => second[image]);

/** Yields what each element of the group does, the identity first, the first dimension fastest. O(nodes + links) each. */
export function* groupElements(topology: Topology, symmetry: NetworkSymmetry): Generator<NetworkMap> {
  const generators = generatorMaps(topology, symmetry);
  const identity = (length: number): Int32Array => Int32Array.from({ length }, (_, i) => i);
  let element: NetworkMap = { node: identity(nodeCount(topology)), link: identity(linkCount(topology)) };
  const power = new Int32Array(generators.length);
  /** [dimensions] the element with the powers of this dimension and those above it, and none of those below. */
  const above = generators.map(() => element);
  for (;;) {
    yield element;
    let d = 0;
    while (d < power.length && power[d] === symmetry.sizes[d] - 1) power[d++] = 0;
    if (d === power.length) return;
    power[d]++;
    const { node, link } = generators[d];
    element = { node: composed(node, above[d].node), link: composed(link, above[d].link) };
    above.fill(element, 0, d + 1);
  }
}

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
    throw new InputError("a tree flow to be written out", `at most ${MOST_LINKS} links of edges`, links * order);
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
  for (let tree = 0; tree < root.length; tree++) {
    whole.root[tree * order + g] = map.node[root[tree]];
    const first = tree * edges;
    const from = linkOffset[first];
    const to = linkOffset[first + edges];
    const at = from * order + g * (to - from);
    for (let i = from; i < to; i++) whole.links[at + i - from] = map.link[links[i]];
    const image = (tree * order + g) * edges;
    for (let e = 0; e < edges; e++) whole.linkOffset[image + e] = at + linkOffset[first + e] - from;
  }
}

/** Returns, for each of `count` items, the least that maps (of all items, closed under repetition) take it to or from. */
export function orbitsOf(count: number, maps: readonly Int32Array[]): Int32Array {
  const least = Int32Array.from({ length: count }, (_, i) => i);
  const find = (item: number): number => {
    let at = item;
    while (least[at] !== at) {
      least[at] = least[least[at]];
      at = least[at];
    }
    return at;
  };
  for (const map of maps) {
    for (let i = 0; i < count; i++) {
      const a = find(i);
      const b = find(map[i]);
      if (a < b) least[b] = a;
      else least[a] = b;
    }
  }
  return least.map((_, i) => find(i));
}
