import { isDeepStrictEqual } from "node:util";
import { InfeasibleError, InputError, type Mistake, shown } from "../../src/base/errors.ts";
import type { Failure } from "../../src/cli/protocol.ts";

/**
 * What tests hold of refusals: the kind of mistake, the option or place, the value that was given, and the values that
 * the sentence names. The words are held in test/words/ only. Each returns a matcher for toThrow, toEqual and `refuses`, which throws where another refusal comes.
 */
export interface Refusal {
  asymmetricMatch(error: unknown): boolean;
  toString(): string;
}

/** A matcher that says itself what it got instead: vitest would print neither. */
const matcher = (isOne: (error: unknown) => boolean, said: string): Refusal => ({
  asymmetricMatch(error) {
    if (isOne(error)) return true;
    const facts = factsOf(error);
    const { message } = (error ?? {}) as Partial<Error>;
    throw new Error(
      `not ${said}, but ${facts === null ? "" : `${facts.mistake} for ${facts.option ?? facts.place}: `}${message}`,
    );
  },
  toString: () => said,
});

interface Facts {
  readonly mistake: string;
  /** The option's property, null where it is none. */
  readonly option: string | null;
  readonly place: string;
  readonly expected: string;
  /** As a sentence shows it, so that values of errors and of JSON can be compared. */
  readonly received: string;
}

const given = (value: unknown): string => (value === undefined ? "nothing" : shown(value));

/** Returns what an error, or a failure of the command line, says as data; null for any other. */
function factsOf(error: unknown): Facts | null {
  if (error instanceof InputError) return { ...error, received: given(error.received) };
  const { kind, place, mistake } = (error ?? {}) as Partial<Failure>;
  if (kind !== "input" || mistake === undefined) return null;
  const { code, received, ...rest } = mistake;
  return { ...rest, mistake: code, place: place ?? "", received: received === null ? "nothing" : String(received) };
}

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
/** Returns whether a text names a value: 8 is not in "81" nor in "1.8". */
const names = (text: string, value: unknown): boolean =>
  new RegExp(`(?<![\\w.])${escaped(String(value))}(?!\\w|\\.\\d)`).test(text);

/** A refusal as that kind of mistake; `at` is the option's property or the place, `values` stand in what would have been right. */
export function refused(mistake: Mistake, at: string, received?: unknown, ...values: readonly unknown[]): Refusal {
  const text = given(received);
  return matcher(
    (error) => {
      const facts = factsOf(error);
      return (
        facts !== null &&
        facts.mistake === mistake &&
        (at === facts.option || at === facts.place) &&
        facts.received === text &&
        values.every((value) => names(facts.expected, value))
      );
    },
    `${mistake} for ${at}, received ${text}, naming [${values.join(", ")}]`,
  );
}

/** Nothing was given. */
export const missing = (at: string, ...values: readonly unknown[]): Refusal =>
  refused("missing", at, undefined, ...values);
export const unexpected = (at: string, received?: unknown, ...values: readonly unknown[]): Refusal =>
  refused("unexpected", at, received, ...values);
export const outOfRange = (at: string, received?: unknown, ...values: readonly unknown[]): Refusal =>
  refused("out-of-range", at, received, ...values);

/** A file, or a part of it, is not what its writer wrote; `values` stand in the reason. */
export const damaged = (what: string, ...values: readonly unknown[]): Refusal =>
  matcher(
    (error) => {
      const facts = factsOf(error);
      const isThere = facts?.mistake === "damaged" && facts.place === what;
      return isThere && values.every((value) => names(facts.received, value));
    },
    `damaged ${what}, naming [${values.join(", ")}]`,
  );

/** No answer exists; `witness` shows why. */
export const infeasible = (witness: Readonly<Record<string, unknown>>): Refusal =>
  matcher(
    (error) => {
      const { kind, witness: said } = (error ?? {}) as Partial<Failure>;
      const isOne = error instanceof InfeasibleError || kind === "infeasible";
      return isOne && isDeepStrictEqual({ ...(said as object) }, witness);
    },
    `infeasible, ${JSON.stringify(witness)}`,
  );

/** Returns what `run` is refused with; fails on any other outcome. */
export function refusalFrom(run: () => unknown): InputError | InfeasibleError {
  try {
    run();
  } catch (error) {
    if (error instanceof InputError || error instanceof InfeasibleError) return error;
    throw error;
  }
  throw new Error("nothing was refused");
}
