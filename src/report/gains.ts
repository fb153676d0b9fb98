import type { ComparisonRow, ReferenceRow } from "./comparison.ts";

/** What the fastest algorithm gains over the fastest of those that libraries have, at a size, both simulated. */
export interface Gain {
  readonly best: ComparisonRow;
  readonly library: ComparisonRow;
  /** What the two take: as schedules, or where a target is named as a program that it loads and as the library runs its own. */
  readonly us: number;
  readonly libraryUs: number;
  /** What the library's is and how it is set: "ring (natural order, both ways)". */
  readonly how: string;
  /** "1.94 x"; "tie" within 1 %; "none" where the library's is the fastest; with a target "0.8 x" where the library's own is faster than any program. */
  readonly text: string;
}

/** Less than this is none: simulated times leave out more than that. */
const TIE = 1.01;

/** Returns how many times as fast something is as something else, in words: "1.94 x", or "tie" within 1 % either way. */
export const gainText = (slowerUs: number, us: number): string =>
  slowerUs < TIE * us && us < TIE * slowerUs ? "tie" : `${(slowerUs / us).toFixed(2)} x`;

/** Returns the row that takes least by a measure; undefined where there is none. */
const least = (rows: readonly ComparisonRow[], us: (row: ComparisonRow) => number): ComparisonRow | undefined =>
  rows.reduce<ComparisonRow | undefined>(
    (best, row) => (best === undefined || us(row) < us(best) ? row : best),
    undefined,
  );

/** Returns the gain of each size, but of those where none of a library's was compared, or nothing else. */
export function gainsOf(rows: readonly ComparisonRow[]): Gain[] {
  const sizes = [...new Set(rows.map(({ sizeBytes }) => sizeBytes))];
  return sizes.flatMap((sizeBytes) => {
    const own = rows.filter((row) => row.sizeBytes === sizeBytes);
    return own.length < 2 ? [] : (gainOnTarget(own) ?? gainOfSchedules(own) ?? []);
  });
}

function gainOfSchedules(rows: readonly ComparisonRow[]): Gain | null {
  const best = rows.find((row) => row.best);
  const library = least(
    rows.filter((row) => row.library !== undefined),
    ({ us }) => us,
  );
  if (best === undefined || library === undefined) return null;
  const text = best === library ? "none" : gainText(library.us, best.us);
  return { best, library, us: best.us, libraryUs: library.us, how: howOf(library), text };
}

/** Returns what the fastest program of a target gains over what its library runs without any; null where no target was named. */
function gainOnTarget(rows: readonly ComparisonRow[]): Gain | null {
  const loaded = least(
    rows.filter(({ programUs }) => typeof programUs === "number"),
    ({ programUs }) => programUs as number,
  );
  const library = least(
    rows.filter((row) => row.libraryUs !== undefined),
    ({ libraryUs }) => libraryUs as number,
  );
  if (loaded === undefined || library === undefined) return null;
  const [us, libraryUs] = [loaded.programUs as number, library.libraryUs as number];
  return { best: loaded, library, us, libraryUs, how: howOf(library), text: gainText(libraryUs, us) };
}

const howOf = ({ algorithm, library }: ComparisonRow): string => `${algorithm} (${library})`;

/**
 * Returns what the fastest of a library's own algorithms gains over what the library chooses by default, at each size at which both
 * were compared.
 */
export function defaultGains(rows: readonly ComparisonRow[], references: readonly ReferenceRow[]): Gain[] {
  const usOf = ({ libraryUs, programUs, us }: ComparisonRow): number => libraryUs ?? programUs ?? us;
  return references.flatMap(({ sizeBytes, like }) => {
    const own = rows.filter((row) => row.sizeBytes === sizeBytes && row.library !== undefined);
    const chosen = like.flatMap((name) => own.find(({ algorithm }) => algorithm === name) ?? [])[0];
    const best = least(own, usOf);
    if (best === undefined || chosen === undefined) return [];
    const [us, libraryUs] = [usOf(best), usOf(chosen)];
    const text = best === chosen ? "none" : gainText(libraryUs, us);
    return [{ best, library: chosen, us, libraryUs, how: howOf(chosen), text }];
  });
}
