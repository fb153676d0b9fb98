import { CsvError, parse } from "csv-parse/browser/esm/sync";
import { InputError } from "../../base/errors.ts";

/** A row of a table: its cells, trimmed, and the number of its line in the file. */
export interface CsvRow {
  readonly cells: readonly string[];
  readonly line: number;
}

/** A header stands in the first lines. */
const HEAD_LINES = 50;
const HEAD = 20_000;

/** Returns the mark between the cells of a line: comma, tab or semicolon, whichever there is most of. */
const delimiterOf = (line: string): string =>
  [",", "\t", ";"].reduce((best, mark) => (line.split(mark).length > line.split(best).length ? mark : best));

/** Returns the first lines of a text. */
const headOf = (text: string): string[] =>
  text
    .slice(0, HEAD)
    .replace(/^\ufeff/, "")
    .split(/\r\n|\n|\r/, HEAD_LINES);

/** Returns whether the cells of one of a text's first 50 lines are some header. */
export const csvHeadHas = (text: string, isHeader: (cells: readonly string[]) => boolean): boolean =>
  headOf(text).some((line) => isHeader(line.split(delimiterOf(line))));

/**
 * Returns the rows of a CSV table, comments (lines that begin with #) and empty lines left out; cells stand apart as in the header,
 * or without one as in the first line. Throws InputError for quotation marks that do not end. O(text).
 */
export function csvRows(text: string, fileName: string, isHeader: (cells: readonly string[]) => boolean): CsvRow[] {
  const lines = headOf(text);
  const sample = lines.find((line) => isHeader(line.split(delimiterOf(line)))) ?? lines[0] ?? "";
  try {
    const parsed = parse(text, {
      bom: true,
      trim: true,
      info: true,
      comment: "#",
      comment_no_infix: true,
      delimiter: delimiterOf(sample),
      relax_column_count: true,
      skip_empty_lines: true,
    }) as unknown as { readonly record: string[]; readonly info: { readonly lines: number } }[];
    const rows = parsed.map(({ record, info }) => ({ cells: record, line: info.lines }));
    return rows.filter(({ cells }) => cells.some((cell) => cell !== ""));
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    throw new InputError(fileName, "a CSV table", error.message);
  }
}
