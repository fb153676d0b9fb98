import type { Palette } from "../../draw/palette.ts";
import { heatPixels } from "../../parts/chart-heat.ts";
import { type Camera, everyName, type Frame, SHADES, shadesOf, short } from "./heat-paint.ts";
import type { Matrix } from "./matrix.ts";

/** Paints a matrix on a canvas. */

export interface Place {
  readonly row: number;
  readonly column: number;
}

/** Half the height of a name, pixels. */
const HALF_LINE = 6;
const FONT = '11px system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif';

/** Returns the cells as an image of so many device pixels; what has no link is transparent. */
function cellsImage(matrix: Matrix, camera: Camera, width: number, height: number, isDark: boolean): ImageData {
  const pixels = heatPixels(SHADES, isDark);
  const shades = shadesOf(matrix, camera, width, height);
  const image = new ImageData(width, height);
  const words = new Uint32Array(image.data.buffer);
  for (let i = 0; i < shades.length; i++) {
    const shade = shades[i] as number;
    if (shade > 0) words[i] = pixels[shade - 1] as number;
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
    if (y >= top && y <= top + height) pen.fillText(short(rows.names[row] as string), left - 6, y);
  }
  pen.textAlign = "left";
  for (let column = 0; column < columns.names.length; column += every) {
    const x = left + (column + 0.5 - camera.left) * camera.cell;
    if (x < left || x > left + width) continue;
    pen.save();
    pen.translate(Math.min(x, left + width - HALF_LINE), top - 6);
    pen.rotate(-Math.PI / 2);
    pen.fillText(short(columns.names[column] as string), 0, 0);
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
