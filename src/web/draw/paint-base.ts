import type { NetworkView } from "../protocol.ts";
import { arrow } from "./arrows.ts";
import { type Camera, type Extent, meets, type Region, seen, widened } from "./camera.ts";
import { HEAT_STEPS, heatColours, heatStep } from "./heat.ts";
import type { Palette } from "./palette.ts";
import { bandsOf, oneWayWires, opacityOf, type WireBatch, wireBatches } from "./wire-paths.ts";

/** What lies under the marks: boxes and wires. It changes with the network, the heat, and the camera only. */
export interface Base {
  readonly network: NetworkView;
  readonly batches: readonly WireBatch[];
  readonly isHeat: boolean;
  readonly opacity: number;
  readonly oneWay: ReturnType<typeof oneWayWires>;
}

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

/** How pale what is not marked is drawn where marks say so. */
const FADED = 0.3;
/** Lines are so many pixels wide, at least and at most. */
const LEAST_WIDTH = 0.6;
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
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.fillStyle = palette("--panel");
  context.fillRect(0, 0, view.width, view.height);
  context.setTransform(ratio * k, 0, 0, ratio * k, ratio * camera.x, ratio * camera.y);
  paintBoxes(context, base.network, k, region, palette);
  const strength = base.opacity + (1 - base.opacity) * Math.min(1, Math.max(0, Math.log2(k) / 4));
  context.globalAlpha = strength * (isFaded ? FADED : 1);
  const bands = bandsOf(base.network);
  const hot = base.isHeat ? heatColours(palette.isDark) : [];
  const heatWidth = bands.reduce((most, { width }) => Math.max(most, width), 0) * 0.6;
  context.lineCap = "butt";
  for (const { path, region: around, kind } of base.batches) {
    const width = base.isHeat ? heatWidth : bands[kind].width;
    if (!meets(region, widened(around, width))) continue;
    context.lineWidth = Math.max(LEAST_WIDTH, Math.min(MOST_WIDTH, width * k)) / k;
    context.strokeStyle = base.isHeat ? hot[kind] : palette(`--band-${bands[kind].step}`);
    context.stroke(path);
  }
  if (!base.isHeat) paintArrows(context, base, k, region, palette);
  paintGone(context, base.network, k, palette);
  context.globalAlpha = 1;
}

function paintArrows(
  context: CanvasRenderingContext2D,
  { network, oneWay }: Base,
  k: number,
  region: Region,
  palette: Palette,
): void {
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
function paintGone(context: CanvasRenderingContext2D, { gone }: NetworkView, k: number, palette: Palette): void {
  if (gone.wires.length === 0) return;
  context.strokeStyle = palette("--ghost");
  context.lineWidth = 1.4 / k;
  context.setLineDash([5 / k, 4 / k]);
  context.beginPath();
  for (const { x1, y1, x2, y2 } of gone.wires) {
    context.moveTo(x1, y1);
    context.lineTo(x2, y2);
  }
  context.stroke();
  context.setLineDash([]);
}

function paintBoxes(
  context: CanvasRenderingContext2D,
  { placement: { boxes } }: NetworkView,
  k: number,
  region: Region,
  palette: Palette,
): void {
  context.lineWidth = 1 / k;
  context.fillStyle = palette("--sunk");
  context.strokeStyle = palette("--line");
  for (const { x, y, width, height } of boxes) {
    if (!meets(region, { left: x, top: y, right: x + width, bottom: y + height })) continue;
    context.beginPath();
    context.roundRect(x, y, width, height, Math.min(8, width / 8));
    context.fill();
    context.stroke();
  }
}
