import { unlessRefused } from "../../base/errors.ts";
import { parseSize } from "../../model/numbers/units.ts";
import type { Cell, Row } from "../../model/sweep/task.ts";

/** Returns the cell of a column; null where a row has none, whatever the column is called. */
export function cellOf(row: Row, column: string): Cell {
  const value = row[column] as unknown;
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean" ? value : null;
}

const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i;
const SIZE = /^\d+(?:\.\d+)?\s*(?:[KMGT]i?)?B?$/i;

const amounts = new Map<string, number | null>();
const MOST_KNOWN = 10_000;

/** Returns the number that a text is, or the bytes of a size such as 64MiB; null where it is neither. */
export function amountOf(text: string): number | null {
  const known = amounts.get(text);
  if (known !== undefined) return known;
  const amount = NUMBER.test(text)
    ? Number(text)
    : SIZE.test(text)
      ? unlessRefused(() => parseSize(text, "size"))
      : null;
  if (amounts.size >= MOST_KNOWN) amounts.clear();
  amounts.set(text, amount);
  return amount;
}

/** Returns which of two texts comes first by the numbers of their letters: negative for the first. */
export function compareTexts(a: string, b: string): number {
  if (a === b) return 0;
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    if (a.charCodeAt(i) === b.charCodeAt(i)) continue;
    const [x, y] = [rank(a.charCodeAt(i)), rank(b.charCodeAt(i))];
    return x - y;
  }
  return a.length - b.length;
}

/** Halves of a pair come after all letters that need none, as in UTF-8. */
const rank = (unit: number): number => (unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit);

/** Returns which of two texts comes first for people: numbers and sizes by their amount and first, "node9" before "node10". */
export function comparePeople(a: string, b: string): number {
  const [x, y] = [amountOf(a), amountOf(b)];
  if (x !== null && y !== null) return x - y || compareTexts(a, b);
  if (x !== null || y !== null) return x !== null ? -1 : 1;
  const [left, right] = [pieces(a), pieces(b)];
  for (let i = 0; i < Math.min(left.length, right.length); i++) {
    const [p, q] = [left[i] as string, right[i] as string];
    // pieces take turns: letters, digits, letters ...
    const order = i % 2 === 1 ? p.replace(/^0+/, "").length - q.replace(/^0+/, "").length : 0;
    const found =
      order || (i % 2 === 1 ? compareTexts(p.replace(/^0+/, ""), q.replace(/^0+/, "")) : compareTexts(p, q));
    if (found !== 0) return found;
  }
  return left.length - right.length || compareTexts(a, b);
}

const pieces = (text: string): string[] => text.split(/(\d+)/);

const KINDS: Readonly<Record<string, number>> = { boolean: 0, number: 1, string: 2 };

/** Returns which of two cells comes first: false before true, numbers before texts, nothing last. */
export function compareCells(a: Cell, b: Cell): number {
  if (a === b) return 0;
  if (a === null || b === null) return a === null ? 1 : -1;
  if (typeof a === "string" && typeof b === "string") return comparePeople(a, b);
  if (typeof a === typeof b) return Number(a) - Number(b);
  return (KINDS[typeof a] as number) - (KINDS[typeof b] as number);
}
