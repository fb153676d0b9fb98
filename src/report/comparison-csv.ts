import type { ComparisonRow } from "./comparison.ts";
import { csvCell } from "./csv-cell.ts";

const COLUMNS = [
  "sizeBytes",
  "algorithm",
  "us",
  "algbwGBps",
  "busbwGBps",
  "ofLimit",
  "synthesisMs",
  "best",
  "chunks",
  "verified",
] as const satisfies readonly (keyof ComparisonRow)[];

/** Returns the rows of a comparison as CSV; what there is not is empty. */
export function comparisonCsv(rows: readonly ComparisonRow[]): string {
  const lines = rows.map((row) => COLUMNS.map((column) => csvCell(row[column])).join(","));
  return `${[COLUMNS.join(","), ...lines].join("\n")}\n`;
}
