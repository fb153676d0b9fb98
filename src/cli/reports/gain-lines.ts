import { formatSize } from "../../model/numbers/units.ts";
import { timeText } from "../../report/amounts.ts";
import type { GainTable } from "../../report/gains.ts";
import type { Style } from "./style.ts";
import { table } from "./table.ts";
import { wrapped } from "./text.ts";

/** Columns of the libraries' algorithm, at least, and of all else. */
const LEAST_HOW = 18;
const REST = 54;

/** Returns a table of what is gained at each size over something else. */
export function gainLines({ lines, over }: GainTable, style: Style, width: number): string[] {
  const cells = lines.map(({ sizeBytes, fastest, us, libraryUs, how, text }) => [
    formatSize(sizeBytes),
    fastest,
    timeText(us),
    wrapped(how, Math.max(LEAST_HOW, width - REST)).join("\n"),
    timeText(libraryUs),
    text,
  ]);
  const head = ["size", "fastest", "time", over, "time", "gain"];
  return table(head.map(style.dim), cells, ["left", "left", "right", "left", "right", "right"]);
}
