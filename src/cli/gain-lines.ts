import type { ComparisonRow } from "../compare.ts";
import { formatSize } from "../model/units.ts";
import { timeText } from "../words/amounts.ts";
import type { Style } from "./style.ts";
import { table } from "./table.ts";

/** What NCCL and RCCL do: over boxes; where those do not apply, in rank order. All-to-alls go straight from each to each. */
const OVER_BOXES = ["nccl-rings", "nccl-tree", "nvls", "pat"];
const IN_RANK_ORDER = ["ring", "dbt", "direct"];

const fastest = (rows: readonly ComparisonRow[]): ComparisonRow | undefined =>
  rows.reduce<ComparisonRow | undefined>(
    (best, row) => (best === undefined || row.us < best.us ? row : best),
    undefined,
  );

/** Returns the fastest of a size's lines that are a library's own algorithms; undefined where none was compared. */
function libraryLine(rows: readonly ComparisonRow[]): ComparisonRow | undefined {
  const among = (names: readonly string[]) => rows.filter(({ algorithm }) => names.includes(algorithm));
  return fastest(among(OVER_BOXES)) ?? fastest(among(IN_RANK_ORDER));
}

/**
 * Returns a table that says for each size what the fastest algorithm gains over the fastest of those that libraries have, both
 * simulated; nothing where none of the latter was compared, or nothing else.
 */
export function gainLines(rows: readonly ComparisonRow[], style: Style): string[] {
  const sizes = [...new Set(rows.map(({ sizeBytes }) => sizeBytes))];
  const cells = sizes.flatMap((sizeBytes) => {
    const own = rows.filter((row) => row.sizeBytes === sizeBytes);
    const best = own.find((row) => row.best);
    const library = libraryLine(own);
    if (best === undefined || library === undefined || own.length < 2) return [];
    const gain = best === library ? "-" : `${(library.us / best.us).toFixed(2)} x`;
    return [[formatSize(sizeBytes), best.algorithm, timeText(best.us), library.algorithm, timeText(library.us), gain]];
  });
  if (cells.length === 0) return [];
  const head = ["size", "fastest", "time", "of libraries", "time", "gain"];
  return table(head.map(style.dim), cells, ["left", "left", "right", "left", "right", "right"]);
}
