/** Values of a schedule's file, exact numbers, a heap: what the independent judges have in common. */

/** Thrown for a file that is no schedule: one sentence. */
export class NoSchedule extends Error {
  readonly place: string;
  readonly expected: string;
  readonly received: unknown;

  constructor(place: string, expected: string, received: unknown) {
    const isList = Array.isArray(received);
    const isObject = typeof received === "object" && received !== null;
    const text = isObject ? "an object" : (JSON.stringify(received)?.slice(0, 60) ?? "nothing");
    const value = isList ? `a list of ${received.length}` : text;
    const [is, be] = expected.startsWith("no keys but ") ? ["has", "have"] : ["is", "be"];
    super(`${place} ${received === undefined ? "is missing" : `${is} ${value}`}; it must ${be} ${expected}`);
    this.place = place;
    this.expected = expected;
    this.received = received;
  }
}
/** What is claimed does not hold. */
export class Wrong extends Error {}
/** What is claimed rests on a search. */
export class NotHere extends Error {}

export function wrong(because: string): never {
  throw new Wrong(because);
}

export type Json = Readonly<Record<string, unknown>>;
/** Numerator and denominator, which is above 0. */
export type Fraction = readonly [bigint, bigint];

export const SECOND = 10n ** 12n;
export const LARGEST = Number.MAX_SAFE_INTEGER;

export function bad(place: string, expected: string, value: unknown): never {
  throw new NoSchedule(place, expected, value);
}

export const objectAt = (value: unknown, place: string): Json =>
  typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Json)
    : bad(place, "an object", value);
export const listAt = (value: unknown, place: string): readonly unknown[] =>
  Array.isArray(value) ? value : bad(place, "a list", value);
export const textAt = (value: unknown, place: string): string =>
  typeof value === "string" ? value : bad(place, "a text", value);
export const isWhole = (value: unknown, least: number, most: number): value is number =>
  Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most;
export const wholeAt = (value: unknown, place: string, least = 0, most = LARGEST): number =>
  isWhole(value, least, most) ? value : bad(place, `a whole number of ${least} to ${most}`, value);
export const flagAt = (value: unknown, place: string): boolean =>
  value === undefined || typeof value === "boolean" ? value === true : bad(place, "true or false", value);

export function wholesAt(value: unknown, place: string, most: number, length?: number): readonly number[] {
  const list = listAt(value, place);
  if (length !== undefined && list.length !== length) bad(place, `${length} numbers`, value);
  for (let i = 0; i < list.length; i++) if (!isWhole(list[i], 0, most)) wholeAt(list[i], `${place}[${i}]`, 0, most);
  return list as readonly number[];
}

/** Returns a fraction whose numerator is at least so much; null: any. */
export function fractionAt(value: unknown, place: string, least: bigint | null = 1n): Fraction {
  const text = isWhole(value, 0, LARGEST) ? String(value) : value;
  const found = typeof text === "string" ? /^(-?\d{1,2000})(?:\/(\d{1,2000}))?$/.exec(text) : null;
  if (found === null) return bad(place, 'a number such as 4096 or "2400/7"', value);
  const fraction: Fraction = [BigInt(found[1]), BigInt(found[2] ?? "1")];
  const isFit = fraction[1] > 0n && (least === null || fraction[0] >= least);
  return isFit ? fraction : bad(place, `a fraction${least === 1n ? " above 0" : ""}`, value);
}

export const compare = ([a, b]: Fraction, [c, d]: Fraction): number => (a * d < c * b ? -1 : a * d > c * b ? 1 : 0);
export const greater = (a: Fraction, b: Fraction): Fraction => (compare(a, b) >= 0 ? a : b);
export const plus = ([a, b]: Fraction, [c, d]: Fraction): Fraction => lowest([a * d + c * b, b * d]);
export const ceil = (num: bigint, den: bigint): bigint => (num + den - 1n) / den;

export function divisor(a: bigint, b: bigint): bigint {
  let [x, y] = [a < 0n ? -a : a, b];
  while (y > 0n) [x, y] = [y, x % y];
  return x;
}

export function lowest([num, den]: Fraction): Fraction {
  const common = divisor(num, den);
  return [num / common, den / common];
}

export function textOf(fraction: Fraction): string {
  const [num, den] = lowest(fraction);
  return den === 1n ? `${num}` : `${num}/${den}`;
}

/** Returns a whole number of picoseconds as a double. */
export function exact(ps: bigint): number {
  return ps <= BigInt(LARGEST) ? Number(ps) : wrong("times go beyond 2^53 ps");
}

/** Pairs of numbers, the least first; of equal ones that with the lesser second number. */
export function heap() {
  const keys: number[] = [];
  const ids: number[] = [];
  const before = (i: number, key: number, id: number): boolean => keys[i] < key || (keys[i] === key && ids[i] < id);
  const put = (at: number, key: number, id: number): void => {
    keys[at] = key;
    ids[at] = id;
  };
  return {
    size: () => ids.length,
    key: () => keys[0],
    add(key: number, id: number): void {
      let at = ids.length;
      for (let up = (at - 1) >> 1; at > 0 && !before(up, key, id); up = (at - 1) >> 1) {
        put(at, keys[up], ids[up]);
        at = up;
      }
      put(at, key, id);
    },
    take(): number {
      const first = ids[0];
      const [key, id] = [keys.pop() as number, ids.pop() as number];
      if (ids.length === 0) return first;
      let at = 0;
      for (let down = 1; down < ids.length; down = 2 * at + 1) {
        if (down + 1 < ids.length && before(down + 1, keys[down], ids[down])) down++;
        if (!before(down, key, id)) break;
        put(at, keys[down], ids[down]);
        at = down;
      }
      put(at, key, id);
      return first;
    },
  };
}
