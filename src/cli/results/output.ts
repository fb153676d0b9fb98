import { closeSync, openSync, readSync } from "node:fs";
import { InputError } from "../../base/errors.ts";
import { csvCell } from "../../base/csv-cell.ts";
import { jsonText } from "../../base/visible.ts";
import type { Row } from "../../model/sweep/task.ts";
import { didYouMean } from "../../model/topology/closest.ts";
import { placeOf } from "../../request/option-table.ts";
import { cellOf } from "../../sweep/rows/cells.ts";

/** Files of results, by the ending of their names. */

const ENDINGS = ["csv", "json", "jsonl", "parquet", "duckdb", "svg"] as const;
export type Ending = (typeof ENDINGS)[number];

/** Returns what a file's name says that it is to be; JSON lines for standard output. Throws InputError. */
export function endingOf(path: string): Ending {
  const [, ending = ""] = /\.([^./\\]*)$/.exec(path) ?? [];
  const known = ENDINGS.find((one) => one === ending.toLowerCase());
  if (known !== undefined) return known;
  if (path === "-") return "jsonl";
  const near = didYouMean(ending, ENDINGS).replace(/"(\w+)"/, '".$1"');
  throw new InputError(placeOf("output"), `a name that ends with ${ENDINGS.map((one) => `.${one}`).join(", ")}${near}`, path);
}

/** Yields rows as CSV with a line of heads. */
export function* csvParts(names: readonly string[], rows: Iterable<Row>): Generator<string> {
  yield `${names.map(csvCell).join()}\n`;
  for (const row of rows) yield `${names.map((name) => csvCell(cellOf(row, name))).join()}\n`;
}

/** Yields rows as JSON lines. */
export function* lineParts(rows: Iterable<Row>): Generator<string> {
  for (const row of rows) yield `${jsonText(row)}\n`;
}

const BLOCK = 2 ** 20;

/** Yields the bytes of a file. */
export function* fileParts(file: string): Generator<Uint8Array> {
  const descriptor = openSync(file, "r");
  try {
    for (;;) {
      const block = new Uint8Array(BLOCK);
      const got = readSync(descriptor, block, 0, BLOCK, null);
      if (got === 0) return;
      yield block.subarray(0, got);
    }
  } finally {
    closeSync(descriptor);
  }
}

/** Yields rows with these columns only, in this order. */
export function* withColumns(rows: Iterable<Row>, names: readonly string[] | null): Generator<Row> {
  for (const row of rows)
    yield names === null ? row : Object.fromEntries(names.map((name) => [name, cellOf(row, name)]));
}
