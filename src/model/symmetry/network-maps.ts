import { InputError, inWords } from "../../base/errors.ts";
import { disjointSets, groupedOnce, type NumberedSets, numberedSets } from "../graph/graph.ts";
import { addTo } from "../numbers/ordering.ts";
import { linkCount, nodeCount, type Topology } from "../topology/topology.ts";
import type { NetworkSymmetry } from "../trees/tree-flow.ts";

/** What a generator of a symmetry, or a product of them, does to nodes and links. */
export interface NetworkMap {
  /** [nodes] */
  readonly node: Int32Array;
  /** [links] */
  readonly link: Int32Array;
}

/**
 * Returns what each generator does. Of parallel links that are equal the k-th goes to the k-th, so maps of links commute and
 * compose as those of nodes do. Throws InputError where nodes go to the same node or a link has no image.
 * O(generators x (nodes + links)).
 */
export function generatorMaps(topology: Topology, { steps }: NetworkSymmetry): NetworkMap[] {
  const nodes = nodeCount(topology);
  const kinds = linkKinds(topology);
  return steps.map((node, d) => {
    const sound = node.length === nodes && node.every((image) => image >= 0 && image < nodes);
    if (!sound)
      throw new InputError(`generator ${d} of a symmetry`, `a node of the network for each of ${nodes}`, node.length);
    const link = isOneToOne(node) ? imagesOfLinks(topology, kinds, node) : null;
    if (link === null)
      throw new InputError(
        `generator ${d} of a symmetry`,
        "links that go to links as wide and as long",
        inWords("others"),
      );
    return { node, link };
  });
}

/** Returns the orbits of items, 0 .. count - 1, under maps of items ([count] each) and their products. O(maps x count). */
export function orbitsOf(count: number, maps: readonly Int32Array[]): NumberedSets {
  const sets = disjointSets(count);
  for (const map of maps) for (let item = 0; item < count; item++) sets.join(item, map[item]);
  return numberedSets(count, sets.least);
}

/** Returns the orbits of links under a group. Throws as generatorMaps does. O(dimensions * (nodes + links)). */
export function linkOrbits(topology: Topology, symmetry: NetworkSymmetry): NumberedSets {
  const maps = generatorMaps(topology, symmetry);
  return orbitsOf(
    linkCount(topology),
    maps.map(({ link }) => link),
  );
}

/**
 * Returns where a map that permutes the nodes takes each link, [links]; of parallel links of equal kinds the k-th goes to the
 * k-th. Null where the map does not take links to links of their kinds. O(nodes + links).
 */
export function imagesOfLinks(
  { linkSource, linkTarget }: Pick<Topology, "linkSource" | "linkTarget">,
  kinds: Int32Array,
  map: Int32Array,
): Int32Array | null {
  const nodes = map.length;
  const { offset, items } = groupedOnce(linkSource, nodes);
  const images = new Int32Array(linkSource.length);
  const first = new Int32Array(nodes).fill(-1);
  const next = new Int32Array(linkSource.length);
  for (let v = 0; v < nodes; v++) {
    const w = map[v];
    if (offset[v + 1] - offset[v] !== offset[w + 1] - offset[w]) return null;
    // the image's links to each target, ascending, as a list
    for (let i = offset[w + 1] - 1; i >= offset[w]; i--) {
      const target = linkTarget[items[i]];
      next[items[i]] = first[target];
      first[target] = items[i];
    }
    for (let i = offset[v]; i < offset[v + 1]; i++) {
      const target = map[linkTarget[items[i]]];
      let before = -1;
      let link = first[target];
      while (link >= 0 && kinds[link] !== kinds[items[i]]) {
        before = link;
        link = next[link];
      }
      if (link < 0) return null;
      if (before < 0) first[target] = next[link];
      else next[before] = next[link];
      images[items[i]] = link;
    }
  }
  return images;
}

/** Returns [links] a number for each pair of bandwidth and latency. O(links). */
export function linkKinds({ linkBytesPerSecond, linkLatencyPs }: Topology): Int32Array {
  const known = new Map<string, number>();
  const kinds = new Int32Array(linkLatencyPs.length);
  for (let link = 0; link < kinds.length; link++) {
    const same =
      link > 0 &&
      linkBytesPerSecond[link] === linkBytesPerSecond[link - 1] &&
      linkLatencyPs[link] === linkLatencyPs[link - 1];
    if (same) {
      kinds[link] = kinds[link - 1];
      continue;
    }
    const key = `${linkBytesPerSecond[link]} ${linkLatencyPs[link]}`;
    const kind = known.get(key) ?? known.size;
    known.set(key, kind);
    kinds[link] = kind;
  }
  return kinds;
}

/** Returns whether a map of the nodes takes no two to the same. O(nodes). */
export function isOneToOne(map: Int32Array): boolean {
  const seen = new Uint8Array(map.length);
  for (let v = 0; v < map.length; v++) {
    if (seen[map[v]] !== 0) return false;
    seen[map[v]] = 1;
  }
  return true;
}

/**
 * Returns where a map takes items: the k-th with a name to the k-th with that name's image; null where the images are not as
 * many of each name. `names`, `imageNames` [items]. O(items).
 */
export function imagesByName<Name extends string | number>(
  names: ArrayLike<Name>,
  imageNames: ArrayLike<Name>,
): Int32Array | null {
  const known = new Map<Name, number[]>();
  for (let i = 0; i < names.length; i++) {
    addTo(known, names[i], i);
  }
  const taken = new Map<Name, number>();
  const images = new Int32Array(names.length);
  for (let i = 0; i < images.length; i++) {
    const name = imageNames[i];
    const k = taken.get(name) ?? 0;
    const image = known.get(name)?.[k];
    if (image === undefined) return null;
    taken.set(name, k + 1);
    images[i] = image;
  }
  return images;
}
