import { visible } from "./visible.ts";

/** Spreadsheets compute what begins so, also in full width and behind blanks. */
const FORMULA = /^\s*[=+\-@|%\uff0b\uff0d\uff1d\uff20]/u;
/** What ends a cell in one country or another. */
const PARTED = /[",;]|^#|^\s|\s$/;

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
