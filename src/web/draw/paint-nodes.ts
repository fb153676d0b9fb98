import type { NetworkView } from "../protocol.ts";
import type { Camera, Region } from "./camera.ts";
import type { NetworkMarks, NodeMark } from "./marks.ts";
import type { Palette } from "./palette.ts";
import { shapesOf } from "./shapes.ts";

/** NPUs smaller than this (pixels, radius) are squares without an edge. */
const LEAST_CIRCLE = 2.2;
const FADED = 0.4;

export interface Brush {
  readonly context: CanvasRenderingContext2D;
  readonly network: NetworkView;
  readonly camera: Camera;
  readonly region: Region;
  readonly palette: Palette;
}

/** Returns the nodes that are seen, ascending. O(nodes). */
export function nodesSeen(network: NetworkView, region: Region): number[] {
  const { x, y } = network.placement;
  const { halfWidth } = shapesOf(network);
  const found: number[] = [];
  for (let node = 0; node < x.length; node++) {
    const off = halfWidth[node];
    if (x[node] + off < region.left || x[node] - off > region.right) continue;
    if (y[node] + off >= region.top && y[node] - off <= region.bottom) found.push(node);
  }
  return found;
}

/** Paints nodes: plain ones at once, then what fills them, then those that are marked. */
export function paintNodes(brush: Brush, shown: readonly number[], marks: NetworkMarks | undefined): void {
  const { context, network, camera, palette } = brush;
  const { npuCount } = network;
  const marked = marks?.nodes;
  const plain = marked === undefined || marked.size === 0 ? shown : shown.filter((node) => !isFilled(marked.get(node)));
  const firstSwitch = plain.findIndex((node) => node >= npuCount);
  const cut = firstSwitch < 0 ? plain.length : firstSwitch;
  const isPale = marks?.fadeOthers === true;
  context.lineWidth = Math.max(0.8, Math.min(1.5, 0.12 * network.placement.radius * camera.k)) / camera.k;
  const paint = (nodes: readonly number[], fill: string, edge: string): void => {
    // wires must not shine through pale nodes
    if (isPale) paintAlike(brush, nodes, palette("--panel"), palette("--panel"));
    context.globalAlpha = isPale ? FADED : 1;
    paintAlike(brush, nodes, palette(fill), palette(edge));
    context.globalAlpha = 1;
  };
  paint(plain.slice(0, cut), "--npu", "--npu-edge");
  if (marks?.fill !== undefined) paintFill(brush, shown, marks.fill);
  paint(plain.slice(cut), "--switch", "--switch-edge");
  paintGoneNodes(brush);
  if (marked !== undefined) paintNodeMarks(brush, shown, marked);
}

const isFilled = (mark: NodeMark | undefined): boolean => mark !== undefined && mark.ring !== true;

function paintAlike(brush: Brush, nodes: readonly number[], fill: string, edge: string): void {
  const { context, network, camera } = brush;
  const { x, y, radius } = network.placement;
  if (nodes.length === 0) return;
  if (radius * camera.k < LEAST_CIRCLE && nodes[0] < network.npuCount) {
    context.fillStyle = edge;
    const half = Math.max(radius, 0.7 / camera.k);
    for (const node of nodes) context.fillRect(x[node] - half, y[node] - half, 2 * half, 2 * half);
    return;
  }
  context.fillStyle = fill;
  context.strokeStyle = edge;
  // short paths are painted faster than one long one
  for (let from = 0; from < nodes.length; from += 64) {
    context.beginPath();
    for (const node of nodes.slice(from, from + 64)) outline(brush, node);
    context.fill();
    context.stroke();
  }
}

/** Adds the outline of a node to the path, `more` larger on every side. */
function outline({ context, network, camera }: Brush, node: number, more = 0): void {
  const { x, y, radius } = network.placement;
  if (node < network.npuCount) {
    const size = Math.max(radius, 0.7 / camera.k) + more;
    context.moveTo(x[node] + size, y[node]);
    context.arc(x[node], y[node], size, 0, 2 * Math.PI);
    return;
  }
  const { halfWidth, halfHeight } = shapesOf(network);
  const [wide, tall] = [halfWidth[node] + more, halfHeight + more];
  context.roundRect(x[node] - wide, y[node] - tall, 2 * wide, 2 * tall, Math.min(tall, wide) / 2);
}

/** Paints how full NPUs are, as a level that rises. */
function paintFill({ context, network, palette, camera }: Brush, shown: readonly number[], fill: Float32Array): void {
  const { x, y, radius } = network.placement;
  context.fillStyle = palette("--full");
  const isSquare = radius * camera.k < LEAST_CIRCLE;
  for (let from = 0; from < shown.length; from += 64) {
    context.beginPath();
    for (const node of shown.slice(from, from + 64)) {
      const level = Math.min(1, fill[node]);
      if (node >= network.npuCount || !(level > 0)) continue;
      if (isSquare) {
        context.rect(x[node] - radius, y[node] + radius * (1 - 2 * level), 2 * radius, 2 * radius * level);
        continue;
      }
      const angle = Math.acos(1 - 2 * level);
      const inner = radius * 0.94;
      context.moveTo(x[node] + inner * Math.sin(angle), y[node] + inner * Math.cos(angle));
      context.arc(x[node], y[node], inner, Math.PI / 2 - angle, Math.PI / 2 + angle);
      context.closePath();
    }
    context.fill();
  }
}

function paintGoneNodes({ context, network, palette, camera }: Brush): void {
  const { gone, placement } = network;
  if (gone.nodes.length === 0) return;
  const size = Math.max(placement.radius, 2 / camera.k);
  context.strokeStyle = palette("--ghost");
  context.setLineDash([3 / camera.k, 3 / camera.k]);
  context.beginPath();
  for (const { x, y, isNpu } of gone.nodes) {
    if (isNpu) {
      context.moveTo(x + size, y);
      context.arc(x, y, size, 0, 2 * Math.PI);
    } else context.rect(x - size, y - 0.6 * size, 2 * size, 1.2 * size);
    const cross = 0.5 * size;
    context.moveTo(x - cross, y - cross);
    context.lineTo(x + cross, y + cross);
    context.moveTo(x + cross, y - cross);
    context.lineTo(x - cross, y + cross);
  }
  context.stroke();
  context.setLineDash([]);
}

/** Paints the nodes that are marked, among those that are shown. */
export function paintNodeMarks(brush: Brush, shown: readonly number[], marked: ReadonlyMap<number, NodeMark>): void {
  const { context, network, palette, camera } = brush;
  const least = 1 / camera.k;
  const isShown = marked.size < shown.length ? new Set(shown) : null;
  const nodes =
    isShown === null ? shown.filter((node) => marked.has(node)) : [...marked.keys()].filter((n) => isShown.has(n));
  for (const node of nodes) {
    const { colour, ring } = marked.get(node) as NodeMark;
    const paint = palette(colour);
    context.beginPath();
    outline(brush, node, ring === true ? 1.6 * least : 0.4 * least);
    if (ring === true) {
      context.strokeStyle = paint;
      context.lineWidth = Math.max(2.2 * least, 0.16 * network.placement.radius);
    } else {
      context.fillStyle = paint;
      context.fill();
      context.strokeStyle = palette.on(colour) === "#ffffff" ? palette("--panel") : palette("--npu-edge");
      context.lineWidth = least;
    }
    context.stroke();
  }
}
