import { textWidth, visible } from "../../base/visible.ts";
import type { Cell, Row } from "../../model/sweep/task.ts";
import { count, grouped } from "../../report/amounts.ts";
import { cellText } from "../../report/column-text.ts";
import { cellOf } from "../../sweep/rows/cells.ts";
import type { Column } from "../../sweep/rows/columns.ts";
import { headingOf, type Pivot } from "../../sweep/rows/query.ts";
import type { Context } from "../context.ts";
import { table } from "./table.ts";
import { labelled, reportWidth } from "./text.ts";

/** Results of sweeps for people: tables that fit the terminal. */

const GAP = 2;
/** Cells of texts are no wider than this. */
const WIDEST = 44;
/** What nobody reads in a table; it is there where somebody asks for it. */
const UNREAD: readonly string[] = ["task", "schedule", "because"];

const cut = (text: string, most: number): string =>
  textWidth(text) <= most ? text : `${[...text].slice(0, most - 1).join("")}…`;

/** So many digits of a hash tell it from others. */
const HASH_DIGITS = 12;

const shownCell = (cell: Cell, column: string): string =>
  typeof cell === "string" && /^[0-9a-f]{64}$/.test(cell)
    ? cell.slice(0, HASH_DIGITS)
    : cut(visible(cellText(cell, column)), WIDEST);

/** What most people look for, in this order, behind what a task was. */
const FIRST: readonly string[] = ["us", "of_limit", "algbw_GBps", "price", "limit_us", "status"];
/** What is told by others, or too long to stand before others. */
const LAST: readonly string[] = ["why", "made_by", "policy", "kind", "deterministic", "npus", "switches", "cables"];

/**
 * Returns the columns that are shown without being asked for: neither those that are the same in all rows, nor those that nobody reads;
 * the cells of the tasks first.
 */
function usualColumns(columns: readonly Column[]): string[] {
  const end = columns.findIndex(({ name }) => name === "count" || name === "status");
  const rank = (name: string, at: number): number => {
    if (at < end) return 0;
    const [first, last] = [FIRST.indexOf(name), LAST.indexOf(name)];
    return first >= 0 ? 1 + first : last >= 0 ? 1 + FIRST.length + 1 + last : 1 + FIRST.length;
  };
  return columns
    .map(({ name, constant }, at) => ({ name, constant, rank: rank(name, at) }))
    .filter(({ name, constant }) => constant === undefined && !UNREAD.includes(name))
    .sort((a, b) => a.rank - b.rank)
    .map(({ name }) => name);
}

/** Returns what all rows have in common, in words. */
const commonText = (columns: readonly Column[]): string =>
  columns
    .filter(({ name, constant }) => constant !== undefined && constant !== null && !UNREAD.includes(name))
    .map(({ name, constant }) => `${name} ${shownCell(constant as Cell, name)}`)
    .join(", ");

/** Rows that are shown of all. */
export interface ShownRows {
  readonly name: string;
  readonly columns: readonly Column[];
  /** Of them those that are shown; null: the usual ones. */
  readonly chosen: readonly string[] | null;
  readonly rows: readonly Row[];
  /** How many rows fulfil what was asked, and how many there are. */
  readonly total: number;
  readonly of: number;
}

/** Returns how many columns, from the left, fit a width. */
function fitting(widths: readonly number[], width: number): number {
  let taken = 0;
  for (const [i, one] of widths.entries()) {
    taken += one + (i === 0 ? 0 : GAP);
    if (taken > width) return Math.max(1, i);
  }
  return widths.length;
}

const widthOf = (cells: readonly string[]): number => cells.reduce((most, cell) => Math.max(most, textWidth(cell)), 0);

/** Returns rows as a table of as many columns as fit, with what is left out. */
export function rowsReport(
  { name, columns, chosen, rows, total, of }: ShownRows,
  { terminal, style }: Context,
): string[] {
  const lines = [labelled("results", `${name}: ${count(total, "row")}${total === of ? "" : ` of ${grouped(of)}`}`)];
  if (total === 0) return lines;
  const usual = usualColumns(columns);
  const wanted = chosen ?? (usual.length > 0 ? usual : columns.map((column) => column.name));
  const common = chosen === null ? commonText(columns) : "";
  if (common !== "" && usual.length > 0) lines.push(labelled("all", common));
  const cells = wanted.map((column) => [visible(column), ...rows.map((row) => shownCell(cellOf(row, column), column))]);
  const fits = fitting(cells.map(widthOf), reportWidth(terminal) - GAP);
  const shown = wanted.slice(0, fits);
  const isText = (column: string): boolean => rows.some((row) => typeof cellOf(row, column) === "string");
  const body = rows.map((_, i) => cells.slice(0, fits).map((column) => column[i + 1] as string));
  const head = shown.map((column) => style.bold(visible(column)));
  lines.push(
    "",
    ...table(
      head,
      body,
      shown.map((column) => (isText(column) ? "left" : "right")),
    ).map(indented),
  );
  const further = wanted.slice(fits);
  if (total > rows.length || further.length > 0) lines.push("");
  if (total > rows.length)
    lines.push(style.dim(indented(`and ${grouped(total - rows.length)} more rows (--limit, or -o FILE)`)));
  if (further.length > 0)
    lines.push(style.dim(indented(`further columns (--columns): ${further.map(visible).join(", ")}`)));
  return lines;
}

const indented = (line: string): string => `  ${line}`.trimEnd();

/** Returns a pivot as a table, its cells coloured by their values where colours are on. */
export function pivotReport(pivot: Pivot, name: string, { terminal, style }: Context): string[] {
  const { rowNames, columnNames, rows, columns, cells, rowMargin, columnMargin, all, value } = pivot;
  const title = labelled("results", `${name}: ${value} by ${rowNames.join(", ")} and ${columnNames.join(", ")}`);
  if (rows.length === 0) return [title, labelled("", "no rows")];
  const column = value.replace(/^(?:min|max|mean|median|sum|best)_/, "");
  const text = (cell: Cell): string => shownCell(cell, column);
  const known = cells.flat().filter((cell) => typeof cell === "number");
  const [low, high] = [
    known.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY),
    known.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY),
  ];
  const isLog = low > 0 && high / low > 20;
  const shareOf = (cell: number): number =>
    high === low ? 0.5 : isLog ? Math.log(cell / low) / Math.log(high / low) : (cell - low) / (high - low);
  const shaded = (cell: Cell): string =>
    typeof cell === "number" ? style.shade(` ${text(cell)} `, shareOf(cell)) : text(cell);
  const headings = columns.map((cell) => cut(visible(headingOf(cell)), WIDEST));
  const names = rowNames.map((one, i) => [visible(one), ...rows.map((line) => shownCell(line[i] ?? null, one))]);
  const widths = headings.map(
    (heading, i) =>
      widthOf([heading, ...cells.map((line) => text(line[i] ?? null)), text(columnMargin[i] ?? null)]) + 2,
  );
  const margin = widthOf(["all", ...rowMargin.map(text), text(all)]);
  const before = names.reduce((sum, cell) => sum + widthOf(cell) + GAP, 0);
  const fits = fitting(widths, reportWidth(terminal) - GAP - before - margin - GAP);
  const most = terminal === null ? rows.length : Math.max(5, terminal.rows - 8);
  const body = rows
    .slice(0, most)
    .map((line, i) => [
      ...line.map((cell, k) => shownCell(cell, rowNames[k] as string)),
      ...(cells[i] as Cell[]).slice(0, fits).map(shaded),
      style.dim(text(rowMargin[i] as Cell)),
    ]);
  const last = [...rowNames.map((_, i) => (i === 0 ? "all" : "")), ...columnMargin.slice(0, fits).map(text), text(all)];
  const head = [...rowNames.map(visible), ...headings.slice(0, fits), "all"];
  const align = head.map((_, i) => (i < rowNames.length ? ("left" as const) : ("right" as const)));
  const lines = [title, "", ...table(head.map(style.bold), [...body, last.map(style.dim)], align).map(indented)];
  if (rows.length > body.length || fits < columns.length) lines.push("");
  if (rows.length > body.length)
    lines.push(style.dim(indented(`and ${grouped(rows.length - body.length)} more rows (-o FILE)`)));
  if (fits < columns.length)
    lines.push(style.dim(indented(`and ${grouped(columns.length - fits)} more columns (-o FILE)`)));
  return lines;
}

/** A task behind a cell. */
export interface TaskBehind {
  readonly task: string | null;
  readonly status: string | null;
  readonly why: string | null;
  readonly command: string;
  readonly schedule: string | null;
  readonly row: Row;
}

/** Returns the tasks behind a cell, each with its command and its figures. */
export function tasksReport(tasks: readonly TaskBehind[], total: number, { style }: Context): string[] {
  const lines: string[] = [];
  for (const { task, status, why, command, schedule, row } of tasks) {
    const figures = Object.keys(row)
      .filter((name) => typeof cellOf(row, name) === "number")
      .map((name) => `${visible(name)} ${cellText(cellOf(row, name), name)}`);
    if (lines.length > 0) lines.push("");
    lines.push(
      labelled("task", style.bold(visible(task ?? "-"))),
      labelled("command", visible(command)),
      ...(status === null ? [] : [labelled("status", `${visible(status)}${why === null ? "" : `: ${visible(why)}`}`)]),
      ...(schedule === null ? [] : [labelled("schedule", visible(schedule))]),
      ...(figures.length === 0 ? [] : [labelled("figures", figures.join(", "))]),
    );
  }
  if (total > tasks.length) lines.push("", `and ${grouped(total - tasks.length)} more (--limit)`);
  return lines;
}
