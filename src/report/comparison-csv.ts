import { csvCell } from "../base/csv-cell.ts";
import type { Comparison, ComparisonRow } from "./comparison.ts";
import { gainsOf } from "./gains.ts";

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
  "library",
  "programUs",
  "libraryUs",
] as const satisfies readonly (keyof ComparisonRow)[];

/** Returns the rows of a comparison as CSV, with the gain in the row of the fastest; what there is not is empty. */
export function comparisonCsv({ rows, ...told }: Pick<Comparison, "rows" | "settings" | "notModelled">): string {
  const gains = new Map(gainsOf(rows, [], told).map(({ best, text }) => [best, text]));
  const lines = rows.map((row) =>
    [...COLUMNS.map((column) => csvCell(row[column])), csvCell(gains.get(row))].join(","),
  );
  return `${[`${COLUMNS.join(",")},gain`, ...lines].join("\n")}\n`;
}
