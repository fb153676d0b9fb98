import { type Rows, visible } from "./gantt-rows.ts";

/** What is painted: pixels of `width` columns from one time to another, rows from `top` (pixels) on. */
export interface Frame {
  readonly width: number;
  readonly height: number;
  readonly from: number;
  readonly to: number;
  readonly top: number;
  readonly rowHeight: number;
  /** Pixels between rows; 0 where rows are thin. */
  readonly gap: number;
  /** [slices] index of `pixel`, and what a pixel of each is; of the ground, and of a row where nothing is sent. */
  readonly colour: Uint8Array;
  readonly pixel: Uint32Array;
  readonly ground: number;
  readonly empty: number;
}

/** Bars at least so wide (pixels) end a pixel early, so that two of one colour can be told apart. */
const SEPARATED = 4;

/**
 * Paints the rows in sight into `image` (width x height): a bar for each slice, as high as its share and in its place; where
 * there are more slices than pixels how busy the row is, in the colour of what prevails. O(pixels + slices in sight).
 */
export function paintRows(rows: Rows, frame: Frame, image: Uint32Array): void {
  const { width, height, top, rowHeight, gap, ground } = frame;
  image.fill(ground);
  const bins = emptyBins(width);
  const last = Math.min(rows.names.length - 1, Math.floor((top + height - 1) / rowHeight));
  for (let row = Math.max(0, Math.floor(top / rowHeight)); row <= last; row++) {
    const y = Math.round(row * rowHeight - top);
    const bottom = Math.min(height, Math.round((row + 1) * rowHeight - top) - gap);
    if (bottom <= y) continue;
    const tall = Math.max(1, Math.round((row + 1) * rowHeight - top) - gap - y);
    fillRect(image, frame, 0, width, y, bottom, frame.empty);
    const [first, end] = visible(rows, row, frame.from, frame.to);
    if (rows.crowded[row] === 1 || end - first > width) paintBins(rows, row, frame, image, bins, y, tall);
    else paintBars(rows, first, end, frame, image, y, tall);
  }
}

function fillRect(
  image: Uint32Array,
  { width, height }: Frame,
  left: number,
  right: number,
  top: number,
  bottom: number,
  pixel: number,
): void {
  for (let y = Math.max(0, top); y < Math.min(height, bottom); y++)
    image.fill(pixel, y * width + left, y * width + right);
}

function paintBars(
  rows: Rows,
  first: number,
  end: number,
  frame: Frame,
  image: Uint32Array,
  y: number,
  tall: number,
): void {
  const { width, from, to, colour, pixel } = frame;
  const perPs = width / (to - from);
  for (let i = first; i < end; i++) {
    const start = (rows.startPs[i] - from) * perPs;
    const stop = start + rows.lastsPs[i] * perPs;
    if (stop <= 0 || start >= width) continue;
    const left = Math.min(width - 1, Math.max(0, Math.round(start)));
    let right = Math.min(width, Math.max(left + 1, Math.round(stop)));
    if (right - left >= SEPARATED && right < width) right--;
    const low = Math.round((1 - rows.low[i] - rows.share[i]) * tall);
    const high = Math.max(low + 1, Math.round((1 - rows.low[i]) * tall));
    const isApart = low > 0 && high - low >= SEPARATED;
    fillRect(image, frame, left, right, y + low + (isApart ? 1 : 0), y + high, pixel[colour[i]]);
  }
}

function paintBins(
  rows: Rows,
  row: number,
  frame: Frame,
  image: Uint32Array,
  bins: Bins,
  y: number,
  tall: number,
): void {
  const { width, height, from, to, pixel, colour } = frame;
  binRow(rows, row, from, to, colour, bins);
  for (let line = Math.max(0, -y); line < tall && y + line < height; line++) {
    // a bin is filled from below as far as it is busy
    const level = (tall - line - 0.5) / tall;
    const start = (y + line) * width;
    for (let x = 0; x < width; x++) {
      if (bins.busy[x] >= level || (line === tall - 1 && bins.busy[x] > 0)) image[start + x] = pixel[bins.colour[x]];
    }
  }
}

/** How busy a row is over equal parts of a stretch of time; used again for row after row. */
interface Bins {
  /** [bins] share of the row's bandwidth in use. */
  readonly busy: Float32Array;
  /** [bins] the colour of the slice that lasts longest in the bin; 0 where there is none. */
  readonly colour: Uint8Array;
  /** [bins] how long that is, weighted by its share. */
  readonly most: Float32Array;
}

export const emptyBins = (count: number): Bins => ({
  busy: new Float32Array(count),
  colour: new Uint8Array(count),
  most: new Float32Array(count),
});

/** Fills the bins with a row between two times; `colour` [slices of rows]. O(log slices + slices in between + bins that they cover). */
export function binRow(rows: Rows, row: number, from: number, to: number, colour: Uint8Array, bins: Bins): void {
  const { busy, most } = bins;
  const perPs = busy.length / (to - from);
  const last = busy.length - 1;
  busy.fill(0);
  most.fill(0);
  bins.colour.fill(0);
  const [first, end] = visible(rows, row, from, to);
  for (let i = first; i < end; i++) {
    const start = Math.max(0, (rows.startPs[i] - from) * perPs);
    const stop = Math.min(busy.length, (rows.startPs[i] + rows.lastsPs[i] - from) * perPs);
    if (stop <= start) continue;
    const lastBin = Math.min(last, Math.ceil(stop) - 1);
    for (let bin = Math.floor(start); bin <= lastBin; bin++) {
      const held = rows.share[i] * (Math.min(stop, bin + 1) - Math.max(start, bin));
      busy[bin] += held;
      if (held > most[bin]) {
        most[bin] = held;
        bins.colour[bin] = colour[i];
      }
    }
  }
}
