import { disjointSets, type NumberedSets, numberedSets } from "../../model/graph/graph.ts";
import { indicesBelow } from "../../model/numbers/ordering.ts";
import { mapFinder } from "../../model/symmetry/map-finder.ts";
import {
  generatorMaps,
  imagesOfLinks,
  isOneToOne,
  linkKinds,
  type NetworkMap,
  orbitsOf,
} from "../../model/symmetry/network-maps.ts";
import { networkSymmetry } from "../../model/symmetry/network-symmetry.ts";
import { linkCount, nodeCount, type Topology } from "../../model/topology/topology.ts";
import type { NetworkSymmetry } from "../../model/trees/tree-flow.ts";

/**
 * Which links and which NPUs of a network are alike under maps of it onto itself. The flow of one NPU of each orbit stands
 * for those of all: averaged over the maps that leave it in place, and mapped to the others, it loads the links of a class
 * evenly, so only what a class carries in all counts.
 */
export interface FlowOrbits {
  /** [links] class of each, 0 .. classes - 1. */
  readonly linkClass: Int32Array;
  /** [classes] links of each. */
  readonly classSize: Int32Array;
  /** One NPU of each orbit, ascending. */
  readonly sources: Int32Array;
  /** [sources] NPUs of its orbit. */
  readonly weight: Float64Array;
  /** [NPUs] which of the sources it is an image of. */
  readonly sourceOf: Int32Array;
  /** [sources] classes of links under maps that leave the source in place; null: only the identity does. */
  readonly still: readonly (LinkMaps["still"][number] | null)[];
  /** Returns where a map that takes the source of `npu` to it takes each link, [links]; null for the identity. */
  mapTo(npu: number): Int32Array | null;
  /** In words. */
  readonly about: string;
}

/** Above this many NPUs other maps than translations are not looked for. */
const MOST_NPUS = 2048;

/**
 * Returns the orbits of a network: under a group of translations, `symmetry` where it is known (undefined: looked for), or
 * under other maps that are found; every map is checked link by link. Each link and NPU alone where nothing is found.
 */
export function orbitsFor(topology: Topology, symmetry?: NetworkSymmetry | null): FlowOrbits {
  const group = symmetry === undefined ? networkSymmetry(topology) : symmetry;
  if (group !== null) return translationOrbits(topology, group);
  const maps = topology.npuCount <= MOST_NPUS ? mapOrbits(topology) : null;
  return maps === null ? noOrbits(topology) : { ...maps, about: "maps of the network onto itself" };
}

/** Returns every link and every NPU as an orbit of its own. */
export function noOrbits({ npuCount, linkSource }: Topology): FlowOrbits {
  return {
    linkClass: indicesBelow(linkSource.length),
    classSize: new Int32Array(linkSource.length).fill(1),
    sources: indicesBelow(npuCount),
    weight: new Float64Array(npuCount).fill(1),
    sourceOf: indicesBelow(npuCount),
    still: new Array<null>(npuCount).fill(null),
    mapTo: () => null,
    about: "no symmetry",
  };
}

/** Returns the orbits under an abelian group of which exactly one element takes NPU 0 to each NPU. */
function translationOrbits(topology: Topology, symmetry: NetworkSymmetry): FlowOrbits {
  const maps = generatorMaps(topology, symmetry);
  const links = linkCount(topology);
  const orbits = orbitsOf(
    links,
    maps.map(({ link }) => link),
  );
  const after = (second: Int32Array, first: Int32Array): Int32Array => first.map((image) => second[image]);
  /** Powers 1, 2, 4, ... of each generator, as they are needed. */
  const powers = maps.map(({ link }) => [link]);
  let powersAt: Int32Array | null = null;
  const mapTo = (npu: number): Int32Array | null => {
    powersAt ??= exponents(topology.npuCount, symmetry);
    let map: Int32Array | null = null;
    for (let d = 0; d < maps.length; d++) {
      for (let rest = powersAt[npu * maps.length + d], i = 0; rest > 0; rest >>= 1, i++) {
        if (powers[d].length === i) powers[d].push(after(powers[d][i - 1], powers[d][i - 1]));
        if ((rest & 1) === 1) map = map === null ? powers[d][i] : after(powers[d][i], map);
      }
    }
    return map;
  };
  return {
    linkClass: orbits.of,
    classSize: orbits.size,
    sources: Int32Array.of(0),
    weight: Float64Array.of(topology.npuCount),
    sourceOf: new Int32Array(topology.npuCount),
    still: [null],
    mapTo,
    about: `${symmetry.sizes.join("x")} translations`,
  };
}

/** Returns [NPUs * dimensions] the powers of the generators whose product takes NPU 0 to each NPU. O(NPUs * dimensions). */
function exponents(npuCount: number, { sizes, steps }: NetworkSymmetry): Int32Array {
  const of = new Int32Array(npuCount * sizes.length);
  let reached = [0];
  for (let d = 0; d < sizes.length; d++) {
    const next: number[] = [];
    for (const start of reached) {
      for (let power = 0, at = start; power < sizes[d]; power++, at = steps[d][at]) {
        if (power > 0) for (let e = 0; e < sizes.length; e++) of[at * sizes.length + e] = of[start * sizes.length + e];
        of[at * sizes.length + d] = power;
        next.push(at);
      }
    }
    reached = next;
  }
  return of;
}

/** The orbits of NPUs and links under maps of which only generators are known. */
interface LinkMaps {
  readonly linkClass: Int32Array;
  readonly classSize: Int32Array;
  readonly sources: Int32Array;
  readonly weight: Float64Array;
  readonly sourceOf: Int32Array;
  /** [sources] classes of links under the maps that leave the source in place. */
  readonly still: readonly NumberedSets[];
  mapTo(npu: number): Int32Array | null;
}

/** So many nodes and arcs are looked at in the search for maps. */
const MOST_WORK = 2e7;
/** Above this many images of links, over all NPUs, the orbits are not made. */
const MOST_IMAGES = 2 ** 24;
/** Above this many, over all NPUs and generators, fewer generators do. */
const MOST_JOINS = 2 ** 25;

/**
 * Returns the orbits under maps that colour refinement finds; null where it finds none, or the network is too large.
 * O(generators * NPUs * links) for the maps that leave a source in place: of a group with generators g and maps t[v] that take
 * the source to v, they are generated by t[g(v)]^-1 g t[v] (Schreier's lemma).
 */
function mapOrbits(topology: Topology): LinkMaps | null {
  const { npuCount } = topology;
  const links = linkCount(topology);
  if (npuCount * links > MOST_IMAGES) return null;
  const all = generators(topology);
  if (all.length === 0) return null;
  const maps = all.length * npuCount * links > MOST_JOINS ? fewer(all, npuCount) : all;
  const npus = orbitsOf(
    npuCount,
    maps.map(({ node }) => node.subarray(0, npuCount)),
  );
  const classes = orbitsOf(
    links,
    maps.map(({ link }) => link),
  );
  const sources = Int32Array.from(npus.size, (_, set) => npus.of.indexOf(set));
  const images = new Array<Int32Array | null>(npuCount).fill(null);
  const still = Array.from(sources, (source) => stillClasses(source, maps, images, links));
  return {
    linkClass: classes.of,
    classSize: classes.size,
    sources,
    weight: Float64Array.from(npus.size),
    sourceOf: npus.of,
    still,
    mapTo: (npu) => (sources[npus.of[npu]] === npu ? null : images[npu]),
  };
}

/** Returns maps of the network onto itself, checked, that join all NPUs that the search finds to be alike. */
function generators(topology: Topology): NetworkMap[] {
  const kinds = linkKinds(topology);
  const colour = Int32Array.from({ length: nodeCount(topology) }, (_, v) => (v < topology.npuCount ? 0 : 1));
  const finder = mapFinder(colour, topology.linkSource, topology.linkTarget, kinds, MOST_WORK);
  const sets = disjointSets(colour.length);
  const maps: NetworkMap[] = [];
  for (const alike of finder.classes) {
    if (alike[0] >= topology.npuCount) continue;
    for (const npu of alike.subarray(1)) {
      if (sets.least(npu) === sets.least(alike[0])) continue;
      const node = finder.find(alike[0], npu);
      if (node === null || !isOneToOne(node) || !colour.every((own, v) => own === colour[node[v]])) continue;
      const link = imagesOfLinks(topology, kinds, node);
      if (link === null) continue;
      maps.push({ node, link });
      for (let v = 0; v < node.length; v++) sets.join(v, node[v]);
    }
  }
  return maps;
}

/**
 * Returns the product of all maps and those that take NPUs elsewhere than the ones before: of the maps that each swap two of a
 * thousand NPUs at a switch, one that takes them all around. They generate the same orbits of NPUs, of links perhaps smaller ones.
 */
function fewer(maps: readonly NetworkMap[], npuCount: number): NetworkMap[] {
  const after = (second: Int32Array, first: Int32Array): Int32Array => first.map((image) => second[image]);
  const product = maps.reduce((first, { node, link }) => ({
    node: after(node, first.node),
    link: after(link, first.link),
  }));
  const sets = disjointSets(npuCount);
  return [product, ...maps].filter(({ node }) => {
    let joins = false;
    for (let v = 0; v < npuCount; v++) {
      if (sets.least(v) === sets.least(node[v])) continue;
      sets.join(v, node[v]);
      joins = true;
    }
    return joins;
  });
}

/**
 * Fills in images[v], where a map takes each link that takes the source to v, for all v of its orbit; returns the classes of
 * links under the maps that leave the source in place.
 */
function stillClasses(
  source: number,
  maps: readonly NetworkMap[],
  images: (Int32Array | null)[],
  links: number,
): NumberedSets {
  const identity = indicesBelow(links);
  const orbit = [source];
  const own = new Map<number, Int32Array>([[source, identity]]);
  for (const v of orbit) {
    for (const { node, link } of maps) {
      if (own.has(node[v])) continue;
      const before = own.get(v) ?? identity;
      own.set(
        node[v],
        before.map((image) => link[image]),
      );
      orbit.push(node[v]);
    }
  }
  const sets = disjointSets(links);
  const back = new Int32Array(links);
  for (const v of orbit) images[v] = own.get(v) ?? null;
  for (const { node, link } of maps) {
    for (const v of orbit) {
      const there = own.get(node[v]) ?? identity;
      const here = own.get(v) ?? identity;
      for (let i = 0; i < links; i++) back[there[i]] = i;
      for (let i = 0; i < links; i++) sets.join(i, back[link[here[i]]]);
    }
  }
  return numberedSets(links, sets.least);
}
