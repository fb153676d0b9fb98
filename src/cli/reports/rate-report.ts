import { percent, roundedSize, timeText } from "../../report/amounts.ts";
import type { Report } from "../../report/result.ts";
import type { Style } from "./style.ts";
import { boundCells } from "./synthesis-report.ts";
import { labelled, labelledTable } from "./text.ts";

/** What the reports of trees and of phases have in common: both are bounded by a rate, not by planned times. */

const label = (key: string, text: string): string => `  ${labelled(key, text)}`;

/** Returns a table of times: rows of name, time, algbw, busbw, model. */
export function speedLines(rows: readonly (readonly string[])[], style: Style): string[] {
  const columns = ["", "time", "algbw", "busbw", ""];
  const [head, ...lines] = labelledTable(
    [columns, ...rows.map((row) => [...row])],
    ["left", "right", "right", "right", "left"],
  );
  return [style.dim(`  ${head}`), ...lines.map((line) => `  ${line}`)];
}

/** Returns how much of the bound and of the limit is reached. */
export function reachedLines({ bound, limit, reference, optimality, ofLimit }: Report): string[] {
  const cells = [
    boundCells("bound", bound, `${percent(optimality)} reached`),
    boundCells("limit", limit, ofLimit === null ? "" : `${percent(ofLimit)} of simulated`),
    ...(reference === null ? [] : [["reference", timeText(reference.us), "", `${reference.name}, not a bound`]]),
  ];
  return labelledTable(cells, ["left", "right", "right", "left"]).map((line) => `  ${line}`);
}

/** Returns the notes, how the schedule was made, and its file. */
export function closingLines({ notes = [], schedule, synthesis }: Report, fileBytes?: number): string[] {
  const { seed, ms, backend, policy } = synthesis;
  const size = fileBytes === undefined ? "" : ` (${roundedSize(fileBytes)})`;
  return [
    ...notes.map((note) => label("note", note)),
    label("synthesis", `${timeText(ms * 1000)} on ${backend}; seed ${seed}; ${policy}`),
    ...(schedule.file === null ? [] : [label("file", `${schedule.file}${size}`)]),
  ];
}
