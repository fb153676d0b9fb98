import { type Rows, visible } from "./gantt-rows.ts";

/** How busy a row is over equal parts of a stretch of time; used again for row after row. */
export interface Bins {
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
