import { layoutOf } from "../../export/pictures/layout.ts";
import type { Wire } from "../../export/pictures/wires.ts";
import type { Topology } from "../../model/topology.ts";
import type { Placement } from "../protocol.ts";

/** Returns where the nodes of a network stand. */
export function placementOf(topology: Topology, wires: readonly Wire[]): Placement {
  const { x, y, radius, width, height, bend, boxes, room } = layoutOf(topology, wires);
  return {
    x,
    y,
    radius,
    room: room === undefined ? new Float32Array(x.length).fill(8 * radius) : Float32Array.from(room),
    width,
    height,
    bend: Float32Array.from(wires, ({ a, b }) => bend(a, b)),
    boxes,
    caption: topology.shape.length > 1 ? topology.shape.join(" x ") : "",
  };
}
