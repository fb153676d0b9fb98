import { heatColours } from "../../picture/scales.ts";
import { bendOf } from "../../picture/shapes.ts";
import type { NetworkView } from "../protocol.ts";
import { type Camera, type Extent, meets, type Region, seen, widened } from "./camera.ts";
import { labelsOf } from "./labels.ts";
import type { Dot, NetworkMarks, NodeMark, WireMark } from "./marks.ts";
import type { Palette } from "./palette.ts";
import {
  arrow,
  bandsOf,
  direction,
  oneWayWires,
  opacityOf,
  pointOn,
  shapesOf,
  trace,
  type WireBatch,
  wireBatches,
} from "./shapes.ts";

/** What painters of the network share; the context is in the network's units but for texts. */
interface Brush {
  readonly context: CanvasRenderingContext2D;
  readonly network: NetworkView;
  readonly camera: Camera;
  readonly region: Region;
  readonly palette: Palette;
}

/** What lies under the marks: boxes and wires. It changes with the network, the heat, and the camera only. */
export interface Base {
  readonly network: NetworkView;
  readonly batches: readonly WireBatch[];
  readonly isHeat: boolean;
  readonly opacity: number;
  readonly oneWay: ReturnType<typeof oneWayWires>;
}

/** So many colours the heat of wires is drawn in. */
export const HEAT_STEPS = 24;

/** Returns the step of a share, 0 .. HEAT_STEPS - 1. */
export const heatStep = (share: number): number =>
  Math.max(0, Math.min(HEAT_STEPS - 1, Math.floor(share * HEAT_STEPS)));

/** Returns what is painted of a network, with all wires in a colour of the heat scale where there is heat. O(wires). */
export function baseOf(network: NetworkView, heat: Float32Array | undefined): Base {
  const { bandwidthClass } = network.wires;
  const batches =
    heat === undefined
      ? wireBatches(network, network.classes.length, (wire) => bandwidthClass[wire])
      : wireBatches(network, HEAT_STEPS, (wire) => heatStep(heat[wire]));
  const opacity = opacityOf(network);
  return {
    network,
    batches,
    isHeat: heat !== undefined,
    opacity: heat === undefined ? opacity : Math.sqrt(opacity),
    oneWay: oneWayWires(network),
  };
}

/** How pale what is not marked is drawn where marks say so: wires, and nodes. */
const FADED_WIRES = 0.3;
const FADED_NODES = 0.4;
/** Lines are this many pixels wide, at least and at most; thinner ones are paler than their colour, and only many are. */
const LEAST_WIDTH = 1;
const LEAST_OF_MANY = 0.6;
const MOST_WIDTH = 7;
/** Arrows of wires shorter than this (pixels) are left out. */
const LEAST_ARROW = 4;

/** Paints boxes and wires that are seen onto a context whose pixels are `ratio` to a CSS pixel. */
export function paintBase(
  context: CanvasRenderingContext2D,
  base: Base,
  camera: Camera,
  view: Extent,
  ratio: number,
  palette: Palette,
  isFaded: boolean,
): void {
  const { k } = camera;
  const region = seen(camera, view);
  const brush = { context, network: base.network, camera, region, palette };
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.fillStyle = palette("--panel");
  context.fillRect(0, 0, view.width, view.height);
  context.setTransform(ratio * k, 0, 0, ratio * k, ratio * camera.x, ratio * camera.y);
  paintBoxes(brush);
  const strength = base.opacity + (1 - base.opacity) * Math.min(1, Math.max(0, Math.log2(k) / 4));
  context.globalAlpha = strength * (isFaded ? FADED_WIRES : 1);
  const bands = bandsOf(base.network);
  const hot = base.isHeat ? heatColours(HEAT_STEPS, palette.isDark) : [];
  const least = base.opacity < 1 ? LEAST_OF_MANY : LEAST_WIDTH;
  const heatWidth = bands.reduce((most, { width }) => Math.max(most, width), 0) * 0.6;
  context.lineCap = "butt";
  for (const { path, region: around, kind } of base.batches) {
    const width = base.isHeat ? heatWidth : bands[kind].width;
    if (!meets(region, widened(around, width))) continue;
    context.lineWidth = Math.max(least, Math.min(MOST_WIDTH, width * k)) / k;
    context.strokeStyle = base.isHeat ? hot[kind] : palette(`--band-${bands[kind].step}`);
    context.stroke(path);
  }
  if (!base.isHeat) paintArrows(brush, base);
  paintGone(brush);
  context.globalAlpha = 1;
}

function paintArrows({ context, network, camera: { k }, region, palette }: Brush, { oneWay }: Base): void {
  const size = Math.max(network.placement.radius * 0.7, 6 / k);
  if (oneWay.length === 0 || size * k < LEAST_ARROW || (oneWay.length > 4000 && k < 1)) return;
  const { x, y } = network.placement;
  const { a, b } = network.wires;
  context.fillStyle = palette("--npu-edge");
  context.beginPath();
  for (const { wire, forward } of oneWay) {
    const [middleX, middleY] = [(x[a[wire]] + x[b[wire]]) / 2, (y[a[wire]] + y[b[wire]]) / 2];
    if (middleX < region.left || middleX > region.right || middleY < region.top || middleY > region.bottom) continue;
    arrow(context, network, wire, forward, size);
  }
  context.fill();
}

/** Paints what failed: dashed. */
function paintGone({ context, network: { gone }, camera: { k }, palette }: Brush): void {
  if (gone.wires.length === 0) return;
  context.strokeStyle = palette("--ghost");
  context.lineWidth = 1.4 / k;
  context.setLineDash([5 / k, 4 / k]);
  context.beginPath();
  for (const { x1, y1, x2, y2, bend } of gone.wires) {
    const { controlX, controlY } = bendOf(x1, y1, x2, y2, bend);
    context.moveTo(x1, y1);
    context.quadraticCurveTo(controlX, controlY, x2, y2);
  }
  context.stroke();
  context.setLineDash([]);
}

function paintBoxes({ context, network, camera: { k }, region, palette }: Brush): void {
  context.lineWidth = 1 / k;
  context.fillStyle = palette("--sunk");
  context.strokeStyle = palette("--line");
  for (const { x, y, width, height } of network.placement.boxes) {
    if (!meets(region, { left: x, top: y, right: x + width, bottom: y + height })) continue;
    context.beginPath();
    context.roundRect(x, y, width, height, Math.min(8, width / 8));
    context.fill();
    context.stroke();
  }
}

const LEAST_MARKED = 1.6;
/** More wires than this are a pixel wide while NPUs are smaller (pixels, radius). */
const MOST_WIDE = 1200;
const LEAST_ROOMY = 8;
/** More dots than this are squares. */
const MOST_ROUND = 600;

/** Paints the wires that are marked, in their order; neighbours in it that look alike at once. The context is in the network's units. */
export function paintWireMarks({ context, network, camera: { k }, palette }: Brush, marks: readonly WireMark[]): void {
  const bands = bandsOf(network);
  const { bandwidthClass } = network.wires;
  // many lines a pixel wide are painted several times as fast as wider ones
  const isCrowded = marks.length > MOST_WIDE && network.placement.radius * k < LEAST_ROOMY;
  const widthOf = ({ wire, width }: WireMark): number =>
    isCrowded ? 1 / k : Math.max(LEAST_MARKED, width ?? Math.min(6, bands[bandwidthClass[wire]].width * k + 1)) / k;
  for (let from = 0; from < marks.length; ) {
    const { colour, dashed = false } = marks[from];
    const width = widthOf(marks[from]);
    let to = from;
    context.beginPath();
    do trace(context, network, marks[to++].wire);
    while (
      to < marks.length &&
      marks[to].colour === colour &&
      (marks[to].dashed ?? false) === dashed &&
      widthOf(marks[to]) === width
    );
    context.strokeStyle = palette(colour);
    context.lineWidth = width;
    context.setLineDash(dashed ? [6 / k, 4 / k] : []);
    context.stroke();
    context.setLineDash([]);
    context.fillStyle = context.strokeStyle;
    context.beginPath();
    for (let i = from; i < to; i++) {
      const { wire, forward } = marks[i];
      if (forward !== null) arrow(context, network, wire, forward, arrowSize(network, width, k), 0.6);
    }
    context.fill();
    from = to;
  }
}

/** Arrows grow with their line, and are never so small that they cannot be seen. */
const arrowSize = ({ placement }: NetworkView, width: number, k: number): number =>
  Math.max(6 / k, Math.min(3.4 * width, Math.max(0.9 * placement.radius, 8 / k)));

/** Paints things on their way, each on the right-hand side of its wire. */
export function paintDots({ context, network, camera: { k }, palette }: Brush, dots: readonly Dot[]): void {
  const size = Math.max(2.6, Math.min(5.5, 0.3 * network.placement.radius * k)) / k;
  const byColour = new Map<string, Dot[]>();
  for (const dot of dots) {
    const alike = byColour.get(dot.colour);
    if (alike === undefined) byColour.set(dot.colour, [dot]);
    else alike.push(dot);
  }
  for (const [colour, alike] of byColour) {
    context.fillStyle = palette(colour);
    context.beginPath();
    // squares are painted several times as fast
    const isSquare = dots.length > MOST_ROUND;
    for (const { wire, forward, at } of alike) {
      const rim = rimOf(network, wire);
      const way = rim + at * (1 - 2 * rim);
      const along = forward ? way : 1 - way;
      const { x, y } = pointOn(network, wire, along);
      const [dx, dy] = direction(network, wire, along, forward);
      const [centreX, centreY] = [x - dy * size * 0.7, y + dx * size * 0.7];
      if (isSquare) {
        context.fillRect(centreX - size, centreY - size, 2 * size, 2 * size);
        continue;
      }
      context.moveTo(centreX + size, centreY);
      context.arc(centreX, centreY, size, 0, 2 * Math.PI);
    }
    if (!isSquare) context.fill();
  }
}

/** Returns the share of a wire that lies under the node at each of its ends, so that nothing covers a node's name. */
function rimOf({ placement: { x, y, radius }, wires: { a, b } }: NetworkView, wire: number): number {
  const length = Math.hypot(x[a[wire]] - x[b[wire]], y[a[wire]] - y[b[wire]]);
  return length > 0 ? Math.min(0.3, radius / length) : 0;
}

/** NPUs smaller than this (pixels, radius) are squares without an edge. */
const LEAST_CIRCLE = 2.2;

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
    context.globalAlpha = isPale ? FADED_NODES : 1;
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

const FONT = "system-ui, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif";

/** Paints names: of boxes below them, of nodes inside them where there is room, and the texts of marks beside their nodes. */
export function paintLabels(brush: Brush, shown: readonly number[], marks: NetworkMarks | undefined): void {
  const { context, network, camera, region, palette } = brush;
  context.textBaseline = "middle";
  context.textAlign = "center";
  context.lineWidth = 3;
  context.lineJoin = "round";
  context.strokeStyle = palette("--panel");
  const paleness = marks?.fadeOthers === true ? 0.5 : 1;
  let font = "";
  for (const { kind, node, text, x, y, size } of labelsOf(network, camera, region, shown, marks)) {
    const mark = marks?.nodes?.get(node);
    const isOnMark = kind === "node" && mark !== undefined && mark.ring !== true;
    const wanted = `${kind === "mark" ? "600 " : ""}${size}px ${FONT}`;
    if (wanted !== font) context.font = wanted;
    font = wanted;
    context.globalAlpha = kind === "node" && mark === undefined ? paleness : 1;
    context.fillStyle = isOnMark ? palette.on(mark.colour) : palette(kind === "box" ? "--soft" : "--text");
    if (kind === "mark") context.strokeText(text, x, y);
    context.fillText(text, x, y);
  }
  context.globalAlpha = 1;
}
