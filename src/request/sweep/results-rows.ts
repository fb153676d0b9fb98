import type { Place } from "../../base/option-names.ts";
import type { OptionRow } from "../option-row.ts";
import { oneOf, wholeNumber } from "../values.ts";

const PLOTS = ["heat", "lines", "pareto", "bars"] as const;

/** Options of what is asked of a sweep's results. */
export const RESULTS_ROWS = {
  where: {
    part: "command",
    value: "<condition>",
    help: "only rows like that: us < 100 and (collective = allgather or size in (1MiB, 1GiB)) and not why like '%memory%'",
  },
  columns: { part: "command", value: "<names>", help: "these columns, in this order" },
  sort: {
    part: "command",
    value: "<names>",
    help: "by these columns, the first first; - before a name: the greatest first",
  },
  limit: {
    part: "command",
    value: "<n>",
    help: "at most so many rows; default: what fits, and all of them in a file",
    parse: (text: string, place: Place): number => wholeNumber(text, place, 1),
  },
  value: {
    part: "command",
    value: "<aggregates>",
    help: "of --group, --pivot and --plot: min, max, mean, median, sum, count or best of a column; a column alone: its best",
  },
  pivot: { part: "command", value: "<names>", help: "a table of --value crosswise: 'topology,without x size'" },
  cell: {
    part: "command",
    value: "<cells>",
    help: "the tasks of these cells, with the commands that do them again: 'topology=mesh:4x4, size=1MiB'",
  },
  sql: {
    part: "command",
    value: "<query>",
    help: "ask in SQL: table results, view tasks (by DuckDB: npm install @duckdb/node-api)",
  },
  plot: {
    part: "command",
    value: "<kind>",
    help: "with -o NAME.svg: heat (of --pivot), lines, pareto or bars, of --x, --y and --colour",
    parse: Object.assign((text: string, place: Place) => oneOf(text, PLOTS, place), { words: PLOTS }),
  },
  x: { part: "command", value: "<name>", help: "the column across" },
  y: { part: "command", value: "<name>", help: "the column upwards" },
  colour: { part: "command", value: "<name>", help: "the column of which each value has a line, bars or a name" },
} as const satisfies Readonly<Record<string, OptionRow>>;
