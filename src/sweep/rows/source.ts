import { closeSync, existsSync, openSync, readFileSync, readSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { parse } from "csv-parse/sync";
import { InputError } from "../../base/errors.ts";
import type { Cell, Row } from "../../model/sweep/task.ts";
import { closest } from "../../model/topology/closest.ts";
import { type Oddities, rowsOfLines } from "./lines.ts";

/** Names of the files in a sweep's folder. */
export const RESULTS = "results.jsonl";
export const JOURNAL = "outcomes.jsonl";
export const SWEEP = "sweep.json";

/** Where rows are, to be read as often as wanted. */
export interface RowSource {
  /** The file that is read. */
  readonly file: string;
  /** The sweep's folder; null: it is a file by itself. */
  readonly folder: string | null;
  /** Rows are a journal's: in the order in which they came. */
  readonly isJournal: boolean;
  /** Yields all rows. Throws InputError with file and line. */
  rows(): Generator<Row>;
  /** What is to be said of what was read so far, each a sentence. */
  notes(): string[];
}

const BLOCK = 2 ** 20;
const MOST_LINE = 2 ** 28;

/** Yields the lines of a file; memory for the longest line and a block. */
export function* linesOf(file: string, name: string): Generator<{ readonly text: string; readonly isWhole: boolean }> {
  const descriptor = openSync(file, "r");
  try {
    const block = Buffer.allocUnsafe(BLOCK);
    let rest: Buffer[] = [];
    let restLength = 0;
    for (;;) {
      const got = readSync(descriptor, block, 0, BLOCK, null);
      if (got === 0) break;
      let start = 0;
      for (;;) {
        const end = block.subarray(0, got).indexOf(10, start);
        if (end < 0) break;
        const piece = block.subarray(start, end);
        const text = restLength === 0 ? piece.toString("utf8") : Buffer.concat([...rest, piece]).toString("utf8");
        if (restLength > 0) [rest, restLength] = [[], 0];
        yield { text: text.charCodeAt(0) === 0xfeff ? text.slice(1) : text, isWhole: true };
        start = end + 1;
      }
      if (start < got) {
        rest.push(Buffer.from(block.subarray(start, got)));
        restLength += got - start;
        if (restLength > MOST_LINE)
          throw new InputError(name, `JSON lines of at most ${MOST_LINE} bytes`, "a longer one");
      }
    }
    if (restLength > 0) yield { text: Buffer.concat(rest).toString("utf8"), isWhole: false };
  } finally {
    closeSync(descriptor);
  }
}

/** Returns the cell of a CSV file's text: numbers and truths as such, nothing for nothing. */
function cellOfCsv(text: string): Cell {
  if (text === "") return null;
  if (text === "true" || text === "false") return text === "true";
  if (/^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:e[+-]?\d+)?$/i.test(text)) {
    const number = Number(text);
    // longer ones are names
    if (Number.isFinite(number) && (Number.isSafeInteger(number) || !/^-?\d+$/.test(text))) return number;
  }
  // our own writer puts an apostrophe before what a spreadsheet would compute
  return /^'\s*[=+\-@|%]/.test(text) ? text.slice(1) : text;
}

function* rowsOfCsv(file: string, name: string): Generator<Row> {
  let records: Record<string, string>[];
  try {
    records = parse(readFileSync(file), {
      bom: true,
      columns: true,
      skip_empty_lines: true,
      relax_column_count: false,
    });
  } catch (error) {
    throw new InputError(name, "a CSV file", "").saying(`${name}: ${(error as Error).message}`);
  }
  for (const record of records)
    yield Object.fromEntries(Object.entries(record).map(([column, text]) => [column, cellOfCsv(text)]));
}

const ENDINGS = ["jsonl", "ndjson", "csv", "parquet", "duckdb"] as const;
type Ending = (typeof ENDINGS)[number];

const endingOf = (path: string): Ending | null => ENDINGS.find((one) => path.toLowerCase().endsWith(`.${one}`)) ?? null;

const modified = (file: string): number =>
  statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? Number.NEGATIVE_INFINITY;

/** Returns the source of a sweep's folder: its results, or its journal where that is younger. */
function folderSource(folder: string): RowSource {
  const [results, journal] = [join(folder, RESULTS), join(folder, JOURNAL)];
  if (existsSync(results) && modified(results) >= modified(journal)) return fileSource(results, folder, false);
  if (existsSync(journal)) return fileSource(journal, folder, true);
  throw new InputError("the place", `a sweep's folder, with ${RESULTS} or ${JOURNAL} in it`, folder);
}

function fileSource(file: string, folder: string | null, isJournal: boolean): RowSource {
  const oddities: Oddities = { cutOff: false, rounded: 0 };
  const name = folder === null ? file : join(basename(folder), basename(file));
  const isCsv = endingOf(file) === "csv";
  return {
    file,
    folder,
    isJournal,
    *rows() {
      Object.assign(oddities, { cutOff: false, rounded: 0 });
      if (isCsv) yield* rowsOfCsv(file, name);
      else yield* rowsOfLines(linesOf(file, name), name, oddities);
    },
    notes: () => [
      ...(isJournal ? [`the sweep is still going on, or was stopped: what it has so far, from ${name}`] : []),
      ...(oddities.cutOff ? [`the last line of ${name} is cut off, and left out`] : []),
      ...(oddities.rounded > 0
        ? [`${oddities.rounded} whole numbers of ${name} are beyond 2^53 and are rounded to what a double holds`]
        : []),
    ],
  };
}

/** What only a database reads. */
export const isDatabase = (place: string): boolean => ["parquet", "duckdb"].includes(endingOf(place) ?? "");

/** Returns the rows of a sweep's folder, of JSON lines or of a CSV file. Throws InputError where there are none. */
export function openRows(place: string): RowSource {
  const stats = statSync(place, { throwIfNoEntry: false });
  if (stats === undefined)
    throw new InputError("the place", "a sweep's folder or a file of results that exists", place);
  if (stats.isDirectory()) return folderSource(place);
  const ending = endingOf(place);
  if (ending === null || isDatabase(place)) {
    const near = closest(place.split(".").at(-1) ?? "", ENDINGS);
    const meant = near === null ? "" : ` (did you mean ".${near}"?)`;
    throw new InputError(
      "the place",
      `a sweep's folder, or a file ${ENDINGS.map((one) => `.${one}`).join(", ")}${meant}`,
      place,
    );
  }
  return fileSource(place, null, basename(place) === JOURNAL);
}
