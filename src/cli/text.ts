import type { Timing } from "../result.ts";
import type { Utilisation } from "../simulate/utilisation.ts";
import { gbpsText, percent, timeText } from "../words/amounts.ts";

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

/** Returns rows as lines with aligned columns, two blanks apart; the last column is not padded. */
export function aligned(rows: readonly (readonly string[])[], align: readonly Align[] = []): string[] {
  const widths: number[] = [];
  for (const row of rows) {
    row.forEach((cell, i) => {
      widths[i] = Math.max(widths[i] ?? 0, i === row.length - 1 && align[i] !== "right" ? 0 : cell.length);
    });
  }
  return rows.map((row) =>
    row
      .map((cell, i) => (align[i] === "right" ? cell.padStart(widths[i] as number) : cell.padEnd(widths[i] as number)))
      .join("  ")
      .trimEnd(),
  );
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

/** Returns a text in lines of at most so many characters, broken between words. */
export function wrapped(text: string, width: number): string[] {
  const lines = [""];
  for (const word of text.split(" ")) {
    const line = lines[lines.length - 1] as string;
    if (line === "") lines[lines.length - 1] = word;
    else if (line.length + 1 + word.length <= width) lines[lines.length - 1] = `${line} ${word}`;
    else lines.push(word);
  }
  return lines;
}

/** Columns of a report. */
export const REPORT_WIDTH = 120;
/** A last column narrower than this is not wrapped below itself. */
const LEAST_COLUMN = 40;

/** Returns a line of a report in lines of at most 120 characters: what is too long goes on below its last column. */
export function fitted(line: string): string[] {
  const text = line.trimEnd();
  if (text.length <= REPORT_WIDTH || text.includes("\u001b")) return [text];
  const starts = [...text.matchAll(/(?:^|(?<= {2}))(?=\S)/g)].map(({ index }) => index);
  const start = starts.filter((at) => at <= REPORT_WIDTH - LEAST_COLUMN).at(-1) ?? 0;
  const below = " ".repeat(start === starts[0] ? start + 2 : start);
  const [first = "", ...rest] = wrapped(text.slice(start), REPORT_WIDTH - below.length);
  return [text.slice(0, start) + first, ...rest.map((one) => below + one)];
}
