import { formatTime } from "../../../model/numbers/units.ts";
import { groupText } from "../../../report/training.ts";
import { after, notBefore } from "../../draw/columns.ts";
import { SLICE_STATES, type StepTimeline } from "../../protocol.ts";
import { type BarRows, slicesWithin } from "../time/gantt-rows.ts";

/** The rows of a step's chart, and what is said of its slices. */

const RUNS = SLICE_STATES.indexOf("runs");
const WAITS = SLICE_STATES.indexOf("waits");
/** A computation that waits is drawn so high, in the colour of what it waits for. */
const WAITING_SHARE = 0.4;

/** Returns the name of a row in the chart, where rows stand below those of their stage's computations: "stage 0", then "tp". */
export function shortRow(name: string): string {
  const [stage = "", what] = name.split(", ");
  return what === undefined || what === "compute" ? stage : what;
}

/** Returns the rows of a timeline; slices stay in their order. O(slices). */
export function barsOf({ rows, row, startPs, lastsPs, state }: StepTimeline): BarRows {
  const offset = new Int32Array(rows.length + 1);
  for (const at of row) offset[at + 1]++;
  for (let at = 0; at < rows.length; at++) offset[at + 1] += offset[at];
  const longestPs = new Float64Array(rows.length);
  row.forEach((at, i) => {
    longestPs[at] = Math.max(longestPs[at], lastsPs[i]);
  });
  return {
    names: rows.map(shortRow),
    offset,
    startPs,
    lastsPs,
    share: Float32Array.from(state, (now) => (now === WAITS ? WAITING_SHARE : 1)),
    low: new Float32Array(row.length),
    longestPs,
    crowded: new Uint8Array(rows.length),
  };
}

/** Returns [slices] the index of each slice's colour: of a kind first that of what is hidden behind computations, then its own. */
export const coloursOf = ({ kind, state }: StepTimeline): Uint8Array =>
  Uint8Array.from(kind, (of, i) => 1 + 2 * of + (state[i] === RUNS && of > 0 ? 0 : 1));

/** Returns what a slice is, line by line. */
export function told(
  { kinds, kind, state, texts, text, microBatch, startPs, lastsPs }: StepTimeline,
  slice: number,
): string[] {
  const of = kinds[kind[slice]];
  const group = groupText(of);
  const what = texts[text[slice]];
  const how = {
    runs: of === "compute" ? "computes" : `${group}, hidden behind computations`,
    exposed: `${group}, exposed: computations wait for it`,
    waits: of === "bubble" ? "bubble: waits for another stage" : `waits for ${group}`,
  }[SLICE_STATES[state[slice]]];
  return [
    what,
    how,
    ...(microBatch[slice] < 0 ? [] : [`micro batch ${microBatch[slice]}`]),
    `${formatTime(startPs[slice])} to ${formatTime(startPs[slice] + lastsPs[slice])} (${formatTime(lastsPs[slice])})`,
  ];
}

/** Returns the slice of each row at a time; -1 where there is none. O(rows log slices). */
export function slicesAt(bars: BarRows, time: number): number[] {
  const { names, startPs, lastsPs } = bars;
  return names.map((_, row) => {
    const [first, end] = slicesWithin(bars, row, time, time);
    for (let i = end - 1; i >= first; i--) if (startPs[i] <= time && time < startPs[i] + lastsPs[i]) return i;
    return -1;
  });
}

/** Returns the next start of a slice after a time, or the last one before it; null where there is none. O(rows log slices). */
export function nextStart({ names, offset, startPs }: BarRows, time: number, direction: 1 | -1): number | null {
  let found: number | null = null;
  for (let row = 0; row < names.length; row++) {
    const [first, end] = [offset[row], offset[row + 1]];
    const at = direction > 0 ? after(startPs, time, first, end) : notBefore(startPs, time, first, end) - 1;
    if (at < first || at >= end) continue;
    if (found === null || direction * (startPs[at] - found) < 0) found = startPs[at];
  }
  return found;
}
