import type { Place } from "./option-names.ts";
import { refusalSentence } from "./refusal.ts";
import { visible } from "./visible.ts";

/** Returns a sentence with its longest numbers cut: nobody reads 190 digits. */
const withShortNumbers = (sentence: string): string =>
  sentence.replace(/\d{40,}/g, (digits) => `${digits.slice(0, 12)}... (${digits.length} digits)`);

/** Returns a value as JSON; "an object" where it cannot be (cycles, thousands of levels). */
function objectText(value: object): string {
  try {
    return JSON.stringify(value) ?? "an object";
  } catch {
    return "an object";
  }
}

/** What was found, in words rather than as a value. */
class InWords {
  readonly words: string;
  constructor(words: string) {
    this.words = words;
  }
}

/** Returns what an InputError says it received where that is no value but what there is of it: "3 rows", "a list". */
export const inWords = (words: string): unknown => new InWords(words);

/** Returns a short printable form of a value for an error sentence: strings quoted, long text cut, nothing hidden in it. */
export function shown(value: unknown): string {
  const whole =
    value instanceof InWords
      ? value.words
      : typeof value === "string"
        ? JSON.stringify(value)
        : typeof value === "object" && value !== null
          ? objectText(value)
          : String(value);
  const text = withShortNumbers(whole);
  return text.length > 80 ? `${visible(text.slice(0, 77).replace(/[\ud800-\udbff]$/, ""))}...` : visible(text);
}

const LONGEST_PLACE = 400;
const LONGEST_EXPECTATION = 2000;

/** Returns a text with its middle cut where it is longer than any sentence: a whole command line may be a place. */
function cutTo(most: number, text: string): string {
  return text.length <= most ? text : `${text.slice(0, most / 2)} ... ${text.slice(-most / 4)}`;
}

/** What kind of mistake it is. */
export type Mistake =
  /** Nothing was given. */
  | "missing"
  /** It is none of the names that are known here. */
  | "unknown-name"
  /** A number outside of its range, or more than there is room for. */
  | "out-of-range"
  /** It does not go together with something else that was given. */
  | "not-together"
  /** It means nothing without something else. */
  | "not-alone"
  /** What was chosen cannot be used for this. */
  | "not-applicable"
  /** It takes so long that its times are no exact numbers. */
  | "too-long"
  /** A file is not what its writer wrote. */
  | "damaged"
  /** Anything else that is not what is expected there. */
  | "unexpected";

/** Returns the sentence of a mistake, no longer than anybody reads. */
function sentenceOf(place: Place, expected: string, value: string | null, alone: boolean): string {
  const parts = { place: cutTo(LONGEST_PLACE, `${place}`), expected: cutTo(LONGEST_EXPECTATION, expected) };
  const isOption = typeof place !== "string";
  return visible(withShortNumbers(refusalSentence({ ...parts, isOption, shown: value, alone })));
}

/** The caller's fault. One sentence, first what is wrong: "PLACE is VALUE; it must be X". Exit code 2. */
export class InputError extends Error {
  readonly exitCode: number = 2;
  /** What kind of mistake it is; `code` is what Node calls errors of the system by. */
  mistake: Mistake;
  /** The option that is wrong, the property of the API's requests; null where it is something else. */
  readonly option: string | null;
  /** Where it is wrong, in words. */
  readonly place: string;
  /** What would have been right, in words. */
  readonly expected: string;
  /** The offending value; undefined where it is missing. */
  readonly received: unknown;
  readonly #place: Place;
  /** The value in the sentence; null where it is missing. */
  readonly #shown: string | null;
  #isWorded = false;

  /**
   * @param place where it is wrong: an option, a JSON path, a file with its line
   * @param expected what would have been right
   * @param received the offending value, or nothing when it is missing
   */
  constructor(place: Place, expected: string, ...received: [unknown?]) {
    super(sentenceOf(place, expected, received.length === 0 ? null : shown(received[0]), false));
    this.name = "InputError";
    this.mistake = received.length === 0 ? "missing" : "unexpected";
    this.option = typeof place === "string" ? null : place.option;
    this.place = `${place}`;
    this.expected = expected;
    this.received = received[0] instanceof InWords ? received[0].words : received[0];
    this.#place = place;
    this.#shown = received.length === 0 ? null : shown(received[0]);
  }

  /** Returns the error as a mistake of that kind. */
  as(mistake: Mistake): this {
    this.mistake = mistake;
    if (mistake !== "not-alone" || this.#isWorded) return this;
    return this.#say(sentenceOf(this.#place, this.expected, this.#shown, true));
  }

  /** Returns the error with a sentence of its own, which begins with what is wrong. */
  saying(sentence: string): this {
    this.#isWorded = true;
    return this.#say(visible(withShortNumbers(sentence)));
  }

  #say(sentence: string): this {
    const before = this.message;
    this.message = sentence;
    if (sentence !== before && this.stack !== undefined) this.stack = this.stack.replace(before, () => sentence);
    return this;
  }
}

/** Returns what `made` returns; null where it throws InputError. */
export function unlessRefused<T>(made: () => T): T | null {
  try {
    return made();
  } catch (error) {
    if (error instanceof InputError) return null;
    throw error;
  }
}

/** A file is not what its writer wrote: cut short, or changed on the way. `what` names the file or a part of it. Exit code 2. */
export class DamagedFileError extends InputError {
  constructor(what: string, why: string) {
    super(what, "undamaged bytes", why);
    this.as("damaged").saying(`${what} is damaged: ${why}`);
    this.name = "DamagedFileError";
  }
}

/** No answer exists; `witness` shows why (an unreachable pair, a cut). Exit code 3. */
export class InfeasibleError extends Error {
  readonly exitCode: number = 3;
  readonly witness: Readonly<Record<string, unknown>>;

  constructor(message: string, witness: Readonly<Record<string, unknown>> = {}) {
    super(visible(withShortNumbers(message)));
    this.name = "InfeasibleError";
    this.witness = witness;
  }
}

/** A schedule that is asked about is wrong, and nothing can be said of it but that. Exit code 1. */
export class WrongScheduleError extends Error {
  readonly exitCode: number = 1;

  constructor(message: string) {
    super(message);
    this.name = "WrongScheduleError";
  }
}

/** The work was cancelled by its AbortSignal. Exit code 130. */
export class CancelledError extends Error {
  readonly exitCode: number = 130;

  constructor() {
    super("cancelled");
    this.name = "CancelledError";
  }
}

/** A mistake of ours: an invariant did not hold. Exit code 1. */
export class InternalError extends Error {
  readonly exitCode: number = 1;
  /** There was not enough memory: less work may do. */
  readonly outOfMemory: boolean;

  constructor(message: string, outOfMemory = false) {
    super(visible(outOfMemory ? message : `internal error: ${message}`));
    this.name = "InternalError";
    this.outOfMemory = outOfMemory;
  }
}
