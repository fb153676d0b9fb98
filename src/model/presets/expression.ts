import { InputError, inWords, shown } from "../../base/errors.ts";
import { PS_PER_US, parseBandwidth, parseTime, ratesMeant, timeMeant } from "../numbers/units.ts";

/** One factor of a preset expression, `name:arguments`. */
export interface Factor {
  readonly name: string;
  /** The text after the colon; empty when there is none. */
  readonly args: string;
}

/** A preset expression taken apart: factors joined by `*`, and the figures after `@`. */
export interface Expression {
  /** The whole text, trimmed. */
  readonly text: string;
  readonly factors: readonly Factor[];
  /** Bytes per second, in the order written; empty when none is given. */
  readonly bandwidths: readonly number[];
  /** Picoseconds, in the order written; empty when none is given. */
  readonly latencies: readonly number[];
}

/** Where no figure is given: 50 GB/s and 0.5 us a link. */
export const DEFAULT_BYTES_PER_SECOND = 50e9;
export const DEFAULT_LATENCY_PS = PS_PER_US / 2;

/** Largest network a preset builds; beyond it the expression is refused with its estimate. */
export const MAX_LINKS = 1e7;

/** Longer expressions are refused: sentences quote them. */
const LONGEST = 500;

const TIME_UNITS = new Set(["ps", "ns", "us", "µs", "ms", "s"]);

/**
 * Returns bandwidths and latencies of a list such as `200,100,50GB/s,0.5us`: distinguished by unit; a number without a unit
 * takes the unit of the next one that has it. Throws InputError.
 */
function figures(list: string, text: string): { bandwidths: number[]; latencies: number[] } {
  if (list.includes("@"))
    throw new InputError(text, 'figures behind one "@", joined by commas', list).saying(
      `${text} has more than one @; did you mean ${shown(`${text.slice(0, text.indexOf("@") + 1)}${list.replaceAll("@", ",")}`)}?`,
    );
  const items = list.split(",").map((item) => item.trim());
  const place = (i: number): string => `value ${i + 1} after "@" in ${text}`;
  const bandwidths: number[] = [];
  const latencies: number[] = [];
  let unit = "";
  if (items.length === 2 && items.every((item) => /^(?:\d+\.?\d*|\.\d+)$/.test(item))) {
    const [rate, time] = items;
    throw new InputError(text, 'a bandwidth such as "50GB/s" and a latency such as "0.5us"', list).saying(
      `${text} has figures without units; did you mean ${shown(`${text.slice(0, text.indexOf("@"))}@${rate}GB/s,${time}us`)} (or ${rate}Gbps)?`,
    );
  }
  for (let i = items.length - 1; i >= 0; i--) {
    const [, number = "", ownUnit = ""] = /^([+-]?[\d.]*(?:[eE][+-]?\d+)?)\s*(.*)$/.exec(items[i]) ?? [];
    unit = ownUnit === "" ? unit : ownUnit;
    if (number === "" || unit === "") {
      const refusal = new InputError(place(i), 'a bandwidth such as "50GB/s" or a latency such as "0.5us"', items[i]);
      // behind a bandwidth a lone number is most likely a latency
      const isBehindRate = items.slice(0, i).some((item) => /b(?:ps|it|\/s)/i.test(item));
      const meant = number !== "" && isBehindRate ? latencyMeant(number) : ratesMeant(number);
      throw meant === "" ? refusal : refusal.saying(`${place(i)} is ${number} without a unit${meant}`);
    }
    if (/^[munp]$/.test(unit)) {
      const rates = unit === "m" ? ` or ${number}Mbps` : "";
      throw new InputError(place(i), 'a bandwidth such as "50GB/s" or a latency such as "0.5us"', items[i]).saying(
        `${place(i)} is ${shown(items[i])}, which has no unit that is clear; did you mean ${number}${unit}s${rates}?`,
      );
    }
    // "@50,0.5us": 50 has no unit of its own, and must not be read as 50 us.
    if (ownUnit === "" && TIME_UNITS.has(unit) && !items.slice(0, i).some((item) => /[A-Za-z]/.test(item))) {
      throw new InputError(place(i), 'a bandwidth with its unit, such as "50GB/s", before the latency', items[i]);
    }
    if (TIME_UNITS.has(unit) || timeMeant(number + unit) !== "") latencies.unshift(parseTime(number + unit, place(i)));
    else bandwidths.unshift(parseBandwidth(number + unit, place(i)));
  }
  return { bandwidths, latencies };
}

/** Returns what a number behind a bandwidth may have meant, as a hint. */
const latencyMeant = (number: string): string =>
  `; did you mean ${number}us (a latency) or ${number}GB/s (the next dimension's bandwidth)?`;

/** Returns the parts of a preset expression; names and arguments are not yet checked. Throws InputError. */
export function parseExpression(expression: string): Expression {
  const text = expression.trim();
  if (text === "") throw new InputError("the topology", "a preset expression such as mesh:4x4", expression);
  if (/\p{Cc}/u.test(text)) throw new InputError("the topology", "a preset expression in one line", text);
  if (text.length > LONGEST)
    throw new InputError("the topology", `at most ${LONGEST} characters`, text).as("out-of-range");
  const at = text.indexOf("@");
  const head = at < 0 ? text : text.slice(0, at);
  const factors = head.split("*").map((part) => {
    const colon = part.indexOf(":");
    const comma = part.indexOf(",");
    const end = colon < 0 ? comma : comma < 0 ? colon : Math.min(colon, comma);
    return end < 0
      ? { name: part.trim(), args: "" }
      : { name: part.slice(0, end).trim(), args: part.slice(part[end] === ":" ? end + 1 : end).trim() };
  });
  const figured = at < 0 ? { bandwidths: [], latencies: [] } : figures(text.slice(at + 1), text);
  return { text, factors, ...figured };
}

/** Returns the positive whole number that `digits` writes ("8", "1e3"). Throws InputError. */
export function count(digits: string, what: string, text: string): number {
  const value = /^\d{1,15}(?:e\d{1,2})?$/i.test(digits) ? Number(digits) : Number.NaN;
  if (!Number.isInteger(value) || value < 1) {
    const refusal = new InputError(`${what} in ${text}`, "a whole number, 1 or more", digits).as("out-of-range");
    throw digits === ""
      ? refusal.saying(`${what} in ${text} is missing; it must be a whole number, 1 or more`)
      : refusal;
  }
  return value;
}

/** Presets that have more than one size. */
const OF_SEVERAL_SIZES: ReadonlySet<string> = new Set(["mesh", "grid", "torus", "dragonfly", "fat-tree"]);

/** Returns the sizes of `4x4x8`. Throws InputError. */
export function sizes(factor: Factor, text: string): number[] {
  const what = `a size of ${factor.name}`;
  const { name, args } = factor;
  if (args === "") {
    const [needed, example] = OF_SEVERAL_SIZES.has(name) ? ["sizes", "4x4"] : ["a size", "8"];
    throw new InputError(`the size of ${name} in ${text}`, `${name}:SIZE`, text).saying(
      `${name}${name === text ? "" : ` in ${shown(text)}`} needs ${needed}, such as ${name}:${example}`,
    );
  }
  if (/^[\dx\s]*\d,[\dx,\s]*$/.test(args))
    throw new InputError(what, "sizes joined by x", args).saying(
      `${name}:${args} joins its sizes by commas; did you mean "${name}:${args.replace(/\s*,\s*/g, "x")}"?`,
    );
  if (/^x|xx|x$/.test(args)) {
    const where = args.endsWith("x") ? "behind its last" : args.startsWith("x") ? "before its first" : "between two";
    throw new InputError(`${what} in ${text}`, "a whole number, 1 or more", "")
      .as("out-of-range")
      .saying(`${text} lacks a size ${where} x`);
  }
  return args.split("x").map((size) => count(size.trim(), what, text));
}

/** Returns the error for a preset with another number of sizes than its form has. */
export const sizesError = (text: string, form: string, { length }: readonly number[]): InputError =>
  new InputError(text, form, inWords(`${length} sizes`)).saying(
    `${text} has ${length} ${length === 1 ? "size" : "sizes"}; it must be ${form}`,
  );

/** Returns `values` stretched to `length`: one value serves all, none means `fallback`. Throws InputError. */
export function perDimension(
  values: readonly number[],
  length: number,
  fallback: number,
  what: string,
  text: string,
): readonly number[] {
  if (values.length === length) return values;
  if (values.length > 1) {
    const expected = length === 1 ? `one ${what}` : `one ${what} or ${length} (one per dimension)`;
    throw new InputError(text, expected, inWords(`${values.length} values`));
  }
  return new Array<number>(length).fill(values.length === 1 ? values[0] : fallback);
}

/** Throws InputError when a network of about `links` links is more than a preset builds. */
export function refuseHuge(links: number, text: string): void {
  if (links <= MAX_LINKS) return;
  const about =
    links < 1e15 ? `about ${links}` : links < Infinity ? `about ${links.toExponential(1)}` : "more than 1e308";
  throw new InputError(text, `at most ${MAX_LINKS} links`, inWords(`${about} links`)).as("out-of-range");
}
