import { jsonText } from "../../../base/visible.ts";
import { percent, roundedSize, significant, timeText } from "../../../report/amounts.ts";
import { type Comparison, type ComparisonRow, usOnTarget } from "../../../report/comparison.ts";
import { plainName } from "../../../report/file-name.ts";
import { type ChartAxis, type ChartLine, lookOfLine } from "../../parts/chart-model.ts";
import type { Measure } from "../../state/choices.ts";

/** A comparison as lines of a chart. */

export const MEASURE_NAMES: Readonly<Record<Measure, string>> = {
  time: "Time",
  busbw: "Bus bandwidth",
  share: "Share of the limit",
};

const LIMIT = "limit";

const DASHES_OF_OTHERS = [
  [8, 4],
  [8, 3, 2, 3],
  [14, 4],
];

interface Measured {
  readonly us: number;
  readonly busbwGBps: number | null;
  /** A model of somebody else's has none. */
  readonly ofLimit?: number;
}

const measured = ({ us, busbwGBps, ofLimit }: Measured, measure: Measure): number | null =>
  measure === "time" ? us : measure === "busbw" ? busbwGBps : (ofLimit ?? null);

/** Returns what a row takes: where a target was named, as it would run there. Infinity: it does not. */
export const usOf = ({ target }: Pick<Comparison, "target">, row: ComparisonRow): number =>
  target === undefined ? row.us : usOnTarget(row);

/** Returns a row by a measure, as it would run where a target was named; null where it does not, or the measure means nothing. */
export function valueBy(comparison: Pick<Comparison, "target">, row: ComparisonRow, measure: Measure): number | null {
  const us = usOf(comparison, row);
  if (!Number.isFinite(us)) return null;
  const faster = us > 0 ? row.us / us : 1;
  const busbwGBps = row.busbwGBps === null ? null : row.busbwGBps * faster;
  return measured({ us, busbwGBps, ofLimit: row.ofLimit * faster }, measure);
}

/** Returns bus bandwidth / algorithm bandwidth, which is the same for all rows; 1 where none has a bandwidth. */
function busFactorOf({ rows, references }: Comparison): number {
  const row = [...rows, ...references].find(({ algbwGBps, busbwGBps }) => (algbwGBps ?? 0) > 0 && busbwGBps !== null);
  return row === undefined ? 1 : (row.busbwGBps as number) / (row.algbwGBps as number);
}

/** Returns what is compared with: the sizes, ascending. */
export const sizesIn = ({ limits }: Pick<Comparison, "limits">): number[] =>
  limits.map(({ sizeBytes }) => sizeBytes).sort((a, b) => a - b);

/** Returns the algorithms in the order of the rows. */
export const algorithmsIn = ({ rows }: Pick<Comparison, "rows">): string[] => [
  ...new Set(rows.map(({ algorithm }) => algorithm)),
];

/**
 * Returns the lines of a comparison at its sizes: algorithms with markers, the limit dotted, models of others dashed. Algorithms
 * come in `order`. O(rows).
 */
export function linesOf(comparison: Comparison, measure: Measure, order: readonly string[]): ChartLine[] {
  const sizes = sizesIn(comparison);
  const placeOf = new Map(sizes.map((size, i) => [size, i]));
  const places = (points: readonly (readonly [number, number | null])[]): (number | null)[] => {
    const values = new Array<number | null>(sizes.length).fill(null);
    for (const [size, value] of points) values[placeOf.get(size) ?? -1] = value;
    return values;
  };
  const names = algorithmsIn(comparison).sort((a, b) => order.indexOf(a) - order.indexOf(b));
  const own = names.map((name, at): ChartLine => {
    const rows = comparison.rows.filter(({ algorithm }) => algorithm === name);
    const values = places(rows.map((row) => [row.sizeBytes, valueBy(comparison, row, measure)]));
    return { name, ...lookOfLine(at), values };
  });
  const factor = busFactorOf(comparison);
  const limits = comparison.limits.map(({ sizeBytes, limit: { us, algbwGBps } }) => {
    const busbwGBps = algbwGBps === null ? null : algbwGBps * factor;
    return [sizeBytes, measured({ us, busbwGBps, ofLimit: 1 }, measure)] as const;
  });
  const others = [...new Set(comparison.references.map(({ name }) => name))];
  const references = others.map((name, at): ChartLine => {
    const rows = comparison.references.filter((row) => row.name === name);
    const values = places(rows.map((row) => [row.sizeBytes, measured(row, measure)]));
    return { name, colour: "--soft", dash: DASHES_OF_OTHERS[at % DASHES_OF_OTHERS.length], values };
  });
  return [{ name: LIMIT, colour: "--text", dash: [2, 3], width: 1.5, values: places(limits) }, ...references, ...own];
}

/** Returns a value of a measure in words. */
export const textOf: Readonly<Record<Measure, (value: number) => string>> = {
  time: timeText,
  busbw: (gbps) => `${significant(gbps)} GB/s`,
  share: percent,
};

/** Returns the axes of a measure. */
export function axesOf(measure: Measure): { readonly x: ChartAxis; readonly y: ChartAxis } {
  const x: ChartAxis = { label: "size", scale: "log2", text: (bytes) => roundedSize(Math.round(bytes)) };
  const y = { label: MEASURE_NAMES[measure].toLowerCase(), text: textOf[measure] };
  return { x, y: measure === "time" ? { ...y, scale: "log10" } : { ...y, scale: "linear", low: 0 } };
}

/** Returns a comparison as `banyan compare --json` prints it. */
export const jsonOf = (comparison: Comparison): string => `${jsonText(comparison, 2)}\n`;

/** Returns a file's name without its ending: "dgx-a100-2.allgather.comparison". */
export const fileStem = ({ topology: { name }, collective }: Pick<Comparison, "topology" | "collective">): string =>
  `${plainName(name) || "network"}.${plainName(collective)}.comparison`;
