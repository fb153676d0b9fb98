import { visible } from "../../../base/visible.ts";
import { heatPixels } from "../../../picture/scales.ts";
import type { Palette } from "../../draw/palette.ts";
import type { Matrix } from "./matrix.ts";

/** Part of the matrix that is shown: cells from `left` and `top` on (fractions too), `cell` pixels each. */
export interface Camera {
  readonly left: number;
  readonly top: number;
  readonly cell: number;
}

/** Steps of the colour scale; 0 stands for no link. */
const SHADES = 255;

/** Larger cells have a gap between them. */
const GAP_FROM = 7;

/**
 * Returns the shade of each pixel: 0 where there is no link, else 1 + the share in 254 steps. A cell is drawn a pixel large at
 * least, and of several in one pixel the busiest is seen, so that nothing is lost in matrices larger than the picture.
 * O(entries + pixels).
 */
export function shadesOf(matrix: Matrix, { left, top, cell }: Camera, width: number, height: number): Uint8Array {
  const shades = new Uint8Array(width * height);
  const gap = cell >= GAP_FROM ? 1 : 0;
  const { row, column, share } = matrix;
  for (let entry = 0; entry < row.length; entry++) {
    const y = (row[entry] - top) * cell;
    const x = (column[entry] - left) * cell;
    if (y >= height || x >= width || y + cell <= 0 || x + cell <= 0) continue;
    const shade = 1 + Math.round(Math.max(0, Math.min(1, share[entry])) * (SHADES - 1));
    const [x0, y0] = [Math.max(0, Math.floor(x)), Math.max(0, Math.floor(y))];
    const x1 = Math.min(width, Math.max(x0 + 1, Math.floor(x + cell) - gap));
    const y1 = Math.min(height, Math.max(y0 + 1, Math.floor(y + cell) - gap));
    for (let py = y0; py < y1; py++) {
      for (let at = py * width + x0; at < py * width + x1; at++) if (shades[at] < shade) shades[at] = shade;
    }
  }
  return shades;
}

export interface Frame {
  /** Room for the names, pixels. */
  readonly left: number;
  readonly top: number;
  /** Of the cells. */
  readonly width: number;
  readonly height: number;
  /** Size of a cell where the whole matrix is seen. */
  readonly cell: number;
}

const MOST_CELL = 34;
const NAME_PIXELS = 6.4;
const MOST_NAME = 14;

/** Returns a name to be drawn, cut in its middle, so that its number is seen. */
export function short(name: string): string {
  const text = visible(name);
  return text.length <= MOST_NAME ? text : `${text.slice(0, MOST_NAME - 6)}…${text.slice(-5)}`;
}

/** Returns how a matrix is laid out in a picture so wide, at most so high. */
export function frameOf({ rows, columns }: Matrix, width: number, mostHeight: number): Frame {
  const room = (names: readonly string[]): number =>
    10 + NAME_PIXELS * names.reduce((longest, name) => Math.max(longest, short(name).length), 1);
  const [left, top] = [room(rows.names), room(columns.names)];
  const cell = Math.min(
    MOST_CELL,
    Math.max(40, width - left) / columns.names.length,
    Math.max(40, mostHeight - top) / rows.names.length,
  );
  return { left, top, width: columns.names.length * cell, height: rows.names.length * cell, cell };
}

/** Returns the camera of a zoom: `k` times as large, its corner moved by x and y. */
export const cameraOf = ({ k, x, y }: { k: number; x: number; y: number }, { cell }: Frame): Camera => ({
  left: -x / (k * cell),
  top: -y / (k * cell),
  cell: k * cell,
});

/** Returns every how many names there is room for, cells being so large. */
export const everyName = (cell: number): number => Math.max(1, Math.ceil(13 / cell));

/** Paints a matrix on a canvas. */

export interface Place {
  readonly row: number;
  readonly column: number;
}

/** Half the height of a name, pixels. */
const HALF_LINE = 6;
const FONT = '11px system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif';

/** Returns the cells as an image of this many device pixels; what has no link is transparent. */
function cellsImage(matrix: Matrix, camera: Camera, width: number, height: number, isDark: boolean): ImageData {
  const pixels = heatPixels(SHADES, isDark);
  const shades = shadesOf(matrix, camera, width, height);
  const image = new ImageData(width, height);
  const words = new Uint32Array(image.data.buffer);
  for (let i = 0; i < shades.length; i++) {
    const shade = shades[i];
    if (shade > 0) words[i] = pixels[shade - 1];
  }
  return image;
}

/** Paints cells, the border between NPUs and switches, names where there is room. */
export function paintMatrix(
  canvas: HTMLCanvasElement,
  matrix: Matrix,
  frame: Frame,
  camera: Camera,
  palette: Palette,
): void {
  const pen = canvas.getContext("2d");
  if (pen === null) return;
  const scale = devicePixelRatio;
  const { left, top, width, height } = frame;
  pen.setTransform(1, 0, 0, 1, 0, 0);
  pen.clearRect(0, 0, canvas.width, canvas.height);
  const [x0, y0] = [Math.round(left * scale), Math.round(top * scale)];
  const [w, h] = [Math.max(1, Math.round(width * scale)), Math.max(1, Math.round(height * scale))];
  pen.fillStyle = palette("--sunk");
  pen.fillRect(x0, y0, w, h);
  const image = cellsImage(matrix, { ...camera, cell: camera.cell * scale }, w, h, palette.isDark);
  const layer = new OffscreenCanvas(w, h);
  layer.getContext("2d")?.putImageData(image, 0, 0);
  pen.drawImage(layer, x0, y0);
  pen.setTransform(scale, 0, 0, scale, 0, 0);
  paintBorder(pen, matrix, frame, camera, palette);
  paintNames(pen, matrix, frame, camera, palette);
}

/** Paints the lines between NPUs and switches. */
function paintBorder(
  pen: CanvasRenderingContext2D,
  { rows, columns }: Matrix,
  { left, top, width, height }: Frame,
  camera: Camera,
  palette: Palette,
): void {
  const x = left + (columns.npuCells - camera.left) * camera.cell;
  const y = top + (rows.npuCells - camera.top) * camera.cell;
  pen.strokeStyle = palette("--soft");
  pen.setLineDash([4, 3]);
  pen.beginPath();
  if (columns.npuCells < columns.names.length && x >= left && x <= left + width) {
    pen.moveTo(x - 0.5, top);
    pen.lineTo(x - 0.5, top + height);
  }
  if (rows.npuCells < rows.names.length && y >= top && y <= top + height) {
    pen.moveTo(left, y - 0.5);
    pen.lineTo(left + width, y - 0.5);
  }
  pen.stroke();
  pen.setLineDash([]);
}

function paintNames(
  pen: CanvasRenderingContext2D,
  { rows, columns }: Matrix,
  { left, top, width, height }: Frame,
  camera: Camera,
  palette: Palette,
): void {
  const every = everyName(camera.cell);
  pen.font = FONT;
  pen.fillStyle = palette("--soft");
  pen.textBaseline = "middle";
  pen.textAlign = "right";
  for (let row = 0; row < rows.names.length; row += every) {
    const y = top + (row + 0.5 - camera.top) * camera.cell;
    if (y >= top && y <= top + height) pen.fillText(short(rows.names[row]), left - 6, y);
  }
  pen.textAlign = "left";
  for (let column = 0; column < columns.names.length; column += every) {
    const x = left + (column + 0.5 - camera.left) * camera.cell;
    if (x < left || x > left + width) continue;
    pen.save();
    pen.translate(Math.min(x, left + width - HALF_LINE), top - 6);
    pen.rotate(-Math.PI / 2);
    pen.fillText(short(columns.names[column]), 0, 0);
    pen.restore();
  }
}

/** Paints what lies over the cells: lines through the one pointed at, frames around the chosen ones. */
export function paintMarks(
  canvas: HTMLCanvasElement,
  { left, top, width, height }: Frame,
  camera: Camera,
  palette: Palette,
  pointed: Place | null,
  chosen: readonly Place[],
): void {
  const pen = canvas.getContext("2d");
  if (pen === null) return;
  pen.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0);
  pen.clearRect(0, 0, canvas.width, canvas.height);
  pen.save();
  pen.beginPath();
  pen.rect(left - 2, top - 2, width + 4, height + 4);
  pen.clip();
  const { cell } = camera;
  const corner = ({ row, column }: Place): readonly [number, number] => [
    left + (column - camera.left) * cell,
    top + (row - camera.top) * cell,
  ];
  if (pointed !== null) {
    const [x, y] = corner(pointed);
    pen.globalAlpha = 0.16;
    pen.fillStyle = palette("--text");
    pen.fillRect(left, y, width, Math.max(1, cell));
    pen.fillRect(x, top, Math.max(1, cell), height);
    pen.globalAlpha = 1;
    frameCell(pen, x, y, cell, palette("--text"));
  }
  for (const place of chosen) frameCell(pen, ...corner(place), cell, palette("--chosen"));
  pen.restore();
}

function frameCell(pen: CanvasRenderingContext2D, x: number, y: number, cell: number, colour: string): void {
  const side = Math.max(7, cell);
  const off = (side - cell) / 2;
  pen.strokeStyle = colour;
  pen.lineWidth = 2;
  pen.strokeRect(x - off, y - off, side, side);
}
