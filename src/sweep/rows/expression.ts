import { InputError } from "../../base/errors.ts";
import { optionName, type Place } from "../../base/option-names.ts";
import type { Cell, Row } from "../../model/sweep/task.ts";
import { didYouMean } from "../../model/topology/closest.ts";
import { amountOf, cellOf, compareTexts } from "./cells.ts";
import type { Column } from "./columns.ts";

/**
 * Conditions on rows: `us < 100 and (collective = allgather or size in (1MiB, 64MiB)) and not why like '%memory%'`. As in SQL,
 * what is compared with nothing is neither true nor false. Texts need quotes only where they have blanks, commas, brackets or
 * comparisons in them; a text that is a number or a size is compared as such with numbers and sizes.
 */

/** Whether a row fulfils a condition; null: it is neither true nor false. */
export type Condition = (row: Row) => boolean | null;

/** A piece of the text of a condition. */
interface Token {
  readonly kind: "word" | "text" | "column" | "sign" | "end";
  readonly text: string;
  /** Where it begins, from 1 on. */
  readonly at: number;
}

const PLAIN = /[^\s()<>=!,'"[\]]/u;
const SIGNS = ["<=", ">=", "!=", "<>", "==", "<", ">", "=", "(", ")", ","] as const;
const COMPARISONS: readonly string[] = ["<=", ">=", "!=", "<>", "==", "<", ">", "="];
const KEYWORDS: readonly string[] = ["and", "or", "not", "in", "like", "is", "null"];
const MOST_DEPTH = 200;
const MOST_LENGTH = 100_000;

const ENDS: Readonly<Record<string, string>> = { "'": "'", '"': '"', "[": "]" };

/** Returns the pieces of a text. Throws InputError with their place. */
export function tokensOf(text: string, option: string): Token[] {
  const place = (index: number): Place => optionName(option, `, column ${index + 1}`);
  if (text.length > MOST_LENGTH)
    throw new InputError(optionName(option), `at most ${MOST_LENGTH} letters`, text.length);
  const tokens: Token[] = [];
  for (let i = 0; i < text.length; ) {
    const letter = text[i] as string;
    const end = ENDS[letter];
    if (/\s/u.test(letter)) i++;
    else if (end !== undefined) {
      const start = i;
      let inside = "";
      for (i++; ; i++) {
        const at = text.indexOf(end, i);
        if (at < 0) throw new InputError(place(start), `closed by ${end}`, text.slice(start));
        inside += text.slice(i, at);
        i = at + 1;
        // twice is once, within
        if (text[i] !== end) break;
        inside += end;
      }
      tokens.push({ kind: end === "]" ? "column" : "text", text: inside, at: start + 1 });
    } else if (PLAIN.test(letter)) {
      const start = i;
      while (i < text.length && PLAIN.test(text[i] as string)) i++;
      tokens.push({ kind: "word", text: text.slice(start, i), at: start + 1 });
    } else {
      const sign = SIGNS.find((one) => text.startsWith(one, i));
      if (sign === undefined) throw new InputError(place(i), "a comparison such as <, = or !=", letter);
      tokens.push({ kind: "sign", text: sign, at: i + 1 });
      i += sign.length;
    }
  }
  tokens.push({ kind: "end", text: "", at: text.length + 1 });
  return tokens;
}

/** What is compared with a column. */
type Value =
  | { readonly kind: "column"; readonly column: Column }
  /** `amount`: it was written without quotes, and is a number or a size. */
  | { readonly kind: "text"; readonly text: string; readonly amount: number | null }
  | { readonly kind: "truth"; readonly truth: boolean };

/** Reads the tokens of one text against the columns there are. */
class Reader {
  readonly #tokens: readonly Token[];
  readonly #columns: ReadonlyMap<string, Column>;
  readonly #option: string;
  #next = 0;
  #depth = 0;

  constructor(tokens: readonly Token[], columns: readonly Column[], option: string) {
    this.#tokens = tokens;
    this.#columns = new Map(columns.map((column) => [column.name, column]));
    this.#option = option;
  }

  get token(): Token {
    return this.#tokens[this.#next] as Token;
  }

  take(): Token {
    const token = this.token;
    if (token.kind !== "end") this.#next++;
    return token;
  }

  isWord(word: string, { kind, text } = this.token): boolean {
    return kind === "word" && text.toLowerCase() === word;
  }

  takesWord(word: string): boolean {
    if (!this.isWord(word)) return false;
    this.#next++;
    return true;
  }

  takesSign(sign: string): boolean {
    if (this.token.kind !== "sign" || this.token.text !== sign) return false;
    this.#next++;
    return true;
  }

  refused(expected: string, token = this.token): InputError {
    const place = optionName(this.#option, `, column ${token.at}`);
    if (token.kind === "end")
      return new InputError(place, expected).saying(`${this.#optionText()} ends where it needs ${expected}`);
    return new InputError(place, expected, token.text);
  }

  #optionText(): string {
    return `${optionName(this.#option)}`;
  }

  deeper<T>(work: () => T): T {
    if (++this.#depth > MOST_DEPTH) throw this.refused(`within at most ${MOST_DEPTH} brackets and "not"s`);
    const result = work();
    this.#depth--;
    return result;
  }

  /** Reads the name of a column. */
  column(): Column {
    const token = this.token;
    if (token.kind === "sign" || token.kind === "end") throw this.refused("the name of a column");
    const column = this.#columns.get(token.text);
    if (column === undefined)
      throw unknownColumn(optionName(this.#option, `, column ${token.at}`), token.text, [...this.#columns.keys()]);
    this.#next++;
    return column;
  }

  /** Reads what a column is compared with. */
  value(): Value {
    const token = this.token;
    if (token.kind === "sign" || token.kind === "end") throw this.refused("a number, a text or a column");
    if (token.kind === "column") return { kind: "column", column: this.column() };
    if (token.kind === "text") {
      this.#next++;
      return { kind: "text", text: token.text, amount: null };
    }
    if (KEYWORDS.includes(token.text.toLowerCase()))
      throw this.refused(
        this.isWord("null")
          ? 'after "is", as in `why is null`'
          : `a number, a text or a column (in quotes: "${token.text}")`,
      );
    const column = this.#columns.get(token.text);
    if (column !== undefined) return { kind: "column", column: this.column() };
    this.#next++;
    if (/^(?:true|false)$/i.test(token.text)) return { kind: "truth", truth: /^true$/i.test(token.text) };
    return { kind: "text", text: token.text, amount: amountOf(token.text) };
  }
}

/** Returns the error for a name that no column has. */
export function unknownColumn(place: Place, name: string, names: readonly string[]): InputError {
  const near = didYouMean(name, names);
  const expected = near === "" ? `one of the columns ${names.join(", ")}` : `a column${near}`;
  return new InputError(place, expected, name).as("unknown-name");
}

type Test = (a: Cell, b: Cell) => number | null;

/** Returns the order of a cell and a literal or another cell; null where they cannot be compared. */
const orderOf = (value: Value): Test => {
  if (value.kind === "truth") return (a) => (typeof a === "boolean" ? Number(a) - Number(value.truth) : null);
  if (value.kind === "column") return compareAny;
  const { text, amount } = value;
  if (amount === null) {
    const own = amountOf(text);
    // in quotes it is a number to a column of numbers only
    return (a) =>
      typeof a === "number"
        ? own === null
          ? compareTexts(`${a}`, text)
          : a - own
        : a === null
          ? null
          : compareTexts(`${a}`, text);
  }
  return (a) => {
    if (typeof a === "number") return a - amount;
    if (typeof a !== "string") return null;
    if (a === text) return 0;
    const own = amountOf(a);
    return own === null ? null : own - amount;
  };
};

const compareAny: Test = (a, b) => {
  if (a === null || b === null) return null;
  if (typeof a === "number" && typeof b === "number") return a - b;
  if (typeof a === "boolean" && typeof b === "boolean") return Number(a) - Number(b);
  const [x, y] = [amountIn(a), amountIn(b)];
  if (x !== null && y !== null) return x - y;
  return compareTexts(`${a}`, `${b}`);
};

const amountIn = (cell: Cell): number | null =>
  typeof cell === "number" ? cell : typeof cell === "string" ? amountOf(cell) : null;

/** Throws InputError where a value can never be compared with a column. */
function checkKinds(reader: Reader, column: Column, value: Value, token: Token): void {
  if (value.kind === "column" || column.type === "none" || column.type === "mixed") return;
  if (value.kind === "truth" ? column.type === "boolean" : column.type !== "boolean") {
    if (column.type !== "number" || value.kind === "truth" || amountOf(value.text) !== null) return;
    throw reader.refused(`a number or a size, as ${column.name} has them`, token);
  }
  if (value.kind === "truth" && column.type === "text") return;
  throw reader.refused(column.type === "boolean" ? "true or false" : `a number, as ${column.name} has them`, token);
}

/** A truth as a text, for columns of texts. */
const asText = (value: Value, column: Column): Value =>
  value.kind === "truth" && column.type === "text" ? { kind: "text", text: `${value.truth}`, amount: null } : value;

const HOLDS: Readonly<Record<string, (order: number) => boolean>> = {
  "<": (order) => order < 0,
  "<=": (order) => order <= 0,
  ">": (order) => order > 0,
  ">=": (order) => order >= 0,
  "=": (order) => order === 0,
  "==": (order) => order === 0,
  "!=": (order) => order !== 0,
  "<>": (order) => order !== 0,
};

/** Returns the comparison of a column with what is read next. */
function comparison(reader: Reader, column: Column, sign: string): Condition {
  const token = reader.token;
  const read = reader.value();
  checkKinds(reader, column, read, token);
  const value = asText(read, column);
  const order = orderOf(value);
  const holds = HOLDS[sign] as (order: number) => boolean;
  const { name } = column;
  const isEquality = !/[<>](?!>)/.test(sign) || sign === "<>";
  return (row) => {
    const cell = cellOf(row, name);
    if (cell === null) return null;
    const other = value.kind === "column" ? cellOf(row, value.column.name) : null;
    if (value.kind === "column" && other === null) return null;
    const found = order(cell, other);
    // a text that is no amount differs from every amount, and is not less nor more
    if (found === null) return isEquality ? sign === "!=" || sign === "<>" : null;
    return holds(found);
  };
}

/** Returns whether a text is like a pattern, in which % stands for any letters and _ for one. O(text * pattern). */
export function isLike(text: string, pattern: string): boolean {
  const letters = [...text];
  const wanted = [...pattern];
  let [i, j] = [0, 0];
  let [star, from] = [-1, 0];
  while (i < letters.length) {
    if (wanted[j] === "%") {
      star = j++;
      from = i;
    } else if (j < wanted.length && (wanted[j] === "_" || wanted[j] === letters[i])) {
      i++;
      j++;
    } else if (star >= 0) {
      j = star + 1;
      i = ++from;
    } else return false;
  }
  while (wanted[j] === "%") j++;
  return j === wanted.length;
}

const negated =
  (condition: Condition): Condition =>
  (row) => {
    const found = condition(row);
    return found === null ? null : !found;
  };

/** True where one is true; else null where one is null. */
const anyOf = (conditions: readonly Condition[]): Condition => {
  if (conditions.length === 1) return conditions[0] as Condition;
  return (row) => {
    let result: boolean | null = false;
    for (const condition of conditions) {
      const found = condition(row);
      if (found === true) return true;
      if (found === null) result = null;
    }
    return result;
  };
};

const allOf = (conditions: readonly Condition[]): Condition =>
  conditions.length === 1 ? (conditions[0] as Condition) : negated(anyOf(conditions.map(negated)));

function readAny(reader: Reader): Condition {
  const found = [readAll(reader)];
  while (reader.takesWord("or")) found.push(readAll(reader));
  return anyOf(found);
}

function readAll(reader: Reader): Condition {
  const found = [readNot(reader)];
  while (reader.takesWord("and")) found.push(readNot(reader));
  return allOf(found);
}

function readNot(reader: Reader): Condition {
  if (reader.takesWord("not")) return negated(reader.deeper(() => readNot(reader)));
  if (!reader.takesSign("(")) return readPredicate(reader);
  const inside = reader.deeper(() => readAny(reader));
  if (!reader.takesSign(")")) throw reader.refused("and, or, or a closing bracket");
  return inside;
}

function readPredicate(reader: Reader): Condition {
  const column = reader.column();
  const { name } = column;
  if (reader.takesWord("is")) {
    const isNot = reader.takesWord("not");
    if (!reader.takesWord("null")) throw reader.refused("null");
    return (row) => (cellOf(row, name) === null) !== isNot;
  }
  const isNot = reader.isWord("not");
  if (isNot) reader.take();
  if (reader.takesWord("in")) {
    if (!reader.takesSign("(")) throw reader.refused("a list in brackets");
    const all = [comparison(reader, column, "=")];
    while (reader.takesSign(",")) all.push(comparison(reader, column, "="));
    if (!reader.takesSign(")")) throw reader.refused("a comma or a closing bracket");
    return isNot ? negated(anyOf(all)) : anyOf(all);
  }
  if (reader.takesWord("like")) {
    const { kind, text } = reader.token;
    if (kind !== "text" && kind !== "word") throw reader.refused("a pattern such as 'mesh%'");
    reader.take();
    const like: Condition = (row) => {
      const cell = cellOf(row, name);
      return cell === null ? null : isLike(`${cell}`, text);
    };
    return isNot ? negated(like) : like;
  }
  if (isNot) throw reader.refused("in or like");
  const { kind, text } = reader.token;
  if (kind === "sign" && COMPARISONS.includes(text)) {
    reader.take();
    return comparison(reader, column, text);
  }
  if (column.type !== "boolean") throw reader.refused(`a comparison behind ${name}, such as <, = or in (...)`);
  return (row) => {
    const cell = cellOf(row, name);
    return typeof cell === "boolean" ? cell : null;
  };
}

/** Returns the condition that a text says of rows with these columns. Throws InputError with the column of the text. */
export function readCondition(text: string, columns: readonly Column[], option: string): Condition {
  const reader = new Reader(tokensOf(text, option), columns, option);
  const condition = readAny(reader);
  if (reader.token.kind !== "end") throw reader.refused("and, or, or the end");
  return condition;
}

/** Yields the parts of a list with where they begin, from 0 on; commas within quotes and brackets part nothing. */
function* partsOf(text: string): Generator<{ readonly text: string; readonly at: number }> {
  let [from, depth, quote] = [0, 0, ""];
  for (let i = 0; i <= text.length; i++) {
    const letter = text[i] ?? ",";
    if (quote !== "") {
      if (letter === quote) quote = "";
    } else if (letter === "'" || letter === '"') quote = letter;
    else if ("([{".includes(letter)) depth++;
    else if (")]}".includes(letter)) depth--;
    if (i === text.length || (letter === "," && depth <= 0 && quote === "")) {
      yield { text: text.slice(from, i), at: from };
      from = i + 1;
    }
  }
}

/**
 * Returns the condition that "topology=mesh:4x4, without=3>4" says of rows: all of what is listed. A value goes to the next comma
 * outside of brackets, or stands in quotes; null is nothing. Throws InputError.
 */
export function readCell(text: string, columns: readonly Column[], option: string): Condition {
  const all: Condition[] = [];
  for (const part of partsOf(text)) {
    const place = optionName(option, `, column ${part.at + 1 + (part.text.length - part.text.trimStart().length)}`);
    const sign = part.text.indexOf("=");
    const name = part.text.slice(0, Math.max(0, sign)).trim();
    const value =
      sign < 0
        ? ""
        : part.text
            .slice(sign + 1)
            .replace(/^=/, "")
            .trim();
    const column = columns.find((one) => one.name === name);
    if (name === "" || value === "") throw new InputError(place, "COLUMN=VALUE, as in size=1MiB", part.text.trim());
    if (column === undefined)
      throw unknownColumn(
        place,
        name,
        columns.map((one) => one.name),
      );
    const [, , inside] = /^(['"])(.*)\1$/s.exec(value) ?? [];
    if (value === "null" && column.type !== "none") all.push((row) => cellOf(row, name) === null);
    else all.push((row) => isThatCell(cellOf(row, name), inside ?? value, inside !== undefined));
  }
  return allOf(all);
}

/** Returns whether a cell is what a text says; of one without quotes the amount counts too. */
function isThatCell(cell: Cell, text: string, isQuoted: boolean): boolean {
  if (cell === null) return false;
  if (`${cell}` === text) return true;
  const amount = isQuoted && typeof cell === "string" ? null : amountOf(text);
  return amount !== null && amountIn(cell) === amount;
}
