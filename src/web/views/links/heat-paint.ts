import { visible } from "../../../base/visible.ts";
import type { Matrix } from "./matrix.ts";

/** Part of the matrix that is shown: cells from `left` and `top` on (fractions too), `cell` pixels each. */
export interface Camera {
  readonly left: number;
  readonly top: number;
  readonly cell: number;
}

/** Steps of the colour scale; 0 stands for no link. */
export const SHADES = 255;

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
