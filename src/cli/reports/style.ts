import { randomInt } from "node:crypto";
import { visible } from "../../base/visible.ts";

/** The few styles of the reports; each returns the text as it is where colours are off. */
export interface Style {
  bold(text: string): string;
  dim(text: string): string;
  good(text: string): string;
  bad(text: string): string;
  /** A cell of a map of heat: dark for little, bright for much (a share, 0 to 1), letters that stand out on it. */
  shade(text: string, share: number): string;
}

/** Stands in our own sequences until a line goes out: a name that knew this number could colour itself, and none does. */
const OWN = randomInt(2 ** 47);
const OWN_SEQUENCE = new RegExp(`\\u001b\\[${OWN};((?:\\d+;)*\\d+m)`);

const wrap = (open: number | string, close: number | string) => (text: string) =>
  `\u001b[${OWN};${open}m${text}\u001b[${OWN};${close}m`;
const plain = (text: string): string => text;

/** Colours of the terminal's 256 that are like viridis, which the colour-blind can read; letters on the first ones are white. */
const SHADES: readonly number[] = [53, 54, 60, 24, 30, 36, 71, 113, 185, 227];
const BRIGHT_FROM = 5;

function shade(text: string, share: number): string {
  const step = Math.min(SHADES.length - 1, Math.floor(Math.max(0, share) * SHADES.length));
  return wrap(`48;5;${SHADES[step]};38;5;${step < BRIGHT_FROM ? 231 : 16}`, "49;39")(text);
}

/** Returns the styles for a terminal with colours, or without; `finished` makes the line that goes out of what they return. */
export function styleOf(colors: boolean): Style {
  if (!colors) return { bold: plain, dim: plain, good: plain, bad: plain, shade: plain };
  return { bold: wrap(1, 22), dim: wrap(2, 22), good: wrap(32, 39), bad: wrap(31, 39), shade };
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
