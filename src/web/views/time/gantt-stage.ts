import { visible } from "../../../base/visible.ts";
import { PS_PER_SECOND, PS_PER_US } from "../../../model/numbers/units.ts";
import { atNextFrame, onScheme, type Palette, paletteOf } from "../../draw/palette.ts";
import { type BarRows, slicesWithin } from "./gantt-rows.ts";

/** What the chart shows. */
export interface Chart {
  readonly rows: BarRows;
  readonly rowHeight: number;
  /** [slices of rows] index of `pixel`. */
  readonly colour: Uint8Array;
  readonly pixel: Uint32Array;
  /** Times that have a line of their own. */
  readonly lines: readonly ChartLine[];
}

/** A dashed line: what moves is a whole one. */
export interface ChartLine {
  readonly ps: number;
  readonly colour: string;
  /** On the ruler, beside it. */
  readonly text: string;
}

/** What of it is in sight: times, pixels above the first row in sight; width of the names beside the plot. */
export interface Sight {
  readonly from: number;
  readonly to: number;
  readonly top: number;
}

/** Times stand in the upper half, where the cursor is in the lower one. */
export const RULER = 40;
const RULER_TEXT = 10;
const FONT = 11;
/** Names take up to so much of the width, and this many pixels. */
const NAMES_SHARE = 0.3;
const MOST_NAMES = 150;
const CHARACTER = 6.1;
/** Pixels between two marks of the ruler. */
const TICK_APART = 90;

/** Returns how wide the names of rows are drawn in a chart of a width. */
export function namesWidth({ names }: BarRows, width: number): number {
  const longest = names.reduce((most, name) => Math.max(most, visible(name).length), 2);
  return Math.round(Math.min(MOST_NAMES, width * NAMES_SHARE, longest * CHARACTER + 12));
}

/** Returns a name to be drawn in this many characters, without its middle where it is longer. */
export function shortened(name: string, characters: number): string {
  const text = visible(name);
  if (text.length <= characters) return text;
  const kept = Math.max(1, characters - 1);
  return `${text.slice(0, Math.ceil(kept / 2))}\u2026${text.slice(text.length - Math.floor(kept / 2))}`;
}

/** Paints the rows and the ruler above them, in the next frame after something changed. */
export class GanttStage {
  readonly #rows: HTMLCanvasElement;
  readonly #ruler: HTMLCanvasElement;
  readonly #endScheme: () => void;
  #palette: Palette;
  #chart: Chart | null = null;
  #sight: Sight = { from: 0, to: 1, top: 0 };
  #width = 0;
  #height = 0;
  #frame = 0;
  #image: ImageData | null = null;

  constructor(rows: HTMLCanvasElement, ruler: HTMLCanvasElement) {
    this.#rows = rows;
    this.#ruler = ruler;
    this.#palette = paletteOf(rows);
    this.#endScheme = onScheme(() => {
      this.#palette = paletteOf(rows);
      this.#ask();
    });
  }

  show(chart: Chart): void {
    this.#chart = chart;
    this.#ask();
  }

  look(sight: Sight): void {
    const { from, to, top } = this.#sight;
    if (sight.from === from && sight.to === to && sight.top === top) return;
    this.#sight = sight;
    this.#ask();
  }

  /** Gives the canvases their size in CSS pixels. */
  resize(width: number, height: number): void {
    this.#width = width;
    this.#height = height;
    const ratio = window.devicePixelRatio || 1;
    for (const [canvas, tall] of [
      [this.#rows, height],
      [this.#ruler, RULER],
    ] as const) {
      canvas.width = Math.max(1, Math.round(width * ratio));
      canvas.height = Math.max(1, Math.round(tall * ratio));
      canvas.style.width = `${width}px`;
      canvas.style.height = `${tall}px`;
    }
    if (this.#chart !== null) this.#paint(this.#chart);
  }

  end(): void {
    cancelAnimationFrame(this.#frame);
    this.#endScheme();
  }

  #ask(): void {
    if (this.#frame !== 0) return;
    this.#frame = atNextFrame(() => {
      this.#frame = 0;
      if (this.#chart !== null && this.#width > 0) this.#paint(this.#chart);
    });
  }

  #paint(chart: Chart): void {
    const left = namesWidth(chart.rows, this.#width);
    this.#paintRows(chart, left);
    this.#paintRuler(chart, left);
  }

  #paintRows(chart: Chart, left: number): void {
    const context = this.#rows.getContext("2d", { alpha: false }) as CanvasRenderingContext2D;
    const ratio = this.#rows.width / this.#width;
    const palette = this.#palette;
    const { rows, rowHeight, lines } = chart;
    const { from, to, top } = this.#sight;
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.fillStyle = palette("--panel");
    context.fillRect(0, 0, this.#rows.width, this.#rows.height);
    const [width, height] = [Math.max(1, this.#rows.width - Math.round(left * ratio)), this.#rows.height];
    if (this.#image?.width !== width || this.#image.height !== height) this.#image = new ImageData(width, height);
    const [ground, empty] = [pixelOf(palette("--panel")), pixelOf(palette("--sunk"))];
    const gap = rowHeight >= 6 ? Math.max(1, Math.round(ratio)) : 0;
    const scaled = { top: Math.round(top * ratio), rowHeight: rowHeight * ratio, gap };
    const frame = { width, height, from, to, ...scaled, colour: chart.colour, pixel: chart.pixel, ground, empty };
    paintRows(rows, frame, new Uint32Array(this.#image.data.buffer));
    context.putImageData(this.#image, Math.round(left * ratio), 0);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.font = `${FONT}px ${getComputedStyle(this.#rows).fontFamily}`;
    context.textBaseline = "middle";
    context.textAlign = "right";
    context.fillStyle = palette("--soft");
    const every = Math.max(1, Math.ceil((FONT + 2) / rowHeight));
    const first = Math.floor(top / rowHeight / every) * every;
    for (let row = first; row < rows.names.length && row * rowHeight < top + this.#height; row += every) {
      const name = shortened(rows.names[row], Math.floor((left - 10) / CHARACTER));
      context.fillText(name, left - 6, (row + 0.5) * rowHeight - top);
    }
    for (const { ps, colour } of lines) {
      if (ps < from || ps > to) continue;
      const x = left + ((ps - from) / (to - from)) * (this.#width - left);
      // set off from bars of a like colour
      context.fillStyle = palette("--panel");
      context.fillRect(x - 3, 0, 6, this.#height);
      dash(context, palette(colour), x, this.#height);
    }
  }

  #paintRuler(chart: Chart, left: number): void {
    const context = this.#ruler.getContext("2d") as CanvasRenderingContext2D;
    const ratio = this.#ruler.width / this.#width;
    const palette = this.#palette;
    const { from, to } = this.#sight;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, this.#width, RULER);
    context.font = `${FONT}px ${getComputedStyle(this.#ruler).fontFamily}`;
    context.textBaseline = "middle";
    context.textAlign = "left";
    const plot = this.#width - left;
    const placeOf = (ps: number): number => left + ((ps - from) / (to - from)) * plot;
    const taken: (readonly [from: number, to: number])[] = [];
    for (const { ps, colour, text } of chart.lines) {
      if (ps < from || ps > to) continue;
      const x = placeOf(ps);
      const wide = context.measureText(text).width;
      const at = x + 5 + wide < this.#width ? x + 5 : x - 5 - wide;
      dash(context, palette(colour), x, RULER);
      context.fillStyle = palette("--text");
      context.fillText(text, at, RULER_TEXT);
      taken.push([Math.min(x, at) - 4, Math.max(x, at + wide) + 4]);
    }
    for (const { ps, text } of timeTicks(from, to, plot / TICK_APART)) {
      const x = placeOf(ps);
      context.fillStyle = palette("--line");
      context.fillRect(x, RULER - 8, 1, 8);
      context.fillStyle = palette("--soft");
      const wide = context.measureText(text).width;
      const at = Math.min(x + 4, this.#width - wide - 2);
      if (!taken.some(([first, last]) => at < last && first < at + wide)) context.fillText(text, at, RULER_TEXT);
    }
  }
}

/** Paints a dashed line down from the top. */
function dash(context: CanvasRenderingContext2D, colour: string, x: number, height: number): void {
  context.strokeStyle = colour;
  context.lineWidth = 2;
  context.setLineDash([6, 4]);
  context.beginPath();
  context.moveTo(x, 0);
  context.lineTo(x, height);
  context.stroke();
  context.setLineDash([]);
}

let reader: CanvasRenderingContext2D | null = null;

/** Returns a CSS colour as a pixel of an image in memory. */
export function pixelOf(colour: string): number {
  reader ??= document
    .createElement("canvas")
    .getContext("2d", { willReadFrequently: true }) as CanvasRenderingContext2D;
  reader.fillStyle = colour;
  reader.fillRect(0, 0, 1, 1);
  return new Uint32Array(reader.getImageData(0, 0, 1, 1).data.buffer)[0];
}

/** Marks of a time axis. */
interface Tick {
  readonly ps: number;
  readonly text: string;
}

const UNITS: readonly (readonly [string, number])[] = [
  ["s", PS_PER_SECOND],
  ["ms", PS_PER_US * 1000],
  ["\u00b5s", PS_PER_US],
  ["ns", PS_PER_US / 1000],
  ["ps", 1],
];

/** Returns round times (1, 2 or 5 times a power of ten, at least 1 ps apart) between two, about `count`, all in one unit. */
export function timeTicks(from: number, to: number, count: number): Tick[] {
  if (!(to > from) || count < 1) return [];
  const rough = Math.max(1, (to - from) / count);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * (rough / power <= 1 ? 1 : rough / power <= 2 ? 2 : rough / power <= 5 ? 5 : 10);
  const [unit, scale] = UNITS.find(([, ps]) => ps <= to) ?? ["ps", 1];
  const digits = Math.max(0, Math.ceil(Math.log10(scale / step) - 1e-9));
  const ticks: Tick[] = [];
  for (let i = Math.ceil(from / step); i * step <= to; i++) {
    ticks.push({ ps: i * step, text: `${((i * step) / scale).toFixed(digits)} ${unit}` });
  }
  return ticks;
}

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

/** Bars at least so wide (pixels) end a pixel early, so that two of one colour can be distinguished. */
const SEPARATED = 4;

/**
 * Paints the rows in sight into `image` (width x height): a bar for each slice, as high as its share and in its place; where
 * there are more slices than pixels how busy the row is, in the colour of what prevails. O(pixels + slices in sight).
 */
export function paintRows(rows: BarRows, frame: Frame, image: Uint32Array): void {
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
    const [first, end] = slicesWithin(rows, row, frame.from, frame.to);
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
  rows: BarRows,
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
  rows: BarRows,
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
export function binRow(rows: BarRows, row: number, from: number, to: number, colour: Uint8Array, bins: Bins): void {
  const { busy, most } = bins;
  const perPs = busy.length / (to - from);
  const last = busy.length - 1;
  busy.fill(0);
  most.fill(0);
  bins.colour.fill(0);
  const [first, end] = slicesWithin(rows, row, from, to);
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
