import { visible } from "../../base/visible.ts";
import type { NetworkView } from "../protocol.ts";
import { type Camera, meets, type Region } from "./camera.ts";
import type { NetworkMarks } from "./marks.ts";
import type { Palette } from "./palette.ts";
import { shapesOf } from "./shapes.ts";

/** Smaller letters (pixels) are left out, greater ones are not needed. */
const LEAST_TYPE = 7;
const MOST_TYPE = 15;
/** Names of boxes have so much room below them, in the network's units. */
const BOX_TYPE = 22;
const FONT = "system-ui, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif";
/** A letter is about so wide, in its own size. */
const LETTER = 0.6;

/** Returns the last letters of a text, at most `most`, for names differ there; "" where hardly any fit. */
export function shortened(text: string, most: number): string {
  const shown = visible(text);
  const letters = [...shown];
  if (letters.length <= most) return shown;
  return most < 3 ? "" : `…${letters.slice(letters.length - most + 1).join("")}`;
}

/** Paints names: of boxes below them, of nodes inside them where there is room, and the texts of marks beside their nodes. */
export function paintLabels(
  context: CanvasRenderingContext2D,
  network: NetworkView,
  camera: Camera,
  region: Region,
  shown: readonly number[],
  marks: NetworkMarks | undefined,
  palette: Palette,
): void {
  context.textBaseline = "middle";
  context.textAlign = "center";
  paintBoxNames(context, network, camera, region, palette);
  paintNodeNames(context, network, camera, shown, marks, palette);
  if (marks?.nodes !== undefined) paintTexts(context, network, camera, shown, marks.nodes, palette);
}

function paintBoxNames(
  context: CanvasRenderingContext2D,
  { placement: { boxes } }: NetworkView,
  { k, x: left, y: top }: Camera,
  region: Region,
  palette: Palette,
): void {
  context.fillStyle = palette("--soft");
  const type = Math.min(12, BOX_TYPE * k);
  if (type < LEAST_TYPE) return;
  context.font = `${type}px ${FONT}`;
  for (const { x, y, width, height, name } of boxes) {
    if (width * k < 16 || !meets(region, { left: x, top: y, right: x + width, bottom: y + height + 20 })) continue;
    const text = shortened(name, Math.floor((width * k) / (type * LETTER)));
    if (text !== "") context.fillText(text, (x + width / 2) * k + left, (y + height) * k + top + 0.75 * type);
  }
}

function paintNodeNames(
  context: CanvasRenderingContext2D,
  network: NetworkView,
  { k, x: left, y: top }: Camera,
  shown: readonly number[],
  marks: NetworkMarks | undefined,
  palette: Palette,
): void {
  const { placement, nodeNames, npuCount } = network;
  const { halfWidth, halfHeight } = shapesOf(network);
  const { x, y, radius } = placement;
  if (Math.max(radius * 0.95, halfHeight) * k < LEAST_TYPE) return;
  let font = 0;
  const paleness = marks?.fadeOthers === true ? 0.5 : 1;
  for (const node of shown) {
    const isNpu = node < npuCount;
    const wide = (isNpu ? 1.8 * radius : 2 * halfWidth[node] - 4) * k;
    const tall = (isNpu ? 0.95 * radius : halfHeight) * k;
    const name = visible(nodeNames[node]);
    const type = Math.min(MOST_TYPE, tall, Math.max(LEAST_TYPE, wide / (LETTER * [...name].length)));
    if (type < LEAST_TYPE) continue;
    const text = shortened(name, Math.floor(wide / (LETTER * type) + 0.3));
    if (text === "") continue;
    const size = Math.round(2 * type) / 2;
    if (size !== font) {
      context.font = `${size}px ${FONT}`;
      font = size;
    }
    const mark = marks?.nodes?.get(node);
    const pen = mark === undefined || mark.ring === true ? palette("--text") : palette.on(mark.colour);
    context.globalAlpha = mark === undefined ? paleness : 1;
    context.fillStyle = pen;
    context.fillText(text, x[node] * k + left, y[node] * k + top + 0.5);
  }
  context.globalAlpha = 1;
}

function paintTexts(
  context: CanvasRenderingContext2D,
  network: NetworkView,
  { k, x: left, y: top }: Camera,
  shown: readonly number[],
  marked: NonNullable<NetworkMarks["nodes"]>,
  palette: Palette,
): void {
  const { x, y } = network.placement;
  const { halfWidth } = shapesOf(network);
  context.font = `600 12px ${FONT}`;
  context.textAlign = "left";
  context.lineWidth = 3;
  context.lineJoin = "round";
  context.strokeStyle = palette("--panel");
  context.fillStyle = palette("--text");
  for (const node of shown) {
    const text = marked.get(node)?.text;
    if (text === undefined || text === "") continue;
    const [atX, atY] = [(x[node] + halfWidth[node]) * k + left + 4, y[node] * k + top];
    context.strokeText(visible(text), atX, atY);
    context.fillText(visible(text), atX, atY);
  }
}
