import type { Comparison, ComparisonRow } from "../../../compare.ts";

/** A comparison as files. */

const COLUMNS: readonly (keyof ComparisonRow)[] = [
  "sizeBytes",
  "algorithm",
  "us",
  "algbwGBps",
  "busbwGBps",
  "ofLimit",
  "synthesisMs",
  "best",
  "chunks",
  "verified",
];

/** Returns the rows as CSV with the columns of `banyan compare --format csv`. */
export function csvOf({ rows }: Pick<Comparison, "rows">): string {
  const lines = rows.map((row) => COLUMNS.map((column) => row[column] ?? "").join(","));
  return `${[COLUMNS.join(","), ...lines].join("\n")}\n`;
}

/** Returns it as `banyan compare --json` prints it. */
export const jsonOf = (comparison: Comparison): string => `${JSON.stringify(comparison, null, 2)}\n`;

/** Returns a file's name without its ending: "dgx-a100-2.allgather.comparison". */
export function fileStem({ topology: { name }, collective }: Pick<Comparison, "topology" | "collective">): string {
  const plain = (text: string): string => text.replace(/[^\w.-]+/g, "-").replace(/^-+|-+$/g, "");
  return `${plain(name) || "network"}.${plain(collective)}.comparison`;
}
