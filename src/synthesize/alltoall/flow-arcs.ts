import { type Graph, graph, groupedBy } from "../../model/graph/graph.ts";
import { nodeCount, outLinks, type Topology } from "../../model/topology/topology.ts";
import type { FlowOrbits } from "./orbits.ts";

/** The links of a network by the nodes that they leave, with their classes. */
export interface FlowArcs {
  /** [nodes + 1] */
  readonly offset: Int32Array;
  /** [arcs] */
  readonly target: Int32Array;
  readonly source: Int32Array;
  /** [arcs] the link that it is. */
  readonly link: Int32Array;
  /** Arcs that enter v: inArcs[inOffset[v] .. inOffset[v + 1]]. */
  readonly inOffset: Int32Array;
  readonly inArcs: Int32Array;
  /** [arcs] */
  readonly arcClass: Int32Array;
  /** [classes] */
  readonly classSize: Int32Array;
  /** [classes] bytes per second of one link. */
  readonly capacity: Float64Array;
}

/** Returns the links as arcs. O(nodes + links). */
export function flowArcs(topology: Topology, { linkClass, classSize }: FlowOrbits): FlowArcs {
  const { offset, links } = outLinks(topology);
  const target = links.map((link) => topology.linkTarget[link]);
  const entering = groupedBy(target, nodeCount(topology));
  const capacity = new Float64Array(classSize.length);
  for (let link = 0; link < linkClass.length; link++) capacity[linkClass[link]] = topology.linkBytesPerSecond[link];
  return {
    offset,
    target,
    source: links.map((link) => topology.linkSource[link]),
    link: links,
    inOffset: entering.offset,
    inArcs: entering.items,
    arcClass: links.map((link) => linkClass[link]),
    classSize,
    capacity,
  };
}

/** Returns the arcs as a graph in which each is as long as `length` says of its class, whole numbers >= 0. O(nodes + arcs). */
export const graphUnder = ({ offset, source, target, arcClass }: FlowArcs, length: Int32Array): Graph =>
  graph(
    offset.length - 1,
    source,
    target,
    Float64Array.from(arcClass, (c) => length[c]),
  );
