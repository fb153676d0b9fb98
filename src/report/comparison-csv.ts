import { visible } from "../base/visible.ts";
import type { ComparisonRow } from "./comparison.ts";
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
] as const satisfies readonly (keyof ComparisonRow)[];

/** Returns the rows of a comparison as CSV, with the gain in the row of the fastest; what there is not is empty. */
export function comparisonCsv(rows: readonly ComparisonRow[]): string {
  const gains = new Map(gainsOf(rows).map(({ best, text }) => [best, text]));
  const lines = rows.map((row) =>
    [...COLUMNS.map((column) => csvCell(row[column])), csvCell(gains.get(row))].join(","),
  );
  return `${[`${COLUMNS.join(",")},gain`, ...lines].join("\n")}\n`;
}

/** Spreadsheets compute what begins so, also in full width and behind blanks. */
const FORMULA = /^\s*[=+\-@|%\uff0b\uff0d\uff1d\uff20]/u;
/** What ends a cell in one country or another. */
const PARTED = /[",;]|^\s|\s$/;

/**
 * Returns a cell of a CSV file. Numbers stay as they are; a text is one that no spreadsheet takes for a formula: where it begins
 * as one, an apostrophe stands before it.
 */
export function csvCell(value: string | number | boolean | null | undefined): string {
  if (value === null || value === undefined) return "";
  if (typeof value !== "string") return String(value);
  const text = visible(FORMULA.test(value) ? `'${value}` : value);
  return PARTED.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
