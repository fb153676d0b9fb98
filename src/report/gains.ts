import type { ComparisonRow } from "./comparison.ts";

/** What the fastest algorithm gains over the fastest of those that libraries have, at a size, both simulated. */
export interface Gain {
  readonly best: ComparisonRow;
  readonly library: ComparisonRow;
  /** What the library's is and how it is set: "ring (natural order, both ways)". */
  readonly how: string;
  /** "1.94 x"; "tie" within 1 %; "none" where the library's is the fastest. */
  readonly text: string;
}

/** Less than this is none: simulated times leave out more than that. */
const TIE = 1.01;

/** Returns how many times as fast something is as something else, in words: "1.94 x", or "tie" within 1 % either way. */
export const gainText = (slowerUs: number, us: number): string =>
  slowerUs < TIE * us && us < TIE * slowerUs ? "tie" : `${(slowerUs / us).toFixed(2)} x`;

/** Returns the line of a size that is the fastest of libraries' own algorithms; undefined where none was compared. */
const libraryLine = (rows: readonly ComparisonRow[]): ComparisonRow | undefined =>
  rows
    .filter(({ library }) => library !== undefined)
    .reduce<ComparisonRow | undefined>((best, row) => (best === undefined || row.us < best.us ? row : best), undefined);

/** Returns the gain of each size, but of those where none of a library's was compared, or nothing else. */
export function gainsOf(rows: readonly ComparisonRow[]): Gain[] {
  const sizes = [...new Set(rows.map(({ sizeBytes }) => sizeBytes))];
  return sizes.flatMap((sizeBytes) => {
    const own = rows.filter((row) => row.sizeBytes === sizeBytes);
    const best = own.find((row) => row.best);
    const library = libraryLine(own);
    if (best === undefined || library === undefined || own.length < 2) return [];
    const text = best === library ? "none" : gainText(library.us, best.us);
    return [{ best, library, how: `${library.algorithm} (${library.library})`, text }];
  });
}
