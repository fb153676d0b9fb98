import { InputError } from "../../base/errors.ts";
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

const BYTE_UNITS: ReadonlyMap<string, bigint> = new Map(
  Object.entries({
    B: 1n,
    KB: 10n ** 3n,
    kB: 10n ** 3n,
    MB: 10n ** 6n,
    GB: 10n ** 9n,
    TB: 10n ** 12n,
    KiB: 1n << 10n,
    MiB: 1n << 20n,
    GiB: 1n << 30n,
    TiB: 1n << 40n,
  }),
);
/** Sizes as nccl-tests write them: powers of two. */
const NCCL_TESTS_UNITS: ReadonlyMap<string, bigint> = new Map(
  Object.entries({
    "": 1n,
    K: 1n << 10n,
    M: 1n << 20n,
    G: 1n << 30n,
    T: 1n << 40n,
  }),
);
const BIT_UNITS: ReadonlyMap<string, bigint> = new Map(
  Object.entries({
    bps: 1n,
    Kbps: 10n ** 3n,
    Mbps: 10n ** 6n,
    Gbps: 10n ** 9n,
    Tbps: 10n ** 12n,
  }),
);
const TIME_UNITS_PS: ReadonlyMap<string, bigint> = new Map(
  Object.entries({
    ps: 1n,
    ns: 10n ** 3n,
    us: 10n ** 6n,
    µs: 10n ** 6n,
    ms: 10n ** 9n,
    s: 10n ** 12n,
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
  const match = /^\s*([\d.]+(?:[eE][+-]?\d+)?)\s*([A-Za-zµ/]*)\s*$/.exec(text);
  if (match === null) return null;
  const value = decimal(match[1] as string);
  return value === null ? null : { value, unit: match[2] as string };
}

/** Returns the fraction rounded to the nearest integer (half up) as a double; throws when it leaves 2^53 - 1. */
function wholeNumber(value: Rational, place: Place, expected: string, received: unknown): number {
  const rounded = (2n * value.num + value.den) / (2n * value.den);
  if (rounded > BigInt(Number.MAX_SAFE_INTEGER)) throw new InputError(place, expected, received);
  return Number(rounded);
}

/** Returns bytes per second for "25GB/s", "50GiB/s", "400Gbps"; at least 1. Throws InputError. */
export function parseBandwidth(text: string, place: Place = "bandwidth"): number {
  const expected = 'a positive bandwidth such as "25GB/s", "50GiB/s" or "400Gbps"';
  const parts = split(text);
  if (parts === null) throw new InputError(place, expected, text);
  const bytes = parts.unit.endsWith("/s") ? BYTE_UNITS.get(parts.unit.slice(0, -2)) : undefined;
  const bits = BIT_UNITS.get(parts.unit);
  if (bytes === undefined && bits === undefined) throw new InputError(place, expected, text);
  const scale = bytes !== undefined ? rational(bytes) : rational(bits as bigint, 8n);
  const perSecond = wholeNumber(
    rational(parts.value.num * scale.num, parts.value.den * scale.den),
    place,
    "a bandwidth of at most 2^53 - 1 bytes per second (about 9 PB/s)",
    text,
  );
  if (perSecond < 1) throw new InputError(place, expected, text);
  return perSecond;
}

/** Returns whole picoseconds for "0.5us", "700ns", "2ms"; zero is allowed. Throws InputError. */
export function parseTime(text: string, place: Place = "latency"): number {
  const expected = 'a time such as "0.5us" or "700ns"';
  const parts = split(text);
  const scale = parts === null ? undefined : TIME_UNITS_PS.get(parts.unit);
  if (parts === null || scale === undefined) throw new InputError(place, expected, text);
  return wholeNumber(rational(parts.value.num * scale, parts.value.den), place, expected, text);
}

/** Returns bytes for "1GiB", "64MB", "4096", "4096B", and "1G", "64M" as nccl-tests read them; at least 1. Throws InputError. */
export function parseSize(text: string, place: Place = optionName("sizeBytes")): number {
  const expected = 'a positive size such as "1GiB", "64MB" or "4096"';
  const parts = split(text);
  const scale = parts === null ? undefined : (NCCL_TESTS_UNITS.get(parts.unit) ?? BYTE_UNITS.get(parts.unit));
  if (parts === null || scale === undefined) throw new InputError(place, expected, text);
  const bytes = wholeNumber(rational(parts.value.num * scale, parts.value.den), place, expected, text);
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

/** Returns "1 GiB", "1.5 MiB", "64 MB", "1000 B": the binary unit where it divides evenly, else the decimal one, else MiB. */
export function formatSize(bytes: number): string {
  const units = ["TiB", "TB", "GiB", "GB", "MiB", "MB", "KiB", "KB"];
  for (const unit of units) {
    const scale = Number(BYTE_UNITS.get(unit));
    if (bytes >= scale && (bytes * 100) % scale === 0) return `${bytes / scale} ${unit}`;
  }
  if (bytes < 1024) return `${bytes} B`;
  const binary = ["TiB", "GiB", "MiB", "KiB"].find((unit) => bytes >= Number(BYTE_UNITS.get(unit))) as string;
  return `${(bytes / Number(BYTE_UNITS.get(binary))).toFixed(2)} ${binary}`;
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

/** Returns a share as a percentage for people: "97.3 %", "100 %", "<0.1 %"; never 100 % for less than all. */
export function formatShare(share: number): string {
  if (share > 0 && share < 0.0005) return "<0.1 %";
  if (share < 1 && share >= 0.9995) return "99.9 %";
  return `${Math.round(share * 1000) / 10} %`;
}

/** Throws InputError where a time, named by `what`, has left the picoseconds that doubles hold exactly. */
export function demandExactPs(ps: number, what: string): void {
  if (!(ps <= Number.MAX_SAFE_INTEGER)) throw new InputError(what, "less than 2^53 ps (2.5 hours)", ps).as("too-long");
}
