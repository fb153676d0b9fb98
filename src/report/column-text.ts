import { formatSize, TERA } from "../model/numbers/units.ts";
import { gbpsText, percent, significant, timeText } from "./amounts.ts";

/** Figures of columns that have their unit in their names. */

const SHARE = /of_(?:class_)?limit$|utilisation$|_share$/;
const DIGITS = 5;

/** Returns a figure for a table whose head has the unit: whole numbers as they are, others with five digits. */
export function cellText(value: string | number | boolean | null, column: string): string {
  if (value === null) return "-";
  if (typeof value !== "number") return `${value}`;
  if (SHARE.test(column)) return percent(value);
  if (Number.isInteger(value)) return `${value}`;
  return Math.abs(value) >= 1e6 || Math.abs(value) < 1e-4 ? value.toPrecision(DIGITS) : significant(value, DIGITS);
}

/** Returns what writes a column's figures with their units, as pictures have them. */
export function figureText(column: string): (value: number) => string {
  if (/(?:^|_)us(?:_|$)/.test(column)) return (value) => (value < 0 ? `-${time(-value)}` : time(value));
  if (/GBps/.test(column)) return gbpsText;
  if (SHARE.test(column)) return percent;
  if (/(?:^|_)(?:size|bytes)$/.test(column))
    return (value) => (value >= 1 ? formatSize(Math.round(value)) : `${value}`);
  return shortNumber;
}

/** Returns "1.234 ms": four digits. */
const time = (us: number): string => timeText(Number(us.toPrecision(4)));

/** Returns "1.5 M": four digits at most. */
function shortNumber(value: number): string {
  const size = Math.abs(value);
  if (size >= 1e15 || (size > 0 && size < 1e-3)) return value.toExponential(2);
  for (const [unit, factor] of [
    ["T", TERA],
    ["G", 1e9],
    ["M", 1e6],
  ] as const)
    if (size >= factor) return `${Number((value / factor).toPrecision(4))} ${unit}`;
  return String(Number(value.toPrecision(5)));
}
