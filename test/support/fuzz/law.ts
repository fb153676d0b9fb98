import { InfeasibleError, InputError } from "../../../src/base/errors.ts";
import { ExpressionError } from "../../../src/model/direct/parse.ts";
import type { FuzzTarget } from "./target.ts";

/** The law for every input of every reader: a value, or one sentence to the user, and nothing else is changed. */

/** What became of an input. `breach` is null where the law holds; `kind` tells one breach from others. */
export interface Outcome {
  readonly read: boolean;
  readonly breach: { readonly kind: string; readonly what: string } | null;
}

/** Sentences no longer than this fit one line of a report. */
const MOST_SENTENCE = 700;
const SHARED = [Object, Array, String, Number, Function, Map, Set, Promise, RegExp, Error].map(
  ({ prototype }) => prototype as object,
);
const keysOf = (): number => SHARED.reduce((sum, prototype) => sum + Reflect.ownKeys(prototype).length, 0);

const READ: Outcome = { read: true, breach: null };
const REFUSED: Outcome = { read: false, breach: null };
const broken = (kind: string, what: string): Outcome => ({ read: false, breach: { kind, what } });

function ofError(error: unknown): Outcome {
  if (!(error instanceof InputError || error instanceof InfeasibleError)) {
    const { name, message, stack } = error instanceof Error ? error : new Error(String(error));
    const place = stack?.split("\n").find((line) => /\/src\//.test(line)) ?? "";
    return broken(`${name}${place.replace(/^.*\/src\//, " in ").replace(/:\d+\)?$/, "")}`, stack ?? message);
  }
  const { message } = error instanceof ExpressionError ? withoutExcerpt(error) : error;
  if (/[\n\r]/.test(message)) return broken("a sentence of several lines", JSON.stringify(message));
  if (message.length <= MOST_SENTENCE) return REFUSED;
  return broken("a long sentence", `${message.length} characters: ${message.slice(0, 200)}`);
}

/** Returns an error without the two lines below its sentence that point at the place. */
function withoutExcerpt({ message, excerpt }: ExpressionError): { readonly message: string } {
  const end = `\n${excerpt}`;
  return {
    message: message.endsWith(end) && /^[^\n]*\n[^\n]*$/.test(excerpt) ? message.slice(0, -end.length) : message,
  };
}

/** Returns what became of an input. Never rejects. */
export async function outcomeOf({ check }: FuzzTarget, input: string): Promise<Outcome> {
  const before = keysOf();
  let outcome = READ;
  try {
    await check(input);
  } catch (error) {
    outcome = ofError(error);
  }
  return keysOf() === before ? outcome : broken("a changed prototype", "what all objects share was changed");
}
