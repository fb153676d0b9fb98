import { InputError } from "../../base/errors.ts";
import type { Cell, Row } from "../../model/sweep/task.ts";

/** Rows of JSON lines: flat objects, or a journal's lines, each of which is one for each of its results. */

/** What was met that is no reason to stop. */
export interface Oddities {
  /** The last line is cut off: what wrote it was killed. */
  cutOff: boolean;
  /** Whole numbers that a double does not hold. */
  rounded: number;
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Returns a value as a cell: lists and objects as their JSON, numbers beyond all doubles as "Infinity". */
function cellFrom(value: unknown): Cell {
  if (value === Infinity || value === -Infinity) return `${value}`;
  if (value === null || typeof value === "string" || typeof value === "number" || typeof value === "boolean")
    return value;
  return value === undefined ? null : JSON.stringify(value);
}

/** Returns an object as a row; one that is flat is its own. */
function rowFrom(value: Readonly<Record<string, unknown>>): Row {
  let isFlat = true;
  for (const name in value) {
    const cell = value[name];
    if ((typeof cell === "object" && cell !== null) || cell === Infinity || cell === -Infinity) isFlat = false;
  }
  if (isFlat) return value as Row;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, cellFrom(one)]));
}

/** Returns whether a row has a number that may have been rounded when it was read. */
function hasHuge(row: Row): boolean {
  for (const name in row) {
    const cell = row[name];
    if (typeof cell === "number" && (cell >= 2 ** 53 || cell <= -(2 ** 53))) return true;
  }
  return false;
}

const isSchedule = (value: unknown): value is { readonly sha256: string } =>
  isObject(value) && typeof value["sha256"] === "string";

/**
 * Returns the rows of a journal's line as a sweep's results have them: the task, its cells, how it ended and, for each result, the
 * result; the hash of its schedule last. One row where there is no result.
 */
export function rowsOfEntry(entry: Readonly<Record<string, unknown>>): Row[] {
  const { task, cells, status, why, rows, schedule } = entry;
  const before = {
    task: cellFrom(task),
    ...(isObject(cells) ? rowFrom(cells) : {}),
    status: cellFrom(status),
    why: cellFrom(why),
  };
  const after = { schedule: isSchedule(schedule) ? schedule.sha256 : typeof schedule === "string" ? schedule : null };
  const results = Array.isArray(rows) ? rows.filter(isObject) : [];
  if (results.length === 0) return [{ ...before, ...after }];
  return results.map((row) => ({ ...before, ...rowFrom(row), ...after }));
}

/** Whether a line is a journal's. */
const isEntry = (value: Readonly<Record<string, unknown>>): boolean =>
  typeof value["task"] === "string" && isObject(value["cells"]) && Array.isArray(value["rows"]);

/** Whole numbers so long that they may be beyond what a double holds. */
const LONG = /[:[,]\s*-?(\d{16,})(?=\s*[,}\]])/g;

function isRounded(digits: string): boolean {
  const number = Number(digits);
  return !Number.isFinite(number) || BigInt(digits) !== BigInt(number);
}

function countRounded(line: string): number {
  let count = 0;
  for (const [, digits] of line.matchAll(LONG)) if (isRounded(digits as string)) count++;
  return count;
}

/** Returns the rows of a line; `place` says which it is. Throws InputError for what is no JSON object. */
export function rowsOfLine(line: string, place: string, oddities: Oddities): readonly Row[] {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (error) {
    throw new InputError(place, "a JSON object", line).saying(`${place}: ${(error as Error).message}`);
  }
  if (!isObject(value)) throw new InputError(place, "a JSON object", value);
  const rows = isEntry(value) ? rowsOfEntry(value) : [rowFrom(value)];
  if (rows.some(hasHuge)) oddities.rounded += countRounded(line);
  return rows;
}

/** Returns whether a line that is no JSON is one whose end is missing, rather than something else. */
export const isBeginning = (line: string): boolean => /^\s*\{/.test(line) && !/\}\s*$/.test(line);

/**
 * Yields the rows of lines of text. `isWhole` of the last says whether a line break ends it: one without, that is no JSON, was cut off
 * and is left out. Throws InputError with file and line.
 */
export function* rowsOfLines(
  lines: Iterable<{ readonly text: string; readonly isWhole: boolean }>,
  name: string,
  oddities: Oddities,
): Generator<Row> {
  let number = 0;
  for (const { text, isWhole } of lines) {
    number++;
    if (/^\s*$/.test(text)) continue;
    let rows: readonly Row[];
    try {
      rows = rowsOfLine(text, `${name} line ${number}`, oddities);
    } catch (error) {
      if (isWhole || !(error instanceof InputError)) throw error;
      oddities.cutOff = true;
      continue;
    }
    yield* rows;
  }
}
