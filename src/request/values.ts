import { InputError, shown } from "../base/errors.ts";
import { optionName, type Place } from "../base/option-names.ts";
import { COLLECTIVE_KINDS, type NamedCollective } from "../model/collective/collective.ts";
import type { SwitchDegree } from "../model/routes/switch-degrees.ts";
import { spelt, unknownName } from "../model/topology/closest.ts";

/** Texts of options as values; each throws InputError for the place of the text. */

/** Returns the whole number that a text writes ("8", "1e9"), `low` or more. */
export function wholeNumber(text: string, place: Place, low: number): number {
  const value = /^-?\d{1,16}(?:[eE]\+?\d{1,2})?$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isNaN(value)) throw new InputError(place, `a whole number, ${low} or more`, text);
  if (value < low) throw new InputError(place, `at least ${low}`, text).as("out-of-range");
  if (!Number.isSafeInteger(value)) throw new InputError(place, "less than 2^53", text).as("out-of-range");
  return value;
}

/** Returns what throws InputError for a value that is no integer from `low` to `high`; `expected` says so in words. */
export const integerIn =
  (low: number, high: number, expected: string) =>
  (value: unknown, place: Place): void => {
    if (Number.isSafeInteger(value) && (value as number) >= low && (value as number) <= high) return;
    throw new InputError(place, expected, value).as("out-of-range");
  };

/** Returns the parts of a list `a,b,...`, each trimmed; none may be empty. */
export function listOf(text: string, place: Place, what: string): string[] {
  return text.split(",").map((part) => {
    const item = part.trim();
    if (item === "") throw new InputError(place, `${what}, separated by commas`, text);
    return item;
  });
}

/** Returns the one of the words that a text spells, whatever its capitals and what joins its parts. */
export function oneOf<Word extends string>(text: string, words: readonly Word[], place: Place): Word {
  const found = spelt(text, words);
  if (found === undefined) throw unknownName(place, text, words);
  return found;
}

/** What else collectives are called. */
const SHORT_NAMES: Readonly<Record<string, NamedCollective>> = {
  a2a: "alltoall",
  ag: "allgather",
  ar: "allreduce",
  bcast: "broadcast",
  rs: "reducescatter",
};

/** Returns the name of a collective in any spelling ("all-reduce", "AllReduce"); `others`: what else could be named. */
export function namedCollective(
  text: string,
  place: Place = optionName("collective"),
  others: readonly string[] = [],
): NamedCollective {
  const found = spelt(text, COLLECTIVE_KINDS);
  if (found !== undefined) return found;
  const several = text.split(",");
  if (several.length > 1 && several.every((name) => spelt(name.trim(), COLLECTIVE_KINDS) !== undefined))
    throw new InputError(place, "one collective at a time", text).as("out-of-range");
  const called = text.toLowerCase().replace(/[\s_-]/g, "");
  const short = SHORT_NAMES[called];
  const names = [...COLLECTIVE_KINDS, ...others];
  const refusal = unknownName(place, text, names, { list: "collectives", ...(short && { meant: short }) });
  throw called === "alltoallv"
    ? refusal.saying(`${place} is ${shown(text)}; an all-to-all-v is custom:FILE, with a matrix of bytes in the file`)
    : refusal;
}

/** Returns the degree of unwinding of switches, "ports", or degrees by names: `nvsw*=7,rail*=1`. */
export function switchDegree(text: string, place: Place): SwitchDegree {
  if (text === "ports") return text;
  const degreeOf = (written: string, whole: string): number => {
    const degree = /^\d{1,9}$/.test(written) ? Number(written) : 0;
    if (degree < 1)
      throw new InputError(place, '"ports", a degree of 1 or more, or NAME=DEGREE such as nvsw*=7', whole);
    return degree;
  };
  if (!text.includes("=")) return degreeOf(text, text);
  const pairs = listOf(text, place, "NAME=DEGREE").map((part) => {
    const cut = part.lastIndexOf("=");
    return [part.slice(0, Math.max(cut, 0)).trim(), degreeOf(cut < 1 ? "" : part.slice(cut + 1).trim(), part)] as const;
  });
  return Object.fromEntries(pairs);
}

/** Returns the number that a text writes as a decimal, a fraction or a percentage: "0.5", "11/12", "50%"; NaN for others. */
function factorOf(text: string): number {
  const [, whole, part] = /^(\d{1,9})\/(\d{1,9})$/.exec(text) ?? [];
  if (whole !== undefined && part !== undefined) return Number(whole) / Number(part);
  const [, number, percent] = /^([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*(%?)$/.exec(text) ?? [];
  return number === undefined ? Number.NaN : percent === "" ? Number(number) : Number(number) / 100;
}

/** Returns a share of 0 to 1 for `95%`, `0.95` or `19/20`. Throws InputError. */
export function shareOf(text: string, place: Place): number {
  const share = factorOf(text.trim());
  if (!(share >= 0 && share <= 1)) throw new InputError(place, "a share such as 95%", text);
  return share;
}

/** Returns pairs of name and factor for `a-b=0.5,c=11/12,d=25%`; the factor's range is `degrade`'s to check. */
export function degradations(text: string, place: Place): (readonly [name: string, factor: number])[] {
  return listOf(text, place, "NAME=FACTOR").map((part) => {
    const cut = part.lastIndexOf("=");
    const factor = factorOf(part.slice(cut + 1).trim());
    if (cut < 1 || Number.isNaN(factor))
      throw new InputError(
        place,
        `NAME=FACTOR such as ${/\w[->]\w/.exec(part) === null ? "a-b" : part.split("=", 1)[0]}=0.5, a share of its bandwidth`,
        part,
      );
    return [part.slice(0, cut).trim(), factor] as const;
  });
}
