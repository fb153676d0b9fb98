import { InputError } from "../../base/errors.ts";
import type { CollectiveKind } from "../../model/collective/collective.ts";
import type { PredictedRow } from "./nccl-tests.ts";

/** What a file that tells a library which of its own algorithms to use is made of. */
export interface TunerOptions {
  readonly collective: CollectiveKind;
  /** Boxes, and ranks in all. */
  readonly nodes: number;
  readonly ranks: number;
}

/** A file for a library, and what it does not say. */
export interface TunerFile {
  readonly text: string;
  /** Sizes for which no algorithm was compared that the library has: it keeps its own choice. */
  readonly leftOut: readonly number[];
  /** Sizes that its numbers do not reach: as those. */
  readonly beyond: readonly number[];
}

/** Sizes from `from` to `to`, that included, in bytes as nccl-tests count; to Infinity: all from there on. */
export interface TunedRange {
  readonly algorithm: string;
  readonly from: number;
  readonly to: number;
}

/** What a library calls the algorithms of ours that it has. */
export type Naming = Readonly<Record<string, string>>;

/** Returns what a library has for a collective. Throws InputError, with those it has any for, where that is nothing. */
export function namingFor(
  format: string,
  collective: CollectiveKind,
  namings: Readonly<Partial<Record<CollectiveKind, Naming>>>,
): Naming {
  const naming = namings[collective];
  if (naming !== undefined) return naming;
  throw new InputError(`the collective of ${format}`, `one of ${Object.keys(namings).join(", ")}`, collective).as(
    "unknown-name",
  );
}

/** Returns the library's name of the fastest of each size; what an earlier naming has a time for, a later one does not say. */
function bestBySize(rows: readonly PredictedRow[], namings: readonly Naming[]): Map<number, string> {
  const times = new Map<number, Map<string, { us: number; rank: number }>>();
  namings.forEach((naming, rank) => {
    for (const { sizeBytes, us, algorithm: ours } of rows) {
      const algorithm = naming[ours];
      if (algorithm === undefined || us === Number.POSITIVE_INFINITY) continue;
      const ofSize = times.get(sizeBytes) ?? new Map();
      const known = ofSize.get(algorithm);
      if (known === undefined || (known.rank === rank && us < known.us)) ofSize.set(algorithm, { us, rank });
      times.set(sizeBytes, ofSize);
    }
  });
  const best = new Map<number, string>();
  for (const [sizeBytes, ofSize] of times) {
    const [fastest] = [...ofSize].sort(([, a], [, b]) => a.us - b.us);
    if (fastest !== undefined) best.set(sizeBytes, fastest[0]);
  }
  return best;
}

/**
 * Returns which of a library's algorithms is the fastest from which size to which, and the sizes of which there is nothing to say.
 * An algorithm that takes Infinity is not run there. A size's range reaches up to the next size, the first from 0, the last to `largest`; neighbours with the same algorithm are one.
 * Throws InputError where no size is left. O(rows log rows).
 */
export function tunedRanges(
  rows: readonly PredictedRow[],
  namings: readonly Naming[],
  largest = Number.POSITIVE_INFINITY,
): { readonly ranges: readonly TunedRange[] } & Omit<TunerFile, "text"> {
  const sizes = [...new Set(rows.map(({ sizeBytes }) => sizeBytes))].sort((a, b) => a - b);
  const best = bestBySize(rows, namings);
  const ranges: { algorithm: string; from: number; to: number }[] = [];
  for (const [i, size] of sizes.entries()) {
    const algorithm = best.get(size);
    if (algorithm === undefined || size > largest) continue;
    const from = i === 0 ? 0 : size;
    const to = Math.min(largest, (sizes[i + 1] ?? Number.POSITIVE_INFINITY) - 1);
    const last = ranges[ranges.length - 1];
    if (last?.algorithm === algorithm && last.to === from - 1) last.to = to;
    else ranges.push({ algorithm, from, to });
  }
  if (ranges.length === 0) {
    const known = [...new Set(namings.flatMap((naming) => Object.keys(naming)))].join(", ");
    throw new InputError("the rows of a tuner", `an algorithm that its library has too (${known})`);
  }
  return {
    ranges,
    leftOut: sizes.filter((size) => size <= largest && !best.has(size)),
    beyond: sizes.filter((size) => size > largest),
  };
}
