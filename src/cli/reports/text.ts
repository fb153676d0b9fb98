import { textWidth, visible } from "../../base/visible.ts";
import { gbpsText, percent, roundedSize, timeText } from "../../report/amounts.ts";
import type { Timing } from "../../report/result.ts";
import type { Utilisation } from "../../simulate/steps/replay.ts";

/** Words of the reports. */

/** Returns "busy 50 % on average, busiest 98 % (a>b)". */
export function linksText({ mean, max, bottleneck }: Utilisation): string {
  const busiest = bottleneck === null ? "" : `, busiest ${percent(max)} (${bottleneck.name})`;
  return `busy ${percent(mean)} on average${busiest}`;
}

/** Returns the same as fields of a report. */
export const linksJson = ({ mean, max, bottleneck }: Utilisation) => ({
  meanUtilisation: mean,
  maxUtilisation: max,
  busiest: bottleneck?.name ?? null,
});

/** Returns the time and its bandwidths as cells. */
export const timingCells = ({ us, algbwGBps, busbwGBps }: Timing): string[] => [
  timeText(us),
  gbpsText(algbwGBps),
  gbpsText(busbwGBps),
];

/** Returns "left out" lines: a reason, with all algorithms that have it. */
export function leftOutLines(leftOut: readonly { readonly algorithm: string; readonly reason: string }[]): string[] {
  const byReason = new Map<string, string[]>();
  for (const { algorithm, reason } of leftOut) byReason.set(reason, [...(byReason.get(reason) ?? []), algorithm]);
  return [...byReason].map(([reason, algorithms], i) =>
    labelled(i === 0 ? "left out" : "", `${algorithms.join(", ")}: ${reason}`),
  );
}

export type Align = "left" | "right";

/** Returns the blanks that a visible text lacks to a width. */
const blanksTo = (width: number, text: string): string => " ".repeat(Math.max(0, width - textWidth(text)));

/** Returns rows as lines with aligned columns, two blanks apart; the last column is not padded. */
export function aligned(rows: readonly (readonly string[])[], align: readonly Align[] = []): string[] {
  const cells = rows.map((row) => row.map(visible));
  const widths: number[] = [];
  for (const row of cells) {
    row.forEach((cell, i) => {
      widths[i] = Math.max(widths[i] ?? 0, i === row.length - 1 && align[i] !== "right" ? 0 : textWidth(cell));
    });
  }
  const padded = (cell: string, i: number): string => {
    const blanks = blanksTo(widths[i] as number, cell);
    return align[i] === "right" ? blanks + cell : cell + blanks;
  };
  return cells.map((row) => row.map(padded).join("  ").trimEnd());
}

/** Width of the first column of every report, with the blanks behind it. */
const LABEL_WIDTH = 12;

/** Returns a table below labelled lines: its first column as wide as the labels. */
export const labelledTable = (rows: readonly (readonly string[])[], align: readonly Align[]): string[] =>
  aligned(
    rows.map(([label = "", ...rest]) => [label.padEnd(LABEL_WIDTH - 2), ...rest]),
    align,
  );

/** Returns a line of a report: a label, then the text. */
export const labelled = (label: string, text: string): string => `${label.padEnd(LABEL_WIDTH)}${text}`;

/** Returns a text in lines of at most this many columns, broken between words. */
export function wrapped(text: string, width: number): string[] {
  const lines: string[] = [];
  let [line, taken] = ["", 0];
  for (const word of visible(text).split(" ")) {
    const needed = textWidth(word);
    if (line === "") [line, taken] = [word, needed];
    else if (taken + 1 + needed <= width) [line, taken] = [`${line} ${word}`, taken + 1 + needed];
    else {
      lines.push(line);
      [line, taken] = [word, needed];
    }
  }
  return [...lines, line];
}

/** Columns of a report, at most and at least. */
const REPORT_WIDTH = 120;
const LEAST_WIDTH = 60;
/** A last column that begins farther right, or is narrower, is not wrapped below itself. */
const MOST_BEFORE = 80;
const LEAST_COLUMN = 20;

/** Returns the columns of a report: those of the terminal, 120 where there is none. */
export const reportWidth = (terminal: { readonly columns: number } | null): number =>
  Math.max(LEAST_WIDTH, Math.min(REPORT_WIDTH, terminal?.columns ?? REPORT_WIDTH));

/** Returns a line of a report in lines of at most so many columns: what is too long goes on below its last column. */
export function fitted(line: string, width: number): string[] {
  const text = line.trimEnd();
  if (text.includes("\u001b") || textWidth(text) <= width) return [text];
  const columnOf = (at: number): number => textWidth(text.slice(0, at));
  const starts = [...text.matchAll(/(?:^|(?<= {2}))(?=\S)/g)].map(({ index }) => index);
  const start = starts.filter((at) => columnOf(at) <= Math.min(MOST_BEFORE, width - LEAST_COLUMN)).at(-1) ?? 0;
  const below = " ".repeat(columnOf(start) + (start === starts[0] ? 2 : 0));
  const [first = "", ...rest] = wrapped(text.slice(start), width - below.length);
  return [text.slice(0, start) + first, ...rest.map((one) => below + one)];
}

/** Returns "trees.json (84.12 KiB)" of what was written; its name alone where its size is not known. */
export const writtenText = (path: string, bytes: number | undefined): string =>
  bytes === undefined ? path : `${path} (${roundedSize(bytes)})`;
