/** Where the ticks of an axis stand. */

export type AxisScale = "linear" | "log2" | "log10";

/** Returns a value's place on an axis; NaN where it has none (0 on a logarithmic one). */
export function placeOn(scale: AxisScale, value: number): number {
  if (scale === "linear") return value;
  if (!(value > 0)) return Number.NaN;
  return scale === "log2" ? Math.log2(value) : Math.log10(value);
}

/** Returns the value at a place of an axis. */
export const valueAt = (scale: AxisScale, place: number): number =>
  scale === "linear" ? place : (scale === "log2" ? 2 : 10) ** place;

/** Returns multiples of 1, 2 or 5 times a power of ten within the range, about so many. */
function linear(low: number, high: number, about: number): number[] {
  const raw = (high - low) / Math.max(1, about);
  if (!(raw > 0)) return [low];
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = ([1, 2, 5].find((factor) => factor * power >= raw * 0.999) ?? 10) * power;
  const first = Math.ceil(low / step - 1e-9);
  const last = Math.floor(high / step + 1e-9);
  return Array.from({ length: last - first + 1 }, (_, i) => Number(((first + i) * step).toPrecision(12)));
}

/** Returns whole powers within the range, every so many that at most `about` are left. */
function powers(low: number, high: number, about: number, steps: readonly number[]): number[] {
  const [first, last] = [Math.ceil(low - 1e-9), Math.floor(high + 1e-9)];
  const fits = (step: number): boolean => Math.floor((last - first) / step) + 1 <= about;
  const step = steps.find(fits) ?? Math.ceil((last - first + 1) / Math.max(1, about));
  const from = Math.ceil(first / step) * step;
  return Array.from({ length: Math.max(0, Math.floor((last - from) / step) + 1) }, (_, i) => from + i * step);
}

const LOG10_OF_2 = Math.log10(2);
const LOG10_OF_5 = Math.log10(5);

/** Returns the places of ticks between two places of an axis, ascending, about so many at most; readable values all of them. */
export function ticksOf(scale: AxisScale, low: number, high: number, about: number): number[] {
  if (scale === "linear") return linear(low, high, about);
  if (scale === "log2") return powers(low, high, about, [1, 2, 5, 10]);
  const whole = powers(low, high, about, [1, 2, 3]);
  if (high - low >= 2.2 || whole.length * 3 > about + 2) return whole;
  const within = (place: number): boolean => place >= low - 1e-9 && place <= high + 1e-9;
  const decades = Array.from({ length: Math.ceil(high) - Math.floor(low) + 1 }, (_, i) => Math.floor(low) + i);
  return decades.flatMap((decade) => [decade, decade + LOG10_OF_2, decade + LOG10_OF_5]).filter(within);
}
