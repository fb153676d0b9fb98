import { InputError } from "../base/errors.ts";
import { COLLECTIVE_KINDS, type NamedCollective } from "../model/collective/collective.ts";
import type { SwitchDegree } from "../model/routes/routing.ts";
import { didYouMean } from "../model/topology/closest.ts";
import { flagOf, type Options } from "./option-texts.ts";

/** Returns an option's text; undefined where it is not given. */
export function textOf(options: Options, name: string): string | undefined {
  const value = options[name];
  return typeof value === "string" ? value : undefined;
}

/** Throws InputError for the first of the options that is given; `expected` says what it would be for. */
export function refuseOptions(options: Options, names: readonly string[], expected: string): void {
  for (const name of names) {
    const value = options[name];
    if (value === undefined) continue;
    throw new InputError(flagOf(name), expected, value);
  }
}

/** Returns the whole number that a text writes ("8", "1e9"), `low` or more; undefined for undefined. Throws InputError. */
export function wholeNumber(text: string | undefined, place: string, low: number): number | undefined {
  if (text === undefined) return undefined;
  const value = /^\d{1,16}(?:[eE]\+?\d{1,2})?$/.test(text) ? Number(text) : Number.NaN;
  if (!Number.isSafeInteger(value) || value < low) throw new InputError(place, `a whole number, ${low} or more`, text);
  return value;
}

/** Returns the parts of a list `a,b,...`, each trimmed. Throws InputError for an empty part. */
export function listOf(text: string, place: string, what: string): string[] {
  return text.split(",").map((part) => {
    const item = part.trim();
    if (item === "") throw new InputError(place, `${what}, separated by commas`, text);
    return item;
  });
}

/** Returns one of the words; undefined for undefined. Throws InputError. */
export function oneOf<Word extends string>(
  text: string | undefined,
  words: readonly Word[],
  place: string,
): Word | undefined {
  if (text === undefined) return undefined;
  const found = words.find((word) => word === text);
  if (found !== undefined) return found;
  throw new InputError(place, `one of ${words.join(", ")}${didYouMean(text, words)}`, text);
}

/** Returns the name of a collective. Throws InputError. */
export function namedCollective(text: string, others = ""): NamedCollective {
  const found = COLLECTIVE_KINDS.find((kind) => kind === text);
  if (found !== undefined) return found;
  const expected = `one of ${COLLECTIVE_KINDS.join(", ")}${others}${didYouMean(text, COLLECTIVE_KINDS)}`;
  throw new InputError("--collective", expected, text);
}

/** Returns the degree of unwinding of switches, or "ports"; undefined for undefined. Throws InputError. */
export function switchDegree(text: string | undefined): SwitchDegree | undefined {
  if (text === undefined || text === "ports") return text;
  const degree = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  if (degree < 1) throw new InputError("--switch-degree", '"ports" or a degree of 1 or more', text);
  return degree;
}

/** Returns pairs of name and factor for `a-b=0.5,c=0.25`. Throws InputError; the factor's range is `degrade`'s to check. */
export function degradations(text: string): (readonly [name: string, factor: number])[] {
  return listOf(text, "--degrade", "NAME=FACTOR").map((part) => {
    const cut = part.lastIndexOf("=");
    const factor = part.slice(cut + 1).trim();
    if (cut < 1 || !/^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/.test(factor)) {
      throw new InputError("--degrade", "NAME=FACTOR such as a-b=0.5", part);
    }
    return [part.slice(0, cut).trim(), Number(factor)] as const;
  });
}
