import type { ComparisonRow } from "./comparison.ts";

/** What the fastest algorithm gains over the fastest of those that libraries have, at a size, both simulated. */
export interface Gain {
  readonly best: ComparisonRow;
  readonly library: ComparisonRow;
  /** "1.94 x"; "-" where the library's is the fastest. */
  readonly text: string;
}

const fastest = (rows: readonly ComparisonRow[]): ComparisonRow | undefined =>
  rows.reduce<ComparisonRow | undefined>(
    (best, row) => (best === undefined || row.us < best.us ? row : best),
    undefined,
  );

/** Returns the fastest of a size's lines that are a library's own algorithms; undefined where none was compared. */
function libraryLine(rows: readonly ComparisonRow[]): ComparisonRow | undefined {
  const run = (how: ComparisonRow["library"]) => rows.filter(({ library }) => library === how);
  return fastest(run("over boxes")) ?? fastest(run("in rank order"));
}

/** Returns the gain of each size, but of those where none of a library's was compared, or nothing else. */
export function gainsOf(rows: readonly ComparisonRow[]): Gain[] {
  const sizes = [...new Set(rows.map(({ sizeBytes }) => sizeBytes))];
  return sizes.flatMap((sizeBytes) => {
    const own = rows.filter((row) => row.sizeBytes === sizeBytes);
    const best = own.find((row) => row.best);
    const library = libraryLine(own);
    if (best === undefined || library === undefined || own.length < 2) return [];
    return [{ best, library, text: best === library ? "-" : `${(library.us / best.us).toFixed(2)} x` }];
  });
}
