import { layoutOf } from "../../export/pictures/layout.ts";
import type { Wire } from "../../export/pictures/wires.ts";
import type { Topology } from "../../model/topology.ts";
import type { Placement } from "../protocol.ts";

/** Returns where the nodes of a network stand. */
export function placementOf(topology: Topology, wires: readonly Wire[]): Placement {
  const { x, y, radius, width, height, bend, boxes } = layoutOf(topology, wires);
  return {
    x,
    y,
    radius,
    width,
    height,
    bend: Float32Array.from(wires, ({ a, b }) => bend(a, b)),
    boxes,
    caption: topology.shape.length > 1 ? topology.shape.join(" x ") : "",
  };
}
