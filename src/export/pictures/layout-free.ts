import {
  forceCollide,
  forceLink,
  forceManyBody,
  forceSimulation,
  forceX,
  forceY,
  type SimulationNodeDatum,
} from "d3-force";
import type { Layout } from "./layout-grid.ts";
import { type Wire, widthOf } from "./wires.ts";

const straight = (): number => 0;

/** Returns the nodes on a circle, the first at the top, clockwise. */
export function circleLayout(nodes: number): Layout {
  const radius = Math.max(5, Math.min(16, 420 / nodes));
  const ring = Math.max(70, (nodes * (2.4 * radius + 4)) / (2 * Math.PI), Math.min(200, 24 * nodes));
  const size = 2 * (ring + 2 * radius);
  const x = new Float64Array(nodes);
  const y = new Float64Array(nodes);
  for (let node = 0; node < nodes; node++) {
    const angle = (2 * Math.PI * node) / nodes - Math.PI / 2;
    x[node] = size / 2 + ring * Math.cos(angle);
    y[node] = size / 2 + ring * Math.sin(angle);
  }
  return { x, y, radius, width: size, height: size, bend: straight, boxes: [] };
}

/** Returns the nodes where springs along wires and repulsion between nodes leave them; always the same. O(n log n) a step. */
export function forceLayout(nodes: number, wires: readonly Wire[]): Layout {
  const radius = nodes <= 100 ? 15 : nodes <= 600 ? 8 : 4;
  const most = wires.reduce((sum, wire) => Math.max(sum, widthOf(wire)), 1);
  const places: SimulationNodeDatum[] = Array.from({ length: nodes }, () => ({}));
  const springs = wires.map((wire) => ({
    source: wire.a,
    target: wire.b,
    length: radius * (nodes <= 100 ? 8.5 - 4 * Math.sqrt(widthOf(wire) / most) : 5),
  }));
  const simulation = forceSimulation(places)
    .force(
      "wires",
      forceLink(springs).distance((spring) => (spring as { length: number }).length),
    )
    .force("apart", forceManyBody().strength(-28 * radius))
    .force("collide", forceCollide(radius * 1.7))
    .force("x", forceX(0).strength(0.03))
    .force("y", forceY(0).strength(0.06))
    .stop();
  simulation.tick(Math.max(40, Math.min(300, Math.round(120_000 / nodes))));
  const x = Float64Array.from(places, (place) => place.x ?? 0);
  const y = Float64Array.from(places, (place) => place.y ?? 0);
  const room = 2 * radius;
  const [left, top] = [x.reduce((a, b) => Math.min(a, b)) - room, y.reduce((a, b) => Math.min(a, b)) - room];
  for (let node = 0; node < nodes; node++) {
    x[node] -= left;
    y[node] -= top;
  }
  const width = x.reduce((a, b) => Math.max(a, b)) + room;
  const height = y.reduce((a, b) => Math.max(a, b)) + room;
  return { x, y, radius, width, height, bend: straight, boxes: [] };
}
