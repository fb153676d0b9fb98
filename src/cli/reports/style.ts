import { randomInt } from "node:crypto";
import { visible } from "../../base/visible.ts";

/** The few styles of the reports; each returns the text as it is where colours are off. */
export interface Style {
  bold(text: string): string;
  dim(text: string): string;
  good(text: string): string;
  bad(text: string): string;
}

/** Stands in our own sequences until a line goes out: a name that knew this number could colour itself, and none does. */
const OWN = randomInt(2 ** 47);
const OWN_SEQUENCE = new RegExp(`\\u001b\\[${OWN};(\\d+m)`);

const wrap = (open: number, close: number) => (text: string) => `\u001b[${OWN};${open}m${text}\u001b[${OWN};${close}m`;
const plain = (text: string): string => text;

/** Returns the styles for a terminal with colours, or without; `finished` makes the line that goes out of what they return. */
export function styleOf(colors: boolean): Style {
  if (!colors) return { bold: plain, dim: plain, good: plain, bad: plain };
  return { bold: wrap(1, 22), dim: wrap(2, 22), good: wrap(32, 39), bad: wrap(31, 39) };
}

/** Returns a line as it goes out: our own styles, and of all else what can be seen. */
export const finished = (line: string): string =>
  line
    .split(OWN_SEQUENCE)
    .map((piece, i) => (i % 2 === 0 ? visible(piece) : `\u001b[${piece}`))
    .join("");

/** Returns a line without our own styles. */
export const unstyled = (line: string): string =>
  line
    .split(OWN_SEQUENCE)
    .filter((_, i) => i % 2 === 0)
    .join("");
