import { InputError, shown } from "../../base/errors.ts";
import type { Place } from "../../base/option-names.ts";

/** Returns the number of single-character insertions, deletions, replacements and neighbour swaps between two words. */
function editDistance(a: string, b: string): number {
  let before: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      let best = Math.min(row[j - 1] + 1, previous[j] + 1, previous[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) best = Math.min(best, before[j - 2] + 1);
      row.push(best);
    }
    before = previous;
    previous = row;
  }
  return previous[b.length];
}

/** Fewest letters that a longer name is known by. */
const LEAST_STEM = 3;

/** Returns a word in small letters without what joins its parts: "All-Reduce" and "all_reduce" are "allreduce". */
const plain = (word: string): string => word.toLowerCase().replace(/[\s_-]/g, "");

/** Returns the name that a word spells, whatever its capitals and what joins its parts; undefined where it spells none. */
export function spelt<Name extends string>(word: string, names: Iterable<Name>): Name | undefined {
  let other: Name | undefined;
  for (const name of names) {
    if (name === word) return name;
    if (plain(name) === plain(word)) other ??= name;
  }
  return other;
}

/**
 * Returns the candidate most like `word` (fewest edits, capitals aside; the earliest of equals) within a `share`-th of its length, or
 * the first that begins with it or has it as a part ("forest" in "forestcoll", "xml" in "msccl-xml"); null where there is none.
 * For "did you mean".
 */
export function closest(word: string, candidates: Iterable<string>, share = 3): string | null {
  if (word.length < 2) return null;
  const lower = word.toLowerCase();
  let limit = Math.max(1, Math.floor(word.length / share)) + 1;
  let best: string | null = null;
  for (const candidate of candidates) {
    if (Math.abs(candidate.length - lower.length) >= limit) continue;
    const distance = editDistance(lower, candidate.toLowerCase());
    if (distance >= limit) continue;
    limit = distance;
    best = candidate;
  }
  return best ?? (lower.length < LEAST_STEM ? null : partOf(lower, [...candidates]));
}

/** Returns the first candidate that begins with a word, or else has it after a dash, or else that the word begins with. */
const partOf = (word: string, candidates: readonly string[]): string | null =>
  candidates.find((name) => name.toLowerCase().startsWith(word)) ??
  candidates.find((name) => name.toLowerCase().split(/[-_:]/).includes(word)) ??
  candidates.find((name) => name.length > LEAST_STEM && word.startsWith(name.toLowerCase())) ??
  null;

/** Returns `, did you mean "x"?` in brackets for an error sentence, or nothing when no candidate is close. */
export function didYouMean(word: string, candidates: Iterable<string>): string {
  const near = closest(word, candidates);
  return near === null ? "" : ` (did you mean ${JSON.stringify(near)}?)`;
}

/** More names than these are listed by a command, not in a sentence. */
const MOST_NAMES = 12;

/**
 * Returns the error for a name that is none of those known: the nearest one or, of few, all; `list`: the command that lists
 * them. `expected` has all of them as data; `meant`: what people call one of them.
 */
export function unknownName(
  place: Place,
  given: string,
  names: readonly string[],
  { list, meant = closest(given, names) }: { readonly list?: string; readonly meant?: string | null } = {},
): InputError {
  const near = meant === null ? "" : ` (did you mean ${JSON.stringify(meant)}?)`;
  const error = new InputError(place, `one of ${names.join(", ")}${near}`, given).as("unknown-name");
  if (given === "" || (meant === null && (list === undefined || names.length <= MOST_NAMES))) return error;
  const all = list === undefined ? "" : `\`banyan list ${list}\` lists all`;
  return error.saying(
    meant === null
      ? `${place} is ${shown(given)}, an unknown name; ${all}`
      : `${place} is ${shown(given)}; did you mean ${JSON.stringify(meant)}?${all === "" ? "" : ` (${all})`}`,
  );
}
