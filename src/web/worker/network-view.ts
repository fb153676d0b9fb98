import { sizeText } from "../../export/pictures/svg-topology.ts";
import { bandwidthClasses, type Wire, widthOf } from "../../export/pictures/wires.ts";
import { type Topology, topologyHash } from "../../model/topology/topology.ts";
import type { GoneWire, NetworkView, Placement, WireColumns } from "../protocol.ts";
import { linkWires } from "./link-wires.ts";
import { placementOf } from "./placement.ts";

/** Returns the wires as columns, with the class of each and the wire of every link. */
function columnsOf(topology: Topology, classTop: readonly number[]): WireColumns {
  const { wires, ofLink } = linkWires(topology);
  return {
    a: Int32Array.from(wires, ({ a }) => a),
    b: Int32Array.from(wires, ({ b }) => b),
    forward: Float64Array.from(wires, ({ forward }) => forward),
    backward: Float64Array.from(wires, ({ backward }) => backward),
    bandwidthClass: Uint8Array.from(wires, (wire) => classTop.findIndex((top) => widthOf(wire) <= top)),
    ofLink: ofLink.slice(),
  };
}

/** Names of both ends of a wire, as one key. */
const wireKey = ({ nodeNames }: Topology, { a, b }: Wire): string => `${nodeNames[a]}\n${nodeNames[b]}`;

const NOTHING_GONE: NetworkView["gone"] = { nodes: [], wires: [] };

/** Where the nodes of a network stand, and what of the whole one is gone. */
interface Placed {
  readonly placement: Placement;
  readonly gone: NetworkView["gone"];
}

/** Returns where the nodes of a part of a network stand: where they stand in the whole one, so that nothing jumps. */
function placedIn(whole: Topology, part: Topology): Placed {
  const { wires } = linkWires(whole);
  const placement = placementOf(whole, wires);
  if (whole === part) return { placement, gone: NOTHING_GONE };
  const { x, y, bend, room } = placement;
  const left = new Set(part.nodeNames);
  const leftKeys = linkWires(part).wires.map((wire) => wireKey(part, wire));
  const leftWires = new Set(leftKeys);
  const wireOf = new Map(wires.map((wire, w) => [wireKey(whole, wire), w]));
  const isLeft = whole.nodeNames.map((name) => left.has(name));
  const isWireLeft = wires.map((wire) => leftWires.has(wireKey(whole, wire)));
  const ends = ({ a, b }: Wire): GoneWire => ({
    a: whole.nodeNames[a],
    b: whole.nodeNames[b],
    x1: x[a],
    y1: y[a],
    x2: x[b],
    y2: y[b],
  });
  return {
    // nodes that are left keep their order; wires need not, where the first of parallel links is gone
    placement: {
      ...placement,
      x: x.filter((_, node) => isLeft[node]),
      y: y.filter((_, node) => isLeft[node]),
      room: room.filter((_, node) => isLeft[node]),
      bend: Float32Array.from(leftKeys, (key) => bend[wireOf.get(key) as number]),
    },
    gone: {
      nodes: whole.nodeNames.flatMap((name, node) =>
        isLeft[node] ? [] : [{ name, x: x[node], y: y[node], isNpu: node < whole.npuCount }],
      ),
      wires: wires.flatMap((wire, w) => (isWireLeft[w] ? [] : [ends(wire)])),
    },
  };
}

/**
 * Returns a network as it is drawn, in its place within the whole one that it is what is left of; its columns may be moved.
 * O(nodes + links), and what the placement takes.
 */
export function networkView(topology: Topology, whole = topology): NetworkView {
  const classes = bandwidthClasses(linkWires(topology).wires);
  const columns = columnsOf(
    topology,
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
    ...placedIn(whole, topology),
    whole: whole === topology ? null : { npuCount: whole.npuCount, nodeNames: whole.nodeNames },
  };
}
