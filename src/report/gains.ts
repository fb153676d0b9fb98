import type { CoarseRow, ComparisonRow, ReferenceRow } from "./comparison.ts";

/** A line, or what a coarse model says of one. */
type Line = ComparisonRow | CoarseRow;

/** What the fastest algorithm gains over the fastest of those that libraries have, at a size, both simulated. */
export interface Gain {
  readonly best: Line;
  readonly library: Line;
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
const least = <Row extends Line>(rows: readonly Row[], us: (row: Row) => number): Row | undefined =>
  rows.reduce<Row | undefined>((best, row) => (best === undefined || us(row) < us(best) ? row : best), undefined);

/** Returns the gain of each size, but of those where none of a library's was compared, or nothing else. `coarse`: lines of which there is a model only. */
export function gainsOf(rows: readonly ComparisonRow[], coarse: readonly CoarseRow[] = []): Gain[] {
  const sizes = [...new Set([...rows, ...coarse].map(({ sizeBytes }) => sizeBytes))];
  return sizes.flatMap((sizeBytes) => {
    const own = rows.filter((row) => row.sizeBytes === sizeBytes);
    const modelled = coarse.filter((row) => row.sizeBytes === sizeBytes);
    return own.length + modelled.length < 2 ? [] : (gainOnTarget(own) ?? gainOfSchedules(own, modelled) ?? []);
  });
}

/** Where no line has a schedule, the fastest by its model is the best. */
function gainOfSchedules(rows: readonly ComparisonRow[], coarse: readonly CoarseRow[]): Gain | null {
  const best = rows.length === 0 ? least(coarse, ({ us }) => us) : rows.find((row) => row.best);
  const library = least<Line>(
    [...rows, ...coarse].filter((row) => row.library !== undefined),
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

const howOf = (row: Line): string => `${row.algorithm} (${row.library}${"by" in row ? "; coarse" : ""})`;

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
