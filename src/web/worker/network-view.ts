import { bandwidthClasses, type Wire, widthOf, wiresOf } from "../../export/pictures/wires.ts";
import { sizeText } from "../../export/svg-topology.ts";
import { linkCount, nodeCount, type Topology, topologyHash } from "../../model/topology.ts";
import type { NetworkView, WireColumns } from "../protocol.ts";
import { placementOf } from "./placement.ts";

/** Returns the wires as columns, with the class of each and the wire of every link. */
function columnsOf(topology: Topology, wires: readonly Wire[], classTop: readonly number[]): WireColumns {
  const { linkSource, linkTarget } = topology;
  const nodes = nodeCount(topology);
  const wireOf = new Map(wires.map(({ a, b }, wire) => [a * nodes + b, wire]));
  const ofLink = new Int32Array(linkCount(topology));
  for (let link = 0; link < ofLink.length; link++) {
    const [from, to] = [linkSource[link], linkTarget[link]];
    ofLink[link] = wireOf.get(from < to ? from * nodes + to : to * nodes + from) as number;
  }
  return {
    a: Int32Array.from(wires, ({ a }) => a),
    b: Int32Array.from(wires, ({ b }) => b),
    forward: Float64Array.from(wires, ({ forward }) => forward),
    backward: Float64Array.from(wires, ({ backward }) => backward),
    bandwidthClass: Uint8Array.from(wires, (wire) => classTop.findIndex((top) => widthOf(wire) <= top)),
    ofLink,
  };
}

/** Returns a network as it is drawn; its columns may be moved. O(nodes + links), and what its placement takes. */
export function networkView(topology: Topology): NetworkView {
  const wires = wiresOf(topology);
  const classes = bandwidthClasses(wires);
  const columns = columnsOf(
    topology,
    wires,
    classes.map(({ to }) => to),
  );
  const groupOf = new Map<string, number>();
  const nodeGroup = Int32Array.from(topology.nodeTraits, ({ group }) => {
    if (group === undefined) return -1;
    const known = groupOf.get(group) ?? groupOf.size;
    groupOf.set(group, known);
    return known;
  });
  return {
    name: topology.name,
    hash: topologyHash(topology),
    npuCount: topology.npuCount,
    sizeText: sizeText(topology),
    nodeNames: topology.nodeNames,
    shape: topology.shape,
    sources: topology.sources,
    groups: [...groupOf.keys()],
    nodeGroup,
    nodeTraits: Uint8Array.from(
      topology.nodeTraits,
      ({ multicast, aggregation }) => (multicast === true ? 1 : 0) | (aggregation === true ? 2 : 0),
    ),
    linkSource: topology.linkSource.slice(),
    linkTarget: topology.linkTarget.slice(),
    linkBytesPerSecond: topology.linkBytesPerSecond.slice(),
    linkLatencyPs: topology.linkLatencyPs.slice(),
    wires: columns,
    classes: classes.map(({ text }, i) => ({ text, wires: columns.bandwidthClass.filter((c) => c === i).length })),
    placement: placementOf(topology, wires),
    whole: null,
  };
}
