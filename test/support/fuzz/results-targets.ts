import { InputError } from "../../../src/base/errors.ts";
import type { Row } from "../../../src/model/sweep/task.ts";
import { readValues } from "../../../src/sweep/rows/aggregates.ts";
import { profileOf } from "../../../src/sweep/rows/columns.ts";
import { readCell, readCondition } from "../../../src/sweep/rows/expression.ts";
import { rowsOfLines } from "../../../src/sweep/rows/lines.ts";
import { readPivot, readSort } from "../../../src/sweep/rows/query.ts";
import { readAddress, readIni } from "../../../src/sweep/stores/s3-address.ts";
import { type FuzzTarget, LawBroken } from "./target.ts";

/** Readers of what is asked of a sweep's results, and of the results. */

const ROWS: readonly Row[] = [
  { name: "mesh:4x4", us: 10, size: "1KiB", ok: true, why: null },
  { name: "L(K(4,4))", us: null, size: "64KiB", ok: null, why: "it's late" },
  { name: "0-rail0", us: 1e3, size: "x", ok: false, limit_us: 2000 },
];
const { columns } = profileOf(ROWS);
const NAMES = columns.map(({ name }) => name);

/** Throws LawBroken where "not" does not turn a condition round, or leaves what is unknown known. */
function checkCondition(text: string): void {
  const condition = readCondition(text, columns, "where");
  const opposite = readCondition(`not (${text})`, columns, "where");
  for (const row of ROWS) {
    const [found, turned] = [condition(row), opposite(row)];
    if (found !== true && found !== false && found !== null) throw new LawBroken(`a condition is ${found}`);
    if (turned !== (found === null ? null : !found)) throw new LawBroken("not does not turn a condition round");
  }
}

/** Calls every reader; throws the last refusal where all refuse. */
function anyOf(readers: readonly (() => unknown)[]): void {
  const refusals: InputError[] = [];
  for (const reader of readers) {
    try {
      reader();
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      refusals.push(error);
    }
  }
  if (refusals.length === readers.length) throw refusals.at(-1);
}

function checkLines(input: string): void {
  const oddities = { cutOff: false, rounded: 0 };
  const pieces = input.split("\n");
  const lines = pieces.map((text, i) => ({ text, isWhole: i < pieces.length - 1 }));
  const rows = [...rowsOfLines(lines, "rows", oddities)];
  const profile = profileOf(rows);
  if (profile.rows !== rows.length) throw new LawBroken("rows are lost");
  for (const row of rows)
    for (const cell of Object.values(row))
      if (typeof cell === "object" && cell !== null) throw new LawBroken("a cell is no cell");
  // written and read again they are the same
  const again = rows.map((row) => ({ text: JSON.stringify(row), isWhole: true }));
  const read = [...rowsOfLines(again, "rows", { cutOff: false, rounded: 0 })];
  if (JSON.stringify(read) !== JSON.stringify(rows)) throw new LawBroken("rows are not read as they were written");
}

/** Returns the targets of a sweep's results. */
export const resultsTargets = (): FuzzTarget[] => [
  {
    name: "results-where",
    seeds: () => [
      "us < 100 and (name = mesh:4x4 or size in (1KiB, 64KiB))",
      "not why like '%a_e' or us is not null and ok",
      'us <= limit_us or [name] != "L(K(4,4))" and ok = false',
      "name not in ('it''s', x)",
    ],
    check: checkCondition,
  },
  {
    name: "results-asked",
    seeds: () => ["name=L(K(4,4)), size=1KiB", "-us,size", "min(us),count(),best(limit_us)", "name,size x ok"],
    check: (text) =>
      anyOf([
        () => ROWS.map(readCell(text, columns, "cell")),
        () => readSort(text, NAMES, "sort"),
        () => readValues(text, columns, "value"),
        () => readPivot(text, columns, "pivot"),
      ]),
  },
  {
    name: "store-address",
    seeds: () => [
      "s3://bucket/a/b%20c?endpoint=https://h:9000&region=eu-1&profile=p",
      "[default]\naws_access_key_id = A\naws_secret_access_key=B=\n[profile x]\nregion = r",
    ],
    check: (text) => {
      const sections = readIni(text);
      for (const [name, section] of sections)
        if (/[\n\]]/.test(name) || [...section.values()].some((value) => /\n/.test(value)))
          throw new LawBroken("a section or a value has a line break in it");
      const { bucket, prefix } = readAddress(text);
      if (/[/?#@]/.test(bucket) || (prefix !== "" && !prefix.endsWith("/")))
        throw new LawBroken("an address is not taken apart");
    },
  },
  {
    name: "results-lines",
    seeds: () => [
      '{"task":"a","cells":{"topology":"mesh:4x4","count":2},"status":"done","why":null,"rows":[{"us":1},{"us":2}],"schedule":{"sha256":"f","bytes":1}}\n{"task":"b","cells":{},"status":"timeout","why":"late","rows":[],"schedule":null}\n{"task"',
      '{"a":1,"b":"x","c":null,"d":true}\n{"a":9007199254740993,"e":[1]}\n',
    ],
    check: checkLines,
  },
];
