import { InputError } from "../../base/errors.ts";
import { replaceHidden, textWidth } from "../../base/visible.ts";
import type { Construction } from "./construction.ts";
import { FAMILIES, type Family, familyNamed, nearestFamily } from "./families.ts";

/**
 * Reads constructions as the paper writes them, and in plain ASCII:
 *
 *   products   term (("x" | "□" | "×") term)*
 *   term       primary ("^" ["□"] n | "□" n | "*" n)*          powers, degree expansions; braces around an exponent are fine
 *   primary    "(" products ")" | ("L" | "T" | "Bi") ["^"] [n] "(" products ")" | family
 *   family     NAME ["_"] ("(" | "{") numbers [braces] (")" | "}"), or NAME with numbers behind it (K5, K4,4), or NAME alone
 */

const LONGEST = 1000;
const DEEPEST = 60;
const OPERATORS = new Set(["L", "T", "Bi"]);
const PRODUCT_SIGNS = new Set(["x", "×", "□"]);

interface Reader {
  readonly text: string;
  at: number;
  depth: number;
}

/** Returns what a text writes. Throws ExpressionError, an InputError with a caret under the place. O(text). */
export function parseConstruction(text: string): Construction {
  if (text.length > LONGEST) throw new ExpressionError(text, LONGEST, `at most ${LONGEST} characters`);
  const reader: Reader = { text, at: 0, depth: 0 };
  const construction = products(reader);
  if (peek(reader) !== "") throw wrong(reader, 'a product sign ("x"), "^n", "*n" or the end');
  return construction;
}

const wrong = ({ text, at }: Reader, expected: string): ExpressionError => new ExpressionError(text, at, expected);

/** Returns the next character that is no space, "" at the end. */
function peek(reader: Reader): string {
  while (/\s/.test(reader.text[reader.at] ?? "")) reader.at++;
  return reader.text[reader.at] ?? "";
}

function take(reader: Reader, sign: string): boolean {
  if (peek(reader) !== sign) return false;
  reader.at++;
  return true;
}

function need(reader: Reader, sign: string, expected = `"${sign}"`): void {
  if (!take(reader, sign)) throw wrong(reader, expected);
}

const isDigit = (sign: string): boolean => sign >= "0" && sign <= "9" && sign.length === 1;

function wholeNumber(reader: Reader, what: string): number {
  if (!isDigit(peek(reader))) throw wrong(reader, what);
  const start = reader.at;
  while (isDigit(reader.text[reader.at] ?? "")) reader.at++;
  const value = Number(reader.text.slice(start, reader.at));
  if (value <= 1e9) return value;
  reader.at = start;
  throw wrong(reader, `${what} up to 1e9`);
}

function positiveNumber(reader: Reader, what: string): number {
  peek(reader);
  const start = reader.at;
  const value = wholeNumber(reader, what);
  if (value > 0) return value;
  reader.at = start;
  throw wrong(reader, `${what}, 1 or more`);
}

function products(reader: Reader): Construction {
  if (++reader.depth > DEEPEST) throw wrong(reader, `at most ${DEEPEST} brackets inside each other`);
  const factors = [term(reader)];
  while (PRODUCT_SIGNS.has(peek(reader))) {
    reader.at++;
    factors.push(term(reader));
  }
  reader.depth--;
  return factors.length === 1 ? factors[0] : { kind: "product", factors };
}

function term(reader: Reader): Construction {
  let base = primary(reader);
  // a product sign with a number behind it is a power: a factor starts with no digit
  for (let nested = 0; ; nested++) {
    const sign = peek(reader);
    const isPower = sign === "^" || (sign === "□" && isDigit(reader.text[reader.at + 1] ?? ""));
    if (!isPower && sign !== "*") return base;
    if (nested === DEEPEST) throw wrong(reader, `at most ${DEEPEST} powers and expansions behind each other`);
    reader.at++;
    base = isPower
      ? { kind: "power", exponent: exponentOf(reader), base }
      : { kind: "degree", factor: positiveNumber(reader, "the factor of a degree expansion, a whole number"), base };
  }
}

/** Returns n of `n`, `□n`, `{n}` or `{□n}`. */
function exponentOf(reader: Reader): number {
  const inBraces = take(reader, "{");
  take(reader, "□");
  const exponent = positiveNumber(reader, "an exponent, a whole number");
  if (inBraces) need(reader, "}");
  return exponent;
}

function primary(reader: Reader): Construction {
  if (take(reader, "(")) {
    const inner = products(reader);
    need(reader, ")", '")" or a product sign ("x")');
    return inner;
  }
  peek(reader);
  const start = reader.at;
  const word = /^(?:[A-Za-z]+|Π)/.exec(reader.text.slice(start))?.[0] ?? "";
  if (word === "") throw wrong(reader, 'a graph such as K(4,4) or L2(K(5)), or "("');
  reader.at += word.length;
  return OPERATORS.has(word) && !isFamilyAhead(reader, word) ? operator(reader, word) : familyCall(reader, word, start);
}

/** Whether an operator's name goes on as a family's. */
const isFamilyAhead = (reader: Reader, word: string): boolean => {
  const digits = /^\d+/.exec(reader.text.slice(reader.at))?.[0] ?? "";
  return familyNamed(word + digits) !== null;
};

function operator(reader: Reader, word: string): Construction {
  const counted = word === "L";
  const times = counted && (take(reader, "^") || isDigit(peek(reader))) ? exponentOf(reader) : 1;
  need(reader, "(", counted ? '"(" after L, L2, L3 ...' : `"(" after ${word}`);
  const base = products(reader);
  need(reader, ")", '")" or a product sign ("x")');
  if (word === "L") return { kind: "line", times, base };
  return { kind: word === "T" ? "transpose" : "bidirectional", base };
}

/** Returns the family of a word, or of the word with the digits behind it (`LineTutte8`); these are then read over. */
function familyOf(reader: Reader, word: string, start: number): Family {
  const digits = /^\d+/.exec(reader.text.slice(reader.at))?.[0] ?? "";
  const long = digits === "" ? null : familyNamed(word + digits);
  if (long !== null) reader.at += digits.length;
  const found = long ?? familyNamed(word);
  if (found !== null) return found;
  reader.at = start;
  throw wrong(reader, `a family of graphs (see \`banyan list presets\`)${nearestFamily(word + digits)}`);
}

function familyCall(reader: Reader, word: string, start: number): Construction {
  const known = familyOf(reader, word, start);
  const parameters: number[] = [];
  const subscript = take(reader, "_");
  const next = peek(reader);
  let before: number | null = null;
  if (isDigit(next) && (subscript || /\S/.test(reader.text[reader.at - 1]))) {
    do parameters.push(wholeNumber(reader, "a whole number"));
    while (take(reader, ","));
  } else if (next === "(" || (subscript && next === "{")) {
    const close = next === "(" ? ")" : "}";
    reader.at++;
    before = numbers(reader, parameters, close);
  } else if (subscript) throw wrong(reader, 'a number or "{"');
  const expected = known.beforeBraces?.(parameters.length) ?? parameters.length;
  if (before !== null && before !== expected) {
    reader.at = start;
    throw wrong(reader, `${known.form} (braces elsewhere or none)`);
  }
  try {
    known.size(parameters);
  } catch (error) {
    reader.at = start;
    throw error instanceof Error ? ExpressionError.from(error, reader.text, start) : error;
  }
  return { kind: "family", family: known.name, parameters };
}

/** Reads numbers up to the closing bracket; returns how many stand before braces, null where there are none. */
function numbers(reader: Reader, parameters: number[], close: string): number | null {
  let before: number | null = null;
  if (take(reader, close)) return null;
  for (;;) {
    if (before === null && take(reader, "{")) {
      before = parameters.length;
      do parameters.push(wholeNumber(reader, "a whole number"));
      while (take(reader, ","));
      need(reader, "}", '"," or "}"');
    } else if (before !== null) throw wrong(reader, `"${close}" after the braces`);
    else parameters.push(wholeNumber(reader, "a whole number or braces"));
    if (take(reader, close)) return before;
    need(reader, ",", `"," or "${close}"`);
  }
}

/** Returns whether a word begins a construction: an operator's or a family's name. */
export const beginsConstruction = (word: string): boolean => OPERATORS.has(word) || familyNamed(word) !== null;

/** Returns how every family and expansion is written, with a line about it, for lists. */
export const CONSTRUCTION_FORMS: readonly {
  readonly name: string;
  readonly form: string;
  readonly description: string;
}[] = [
  ...FAMILIES.map(({ name, form, description }) => ({ name, form, description })),
  { name: "L", form: "L(G), L2(G), ...", description: "line graph of any graph G of this list, once or several times" },
  { name: "K(m)^n", form: "K(m)^n", description: "Cartesian power, of K(m) or any other graph" },
  { name: "K(m) x K(n)", form: "K(m) x K(n)", description: "Cartesian product, of these or any other graphs" },
  {
    name: "K(m)*n",
    form: "K(m)*n",
    description: "degree expansion: n copies of each node, all linked as the nodes were",
  },
  { name: "T", form: "T(G)", description: "any graph G with all links turned round" },
  { name: "Bi", form: "Bi(G)", description: "any graph G and its links turned round, together" },
];

/** Characters of an expression that are shown before and after the place of a mistake. */
const AROUND = 50;

/**
 * A malformed expression. The message's first line says what was expected and where; the next two show the expression with a
 * caret under the place.
 */
export class ExpressionError extends InputError {
  /** The two lines with the caret. */
  readonly excerpt: string;

  constructor(text: string, at: number, expected: string) {
    const place = `character ${at + 1} of the topology`;
    if (at < text.length) super(place, expected, text.slice(at));
    else super("the end of the topology", expected);
    this.name = "ExpressionError";
    this.excerpt = caretUnder(text, at);
    this.message = `${this.message}\n${this.excerpt}`;
  }

  /** Returns another error's sentence with the place in the expression that it is about. */
  static from(error: Error, text: string, at: number): ExpressionError {
    const placed = new ExpressionError(text, at, error instanceof InputError ? error.expected : "");
    placed.message = `${error.message}\n${placed.excerpt}`;
    return placed;
  }
}

/** Returns the expression, cut around the place, and a line with a caret below it. */
function caretUnder(text: string, at: number): string {
  const from = Math.max(0, at - AROUND);
  const to = Math.min(text.length, at + AROUND);
  const before = from > 0 ? "..." : "";
  const blank = (part: string): string => replaceHidden(part, () => " ").replace(/\s/g, " ");
  const [left, right] = [blank(text.slice(from, at)), blank(text.slice(at, to))];
  const after = to < text.length ? "..." : "";
  return `  ${before}${left}${right}${after}\n  ${" ".repeat(before.length + textWidth(left))}^`;
}
