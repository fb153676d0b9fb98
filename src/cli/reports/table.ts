import Table from "cli-table3";
import type { Align } from "./text.ts";

const NO_LINES = {
  top: "",
  "top-mid": "",
  "top-left": "",
  "top-right": "",
  bottom: "",
  "bottom-mid": "",
  "bottom-left": "",
  "bottom-right": "",
  left: "",
  "left-mid": "",
  mid: "",
  "mid-mid": "",
  right: "",
  "right-mid": "",
  middle: "  ",
};

/** Returns a table without rules as lines; cells may have colours. */
export function table(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  align: readonly Align[],
): string[] {
  const drawn = new Table({
    chars: NO_LINES,
    style: { head: [], border: [], "padding-left": 0, "padding-right": 0 },
    colAligns: [...align],
  });
  drawn.push([...head], ...rows.map((row) => [...row]));
  return drawn
    .toString()
    .split("\n")
    .map((line) => line.trimEnd());
}
