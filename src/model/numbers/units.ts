import { InputError, type Mistake, shown } from "../../base/errors.ts";
import { optionName, type Place } from "../../base/option-names.ts";
import { divide, type Rational, rational } from "./rational.ts";

/**
 * Units of measurement: every conversion of the project. Inside, bandwidths are whole bytes per second, times whole
 * picoseconds, sizes whole bytes, all as doubles that hold exact integers (at most 2^53 - 1).
 * GB = 1e9 bytes, GiB = 2^30 bytes; Gb (Gbps) = 1e9 bits.
 */

export const PS_PER_NS = 1000;
export const PS_PER_US = 1_000_000;
export const PS_PER_SECOND = 1_000_000_000_000;
/** Of "TFLOP/s". */
export const TERA = 1e12;

const PREFIXES = ["", "K", "M", "G", "T"] as const;
/** Returns the factor of a prefix: powers of 1000, or of 1024. */
const prefixed = (prefix: string, binary: boolean): bigint =>
  (binary ? 1024n : 1000n) ** BigInt(PREFIXES.indexOf(prefix.toUpperCase() as (typeof PREFIXES)[number]));

const TIME_UNITS_PS: ReadonlyMap<string, bigint> = new Map(
  Object.entries({
    ps: 1n,
    ns: 10n ** 3n,
    us: 10n ** 6n,
    "\u00b5s": 10n ** 6n, // the micro sign
    "\u03bcs": 10n ** 6n, // the Greek letter
    usec: 10n ** 6n,
    ms: 10n ** 9n,
    msec: 10n ** 9n,
    s: 10n ** 12n,
    sec: 10n ** 12n,
    second: 10n ** 12n,
    seconds: 10n ** 12n,
    min: 60n * 10n ** 12n,
    h: 3600n * 10n ** 12n,
  }),
);

/** Returns a non-negative decimal ("12.5", "1e3") as an exact fraction, or null. */
function decimal(text: string): Rational | null {
  const match = /^(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,2}))?$/.exec(text);
  if (match === null) return null;
  const fraction = match[2] ?? "";
  const exponent = Number(match[3] ?? "0") - fraction.length;
  const digits = BigInt((match[1] as string) + fraction);
  return exponent >= 0 ? rational(digits * 10n ** BigInt(exponent)) : rational(digits, 10n ** BigInt(-exponent));
}

/** Splits "12.5GB/s" into its number and its unit; null when it is not a number followed by letters. */
function split(text: string): { value: Rational; unit: string } | null {
  const match = /^\s*([\d.]+(?:[eE][+-]?\d+)?)\s*([A-Za-z\u00b5\u03bc/]*)\s*$/.exec(text);
  if (match === null) return null;
  const value = decimal(match[1] as string);
  return value === null ? null : { value, unit: match[2] as string };
}

/** Returns the fraction rounded to the nearest integer (half up) as a double; throws when it leaves 2^53 - 1. */
function wholeNumber(
  value: Rational,
  place: Place,
  expected: string,
  received: unknown,
  mistake: Mistake = "unexpected",
): number {
  const rounded = (2n * value.num + value.den) / (2n * value.den);
  if (rounded > BigInt(Number.MAX_SAFE_INTEGER)) throw new InputError(place, expected, received).as(mistake);
  return Number(rounded);
}

/** Bytes or bits per second: "GB/s", "GiB/s", "GBps", "Gb/s", "Gbit/s", "Gbps", "gbps". */
const RATE = /^([KkMGTmgt]?)(i?)(B|[Bb]ytes?|b|[Bb]its?)(ps|\/s|\/sec)$/;

/** Returns bytes per second of one of a unit; null for none, and for "gb/s", which may be bits or bytes. */
function rateOf(unit: string): Rational | null {
  const [, prefix, binary, what, per] = RATE.exec(unit) ?? [];
  if (prefix === undefined || (/[mgt]/.test(prefix) && what === "b" && per !== "ps")) return null;
  const factor = prefixed(prefix, binary === "i");
  return /^(?:B|bytes?)$/i.test(what as string) && what !== "b" ? rational(factor) : rational(factor, 8n);
}

/** Returns what a bandwidth without a unit that is known may have meant, as a hint: "400Gbps or 400GB/s", "100GB/s" for "100GBs". */
export function ratesMeant(text: string): string {
  const [, rate, what] = /^\s*([\d.]+\s*[KMGT]?i?)([Bb])(?:s|ps\/s)\s*$/.exec(text) ?? [];
  if (rate !== undefined) return `; did you mean ${rate}${what === "B" ? "B/s" : "bps"}?`;
  const [, number, prefix = "G"] = /^\s*([\d.]+)\s*([KMGT]?)(?:b(?:\/s)?)?\s*$/i.exec(text) ?? [];
  if (number === undefined || decimal(number) === null) return "";
  const unit = prefix === "" ? "G" : prefix.toUpperCase();
  return `; did you mean ${number}${unit}bps (bits) or ${number}${unit}B/s (bytes)?`;
}

/** Returns bytes per second for "25GB/s", "50GiB/s", "400Gbps", "400 Gbit/s"; at least 1. Throws InputError. */
export function parseBandwidth(text: string, place: Place = "bandwidth"): number {
  const expected = 'a positive bandwidth such as "25GB/s", "50GiB/s" or "400Gbps"';
  const parts = split(text);
  const scale = parts === null ? null : rateOf(parts.unit);
  if (parts === null || scale === null) {
    const [refusal, meant] = [new InputError(place, expected, text), ratesMeant(text)];
    throw meant === ""
      ? refusal
      : refusal.saying(`${place} is ${shown(text)}, which has no unit that is clear${meant}`);
  }
  const perSecond = wholeNumber(
    rational(parts.value.num * scale.num, parts.value.den * scale.den),
    place,
    "a bandwidth of at most 2^53 - 1 bytes per second (about 9 PB/s)",
    text,
  );
  if (perSecond < 1) throw new InputError(place, expected, text);
  return perSecond;
}

/** Returns what a time whose unit is written in other words meant, as a hint: "1s" for "1sec"; nothing for what is no time. */
export function timeMeant(text: string): string {
  const [, number, prefix = ""] =
    /^\s*([\d.]+)\s*([munp\u00b5\u03bc]|milli|micro|nano|pico)?s(?:ecs?|econds?)?\s*$/i.exec(text) ?? [];
  if (number === undefined) return "";
  return `; did you mean ${number}${/^micro$/i.test(prefix) ? "u" : prefix.slice(0, 1).toLowerCase()}s?`;
}

/** Returns whole picoseconds for "0.5us", "700ns", "2 ms"; zero is allowed. `usual`: the unit of a bare number. Throws InputError. */
export function parseTime(text: string, place: Place = "latency", usual?: "s"): number {
  const expected =
    usual === undefined ? 'a time such as "0.5us" or "700ns"' : 'a time such as "5s", "500ms" or "5" (seconds)';
  const parts = split(text);
  const scale = parts === null ? undefined : TIME_UNITS_PS.get(parts.unit || (usual ?? ""));
  if (parts === null || scale === undefined) {
    const refusal = new InputError(place, expected, text);
    if (parts !== null && parts.unit === "")
      throw refusal.saying(`${place} is ${text.trim()} without a unit; did you mean ${text.trim()}us?`);
    const meant = timeMeant(text);
    throw meant === ""
      ? refusal
      : refusal.saying(`${place} is ${shown(text)}, which has no unit that is clear${meant}`);
  }
  return wholeNumber(rational(parts.value.num * scale, parts.value.den), place, expected, text);
}

/** Bytes: "GiB", "GB", "gb", and "G" as nccl-tests read it, a power of two; "Gb" would be bits. */
const SIZE = /^([kmgt]?)(?:(i?)(b|bytes?))?$/i;

/** Returns the bytes of one of a unit of sizes; null for none. */
function bytesOf(unit: string): bigint | null {
  const [, prefix, binary, what] = SIZE.exec(unit) ?? [];
  if (prefix === undefined || /^[KMGT]b$/.test(unit)) return null;
  return prefixed(prefix, what === undefined || binary !== "");
}

function isSize(text: string): boolean {
  const parts = split(text);
  return parts !== null && bytesOf(parts.unit) !== null;
}

/** Returns the sizes of a list ("1MiB,256MiB"), joined by commas; null for one size, and for "1,5GiB", which has a decimal comma. */
function listOfSizes(text: string): string | null {
  const sizes = text.split(",").map((size) => size.trim());
  if (sizes.length < 2 || !sizes.every(isSize)) return null;
  const isDecimal = sizes.length === 2 && /^\d+$/.test(sizes[0]) && !/^\d+$/.test(sizes[1]);
  return isDecimal ? null : sizes.join(",");
}

/** Returns what a size with a decimal comma ("1.5GiB" for "1,5GiB"), or a range in a list of sizes ("1M,1G" for "1M-1G"), meant; null for others. */
function sizesMeant(text: string, place: Place): string | null {
  const [first = "", second = "", ...others] = text.split(/\s*(?:-|\.{2,}|:|,)\s*/);
  if (others.length > 0 || !isSize(first) || !isSize(second)) return null;
  if (text.includes(",")) return `${first}.${second}`;
  return typeof place !== "string" && place.option === "sizesBytes" ? `${first},${second}` : null;
}

/** Returns bytes for "1GiB", "64MB", "4096", "4096B", and "1G", "64M" as nccl-tests read them; at least 1. Throws InputError. */
export function parseSize(text: string, place: Place = optionName("sizeBytes")): number {
  const expected = 'a positive size such as "1GiB", "64MB" or "4096"';
  const parts = split(text);
  const scale = parts === null ? null : bytesOf(parts.unit);
  if (parts === null || scale === null) {
    const refusal = new InputError(place, expected, text);
    const [, number, prefix] = /^\s*([\d.]+)\s*([KMGT])b\s*$/.exec(text) ?? [];
    const list = listOfSizes(text);
    if (list !== null)
      throw refusal.saying(
        `${place} is ${shown(text)}, a list of sizes; here it is one size (\`export\` and \`compare\` take ${optionName("sizesBytes")} ${list})`,
      );
    const listed = sizesMeant(text, place);
    throw number === undefined
      ? listed === null
        ? refusal
        : refusal.saying(`${place} is ${shown(text)}; did you mean ${listed}?`)
      : refusal.saying(
          `${place} is ${shown(text)}, which is in bits; did you mean ${number}${prefix}B or ${number}${prefix}iB?`,
        );
  }
  if (scale === 1n && parts.value.num % parts.value.den !== 0n)
    throw new InputError(place, expected, text).saying(
      `${place} is ${shown(text)}, which is no whole number of bytes; did you mean ${text.trim().replace(/B$/i, "")}GiB?`,
    );
  const most = "at most 8191 TiB (2^53 - 1 bytes)";
  const bytes = wholeNumber(rational(parts.value.num * scale, parts.value.den), place, most, text, "out-of-range");
  if (bytes < 1) throw new InputError(place, expected, text);
  return bytes;
}

/** Returns bytes per second for a number of GB/s (a JSON file's `bandwidthGBps`), to the nearest byte. Throws InputError. */
export function bandwidthFromGBps(gbps: unknown, place: Place): number {
  const perSecond = typeof gbps === "number" ? Math.round(gbps * 1e9) : Number.NaN;
  if (!Number.isSafeInteger(perSecond) || perSecond < 1) {
    throw new InputError(
      place,
      perSecond > 1 ? "at most 2^53 - 1 bytes per second (about 9 PB/s)" : "a positive number of GB/s",
      gbps,
    );
  }
  return perSecond;
}

/** Returns whole picoseconds for a number of microseconds (a JSON file's `latencyUs`). Throws InputError. */
export function latencyFromUs(us: unknown, place: Place): number {
  const ps = typeof us === "number" ? Math.round(us * PS_PER_US) : Number.NaN;
  if (!Number.isSafeInteger(ps) || ps < 0) throw new InputError(place, "a latency in us, 0 or more", us);
  return ps;
}

export const BYTES_PER_GB = 1e9;

/** Returns GB/s (1e9 bytes/s) of a bandwidth in bytes per second. */
export const toGBps = (bytesPerSecond: number): number => bytesPerSecond / BYTES_PER_GB;

/** Returns the same of an exact one, exactly. */
export const toExactGBps = (bytesPerSecond: Rational): Rational => divide(bytesPerSecond, rational(BYTES_PER_GB));

/** Returns microseconds of a time in picoseconds. */
export const toUs = (ps: number): number => ps / PS_PER_US;

/** Returns bytes as "79.6 GB", three digits: for sums of which one is set against another. */
export const formatGigabytes = (bytes: number): string =>
  `${bytes < 1e12 ? Number((bytes / 1e9).toPrecision(3)) : Math.round(bytes / 1e9)} GB`;

/** Returns "1 GiB", "1.5 MiB", "64 MB", "1000 B": the binary unit where it divides evenly, else the decimal one, else MiB. */
export function formatSize(bytes: number): string {
  const units = ["TiB", "TB", "GiB", "GB", "MiB", "MB", "KiB", "KB"];
  for (const unit of units) {
    const scale = Number(bytesOf(unit));
    if (bytes >= scale && (bytes * 100) % scale === 0) return `${bytes / scale} ${unit}`;
  }
  if (bytes < 1024) return `${bytes} B`;
  const binary = ["TiB", "GiB", "MiB", "KiB"].find((unit) => bytes >= Number(bytesOf(unit))) as string;
  return `${(bytes / Number(bytesOf(binary))).toFixed(2)} ${binary}`;
}

/** Returns "812.5 us", "3.21 ms", "700 ns": four significant digits in the unit that suits. */
export function formatTime(ps: number): string {
  const [scale, unit] =
    ps >= 1e12 ? [1e12, "s"] : ps >= 1e9 ? [1e9, "ms"] : ps >= 1e6 || ps === 0 ? [1e6, "us"] : [1e3, "ns"];
  return `${Number((ps / scale).toPrecision(5))} ${unit}`;
}

/** Returns "50 GB/s" with at most five significant digits. */
export const formatBandwidth = (bytesPerSecond: number): string =>
  `${Number(toGBps(bytesPerSecond).toPrecision(5))} GB/s`;

/** Returns a share as a percentage for people: "97.32 %", "<0.01 %"; rounded down, so that 100 % means all of it. */
export function formatShare(share: number): string {
  const hundredths = Math.floor(share * 10_000 + 1e-9);
  return hundredths === 0 && share > 0 ? "<0.01 %" : `${hundredths / 100} %`;
}

/** Throws InputError where a time, named by `what`, has left the picoseconds that doubles hold exactly. */
export function demandExactPs(ps: number, what: string): void {
  if (!(ps <= Number.MAX_SAFE_INTEGER)) throw new InputError(what, "less than 2^53 ps (2.5 hours)", ps).as("too-long");
}
