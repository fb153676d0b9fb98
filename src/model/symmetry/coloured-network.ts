import { type Collective, hasRoot } from "../collective/collective.ts";
import { isActive, isNpu, linkCount, type NodeTraits, nodeCount, type Topology } from "../topology/topology.ts";
import { imagesOfLinks, isOneToOne, linkKinds } from "./network-maps.ts";

/**
 * A network as a coloured graph whose maps onto itself are those of the network that keep what a collective asks of it: nodes of
 * the graph are the network's, then one for each box and for each of several process groups; arcs are its links, equal parallel
 * ones as one, then one from each box or group to each of its nodes.
 */
export interface ColouredNetwork {
  readonly nodes: number;
  /** [nodes] equal where a map may take one to the other. */
  readonly colour: Int32Array;
  /** [arcs] */
  readonly source: Int32Array;
  readonly target: Int32Array;
  /** [arcs] equal where bandwidth, latency and the number of parallel links are. */
  readonly kind: Int32Array;
  /** Arcs that are links; the others follow. */
  readonly linkArcs: number;
  /** [links] the arc that a link is part of. */
  readonly arcOf: Int32Array;
  /** [links of an arc, ascending, arc by arc] links of arc a are links[linkOffset[a] .. linkOffset[a + 1]]. */
  readonly linkOffset: Int32Array;
  readonly links: Int32Array;
  /** [link arcs] the arc that leads back, the only one or the only one of its kind; -1 where there is none. */
  readonly back: Int32Array;
  /** Nodes below this number are the network's and its boxes; groups follow. */
  readonly boxes: number;
}

/** Returns the number of places for one more or the known one. */
function numberOf<Key>(known: Map<Key, number>, key: Key): number {
  const number = known.get(key) ?? known.size;
  known.set(key, number);
  return number;
}

/** Returns the links that are parallel and equal as one arc each. O(links). */
function bundles(topology: Topology) {
  const { linkSource, linkTarget } = topology;
  const nodes = nodeCount(topology);
  const figures = linkKinds(topology);
  const kinds = figures.reduce((most, kind) => Math.max(most, kind + 1), 0);
  const known = new Map<number, number>();
  const arcOf = Int32Array.from(linkSource, (from, link) =>
    numberOf(known, (from * nodes + (linkTarget[link] as number)) * kinds + (figures[link] as number)),
  );
  const linkOffset = new Int32Array(known.size + 1);
  for (const arc of arcOf) linkOffset[arc + 1]++;
  for (let arc = 0; arc < known.size; arc++) linkOffset[arc + 1] += linkOffset[arc] as number;
  const next = linkOffset.slice(0, known.size);
  const links = new Int32Array(linkCount(topology));
  arcOf.forEach((arc, link) => {
    links[next[arc]++] = link;
  });
  return { figures, arcOf, linkOffset, links, arcs: known.size };
}

/** Returns the arc that leads back for each arc, -1 where there is none or several of other kinds. O(arcs). */
function arcsBack(nodes: number, source: Int32Array, target: Int32Array, kind: Int32Array): Int32Array {
  const between = new Map<number, number[]>();
  for (let arc = 0; arc < source.length; arc++) {
    const key = source[arc] * nodes + target[arc];
    const known = between.get(key);
    if (known === undefined) between.set(key, [arc]);
    else known.push(arc);
  }
  return Int32Array.from(source, (from, arc) => {
    const there = between.get(from * nodes + target[arc]) ?? [];
    const back = between.get(target[arc] * nodes + from) ?? [];
    const same = back.find((other) => kind[other] === kind[arc]);
    return same ?? (there.length === 1 && back.length === 1 ? (back[0] as number) : -1);
  });
}

/** Returns the network as a coloured graph. O(nodes + links). */
export function colouredNetwork(topology: Topology, collective: Collective): ColouredNetwork {
  const { nodeTraits, npuCount } = topology;
  const { figures, arcOf, linkOffset, links, arcs } = bundles(topology);
  const { groupMembers, groupSize, groupCount, kind: asked, rootRank } = collective;
  const own = nodeCount(topology);

  const boxes = new Map<string, number>();
  nodeTraits.forEach((traits) => {
    if (traits?.group !== undefined && !boxes.has(traits.group)) boxes.set(traits.group, own + boxes.size);
  });
  const groups = groupCount > 1 ? groupCount : 0;
  const nodes = own + boxes.size + groups;
  const roles = new Uint8Array(own);
  groupMembers.forEach((npu, i) => {
    roles[npu] |= hasRoot(asked) && i % groupSize === rootRank ? 2 : 1;
  });
  const colours = new Map<string, number>();
  const colour = Int32Array.from({ length: nodes }, (_, node) => {
    if (node >= own) return numberOf(colours, node < own + boxes.size ? "box" : "group");
    const traits: NodeTraits = nodeTraits[node] ?? {};
    const able = isActive(traits) ? `${traits.multicast === true} ${traits.aggregation === true}` : "";
    return numberOf(colours, `${isNpu(topology, node) ? roles[node] : "switch"} ${able} ${traits.group !== undefined}`);
  });

  const kinds = new Map<string, number>();
  const source: number[] = [];
  const target: number[] = [];
  const kind: number[] = [];
  const add = (from: number, to: number, name: string): void => {
    source.push(from);
    target.push(to);
    kind.push(numberOf(kinds, name));
  };
  for (let arc = 0; arc < arcs; arc++) {
    const link = links[linkOffset[arc]];
    const many = linkOffset[arc + 1] - linkOffset[arc];
    add(topology.linkSource[link], topology.linkTarget[link], `${figures[link]} ${many}`);
  }
  const [linkSources, linkTargets, linkArcKinds] = [source, target, kind].map((list) => Int32Array.from(list));
  for (let node = 0; node < own; node++) {
    const box = boxes.get(nodeTraits[node]?.group ?? "");
    if (box !== undefined && nodeTraits[node]?.group !== undefined) add(box, node, "box");
  }
  for (let i = 0; i < groups * groupSize; i++) {
    if (groupMembers[i] < npuCount) add(own + boxes.size + Math.floor(i / groupSize), groupMembers[i], "group");
  }
  return {
    nodes,
    colour,
    source: Int32Array.from(source),
    target: Int32Array.from(target),
    kind: Int32Array.from(kind),
    linkArcs: arcs,
    arcOf,
    linkOffset,
    links,
    back: arcsBack(nodes, linkSources as Int32Array, linkTargets as Int32Array, linkArcKinds as Int32Array),
    boxes: own + boxes.size,
  };
}

/**
 * Returns what a map of the nodes does to nodes and arcs, [nodes + arcs], arc a as nodes + a; null where it takes two nodes to one,
 * a node to one of another colour, or an arc to none of its kind. This is the proof that the network has the map. O(nodes + arcs).
 */
export function elementOf(network: ColouredNetwork, node: Int32Array): Int32Array | null {
  const { nodes, colour, source, target, kind } = network;
  if (!isOneToOne(node)) return null;
  for (let v = 0; v < nodes; v++) if (colour[v] !== colour[node[v]]) return null;
  const arcs = imagesOfLinks({ linkSource: source, linkTarget: target }, kind, node);
  if (arcs === null) return null;
  const element = new Int32Array(nodes + arcs.length);
  element.set(node);
  for (let arc = 0; arc < arcs.length; arc++) element[nodes + arc] = nodes + arcs[arc];
  return element;
}

/** Returns where a point of the graph is taken: a node, an arc (nodes + a), or both ways of a cable (nodes + arcs + the lower arc). */
export function imageOf({ nodes, source, back }: ColouredNetwork, element: Int32Array, point: number): number {
  const known = nodes + source.length;
  if (point < known) return element[point];
  const arc = element[point - source.length] - nodes;
  return known + Math.min(arc, back[arc]);
}

/**
 * Returns the element of a map of the network's own nodes, [nodes of the network], whose boxes and groups go where their nodes go;
 * null as elementOf does. O(nodes + arcs).
 */
export function elementOfOwn(network: ColouredNetwork, own: Int32Array): Int32Array | null {
  const { nodes, source, target, linkArcs, boxes } = network;
  const boxOf = new Int32Array(nodes).fill(-1);
  const groupOf = new Int32Array(nodes).fill(-1);
  for (let arc = linkArcs; arc < source.length; arc++) {
    (source[arc] < boxes ? boxOf : groupOf)[target[arc]] = source[arc];
  }
  const map = new Int32Array(nodes).fill(-1);
  map.set(own);
  for (let arc = linkArcs; arc < source.length; arc++) {
    map[source[arc]] = (source[arc] < boxes ? boxOf : groupOf)[map[target[arc]]];
  }
  return map.includes(-1) ? null : elementOf(network, map);
}
