import { formatSize } from "../model/numbers/units.ts";
import { count } from "./amounts.ts";
import type {
  CoarseRow,
  Comparison,
  ComparisonRow,
  LibrarySetting,
  NotModelled,
  ReferenceRow,
  SizeSettings,
} from "./comparison.ts";

/** A line, or what a coarse model says of one. */
type Line = ComparisonRow | CoarseRow;

/** What the fastest algorithm gains over the fastest of those that libraries have, at a size, both simulated. */
export interface Gain {
  readonly best: Line;
  /** Not there where what the library has is no line. */
  readonly library?: Line;
  /** What the two take: as schedules, or where a target is named as a program that it loads and as the library runs its own. */
  readonly us: number;
  readonly libraryUs: number;
  /** What the library's is and how it is set: "ring (natural order, both ways)". */
  readonly how: string;
  /** "1.94 x"; "tie" within 1 %; "none" where the library's is the fastest; with a target "0.8 x" where the library's own is faster than any program. */
  readonly text: string;
}

/** A gain over a line. */
export type DefaultGain = Gain & { readonly library: Line };

/** Less than this is none: simulated times leave out more than that. */
const TIE = 1.01;

/** Returns how many times as fast something is as something else, in words: "1.94 x", or "tie" within 1 % either way. */
export const gainText = (slowerUs: number, us: number): string =>
  slowerUs < TIE * us && us < TIE * slowerUs ? "tie" : `${(slowerUs / us).toFixed(2)} x`;

/** Returns the row that takes least by a measure; undefined where there is none. */
const least = <Row extends Line>(rows: readonly Row[], us: (row: Row) => number): Row | undefined =>
  rows.reduce<Row | undefined>((best, row) => (best === undefined || us(row) < us(best) ? row : best), undefined);

/** Returns the gain of each size, but of those where none of a library's was compared, or nothing else. `coarse`: lines of which there is a model only. */
export function gainsOf(
  rows: readonly ComparisonRow[],
  coarse: readonly CoarseRow[] = [],
  told: Pick<Comparison, "settings" | "notModelled"> = {},
): Gain[] {
  const sizes = [...new Set([...rows, ...coarse].map(({ sizeBytes }) => sizeBytes))];
  const bestAt = (size: number): LibrarySetting[] =>
    [...(told.settings ?? []), ...(told.notModelled ?? [])].flatMap(({ sizeBytes, best }) =>
      sizeBytes === size && best !== undefined ? [best] : [],
    );
  return sizes.flatMap((sizeBytes) => {
    const own = rows.filter((row) => row.sizeBytes === sizeBytes);
    const modelled = coarse.filter((row) => row.sizeBytes === sizeBytes);
    return own.length + modelled.length < 2
      ? []
      : (gainOnTarget(own, bestAt(sizeBytes)) ?? gainOfSchedules(own, modelled) ?? []);
  });
}

/**
 * Where no line has a schedule, the fastest by its model is the best. Null where some of what libraries have was left out: then no
 * coarse line says that it is theirs.
 */
function gainOfSchedules(rows: readonly ComparisonRow[], coarse: readonly CoarseRow[]): Gain | null {
  const best = rows.length === 0 ? least(coarse, ({ us }) => us) : rows.find((row) => row.best);
  const library = least<Line>(
    [...rows, ...coarse].filter((row) => row.library !== undefined),
    ({ us }) => us,
  );
  if (best === undefined || library === undefined) return null;
  if (coarse.length > 0 && coarse.every((row) => row.library === undefined)) return null;
  const text = best === library ? "none" : gainText(library.us, best.us);
  return { best, library, us: best.us, libraryUs: library.us, how: howOf(library), text };
}

/**
 * Returns what the fastest program of a target gains over what its library runs without any, of what it can be told the best, if that is known; null
 * where no target was named.
 */
function gainOnTarget(rows: readonly ComparisonRow[], told: readonly LibrarySetting[]): Gain | null {
  const loaded = least(
    rows.filter(({ programUs }) => typeof programUs === "number"),
    ({ programUs }) => programUs as number,
  );
  const library = least(
    rows.filter((row) => row.libraryUs !== undefined),
    ({ libraryUs }) => libraryUs as number,
  );
  if (loaded === undefined) return null;
  const [first, ...others] = told;
  if (first !== undefined) {
    const own = others.reduce((best, one) => (one.us < best.us ? one : best), first);
    const us = loaded.programUs as number;
    return { best: loaded, us, libraryUs: own.us, how: settingText(own), text: gainText(own.us, us) };
  }
  if (library === undefined) return null;
  const [us, libraryUs] = [loaded.programUs as number, library.libraryUs as number];
  return { best: loaded, library, us, libraryUs, how: howOf(library), text: gainText(libraryUs, us) };
}

const howOf = (row: Line): string => `${row.algorithm} (${row.library}${"by" in row ? "; coarse" : ""})`;

/**
 * Returns what the fastest of a library's own algorithms gains over what the library chooses by default, at each size at which both
 * were compared.
 */
export function defaultGains(rows: readonly ComparisonRow[], references: readonly ReferenceRow[]): DefaultGain[] {
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

/** A line of gains: what is fastest, and what it is faster than. */
export interface GainLine extends Pick<Gain, "us" | "how" | "libraryUs" | "text"> {
  readonly sizeBytes: number;
  readonly fastest: string;
}

/** Returns a gain as a line. */
const lineOfGain = (gain: Gain): GainLine => ({
  ...gain,
  sizeBytes: gain.best.sizeBytes,
  fastest: gain.best.algorithm,
});

/** Returns "Ring/LL", "pipeline (Open MPI)". */
const algorithmText = ({ library, algorithm, protocol }: LibrarySetting): string =>
  library === "NCCL" ? `${algorithm}/${protocol}` : `${algorithm} (${library})`;

/** Returns "Ring/LL, 1 channel", "pipeline (Open MPI), segments of 64 KiB". */
function settingText(setting: LibrarySetting): string {
  const { channels, segmentBytes } = setting;
  const more = channels === undefined ? "" : `, ${count(channels, "channel")}`;
  return `${algorithmText(setting)}${more}${segmentBytes === undefined ? "" : `, segments of ${formatSize(segmentBytes)}`}`;
}

/** Returns what a library's best setting gains over its default at each size. */
const gainsOfSettings = (settings: readonly SizeSettings[]): GainLine[] =>
  settings.map(({ sizeBytes, chosen, best }) => ({
    sizeBytes,
    fastest: algorithmText(best),
    us: best.us,
    how: settingText(chosen),
    libraryUs: chosen.us,
    text: best === chosen ? "none" : gainText(chosen.us, best.us),
  }));

/** Returns what to set for a library to be faster than by default, a text for the sizes of each setting: "64 KiB: NCCL_ALGO=Ring". */
export function settingsToSet(settings: readonly SizeSettings[]): string[] {
  const sizesOf = new Map<string, string[]>();
  for (const { sizeBytes, chosen, best } of settings) {
    if (best === chosen) continue;
    sizesOf.set(best.environment, [...(sizesOf.get(best.environment) ?? []), formatSize(sizeBytes)]);
  }
  return [...sizesOf].map(([environment, sizes]) => `${sizes.join(", ")}: ${environment}`);
}

/** Returns which defaults have no model, a text for each algorithm of a library: "Open MPI's split_binary_tree, its default at 16 KiB". */
export function notModelledTexts(notModelled: readonly NotModelled[]): string[] {
  const sizesOf = new Map<string, string[]>();
  for (const { library, algorithm, sizeBytes } of notModelled) {
    const what = `${library}'s ${algorithm}, its default at `;
    sizesOf.set(what, [...(sizesOf.get(what) ?? []), formatSize(sizeBytes)]);
  }
  return [...sizesOf].map(([what, sizes]) => `${what}${sizes.join(", ")}`);
}

/** Lines of gains, and what they are over. */
export interface GainTable {
  readonly lines: readonly GainLine[];
  readonly over: "by default" | "of libraries";
}

/**
 * Returns what a comparison tells of gains, without the size at which it was stopped: `tables` as they are shown, over libraries, and
 * of the best settings of libraries over their defaults, with target nccl these alone.
 */
export function gainsShown({ rows, references, coarse = [], settings = [], notModelled, stopped, target }: Comparison) {
  // of the size at which it was stopped the fastest is not known
  const whole = stopped === true ? rows.filter(({ sizeBytes }) => sizeBytes !== rows.at(-1)?.sizeBytes) : rows;
  const defaults = defaultGains(whole, references);
  const isOwn = target === "nccl";
  const gained = isOwn
    ? defaults
    : gainsOf(whole, stopped === true ? [] : coarse, { settings, ...(notModelled && { notModelled }) });
  const ofDefaults = isOwn && settings.length === 0 ? gained.map(lineOfGain) : gainsOfSettings(settings);
  const tables: GainTable[] = [
    { lines: isOwn ? [] : gained.map(lineOfGain), over: "of libraries" },
    { lines: ofDefaults, over: "by default" },
  ];
  return { defaults, gained, tables: tables.filter(({ lines }) => lines.length > 0) };
}
