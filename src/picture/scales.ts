/** Scales that files and the page share: colours for shares, steps and ticks of axes. Plain numbers and texts. */

/** Anchors of viridis, which the colour-blind can read, at 0, 1/8 .. 1 (matplotlib). */
const VIRIDIS = ["#440154", "#472d7b", "#3b528b", "#2c728e", "#21918c", "#28ae80", "#5ec962", "#addc30", "#fde725"];
/** Anchors of the page's heat, cold to hot: lightness rises or falls evenly, so that it reads without colours too. */
const HEAT_ON_LIGHT = ["#d6dde8", "#a9b7dd", "#8f83cf", "#a14aa8", "#b3205f", "#a80f2c", "#6b0012"];
const HEAT_ON_DARK = ["#2a3342", "#3d3f7a", "#6a459f", "#a6478f", "#dd5f66", "#f79a4b", "#ffe27a"];

const channels = (colour: string): number[] => [1, 3, 5].map((i) => Number.parseInt(colour.slice(i, i + 2), 16));

/** Returns the colour of a share in 0 .. 1 (others count as the nearest of these) between equally spaced anchors, "#21918c". */
function between(anchors: readonly string[], share: number): string {
  const place = Math.max(0, Math.min(1, share)) * (anchors.length - 1);
  const low = Math.min(anchors.length - 2, Math.floor(place));
  const [from, to] = [channels(anchors[low]), channels(anchors[low + 1])];
  const mixed = from.map((value, i) => Math.round(value + (to[i] - value) * (place - low)));
  return `#${mixed.map((value) => value.toString(16).padStart(2, "0")).join("")}`;
}

/** Returns the colour of a share (0 dark .. 1 bright) in files. */
export const shareColour = (share: number): string => between(VIRIDIS, share);

/** Returns the colour of a share (0 cold .. 1 hot) in the page. */
export const heatColour = (share: number, isDark: boolean): string =>
  between(isDark ? HEAT_ON_DARK : HEAT_ON_LIGHT, share);

/** Returns this many colours of the heat, for equal steps of the share from 0 to 1. */
export const heatColours = (count: number, isDark: boolean): string[] =>
  Array.from({ length: count }, (_, i) => heatColour(i / (count - 1), isDark));

/** Returns the same as pixels (0xAABBGGRR, opaque), for ImageData on little-endian machines. */
export const heatPixels = (count: number, isDark: boolean): Uint32Array =>
  Uint32Array.from(heatColours(count, isDark), (text) => {
    const colour = Number.parseInt(text.slice(1), 16);
    return (0xff000000 | ((colour & 255) << 16) | (colour & 0xff00) | (colour >> 16)) >>> 0;
  });

/** So many colours tell how far from a root something is. */
export const DEPTHS = 6;

/** Returns which of them a depth (1 ..) has where the deepest is so deep: one each where they suffice, else in equal parts. */
export const depthStep = (depth: number, deepest: number): number =>
  deepest <= DEPTHS ? depth - 1 : Math.min(DEPTHS - 1, Math.floor(((depth - 1) * DEPTHS) / deepest));

/** Returns the first depth that has a colour. */
export const firstDepth = (step: number, deepest: number): number =>
  deepest <= DEPTHS ? step + 1 : Math.ceil((step * deepest) / DEPTHS) + 1;

/** Returns 1, 2 or 5 times a power of ten, at or above `least`; below it by so little as `slack` (a share of it) allows. */
export function roundStep(least: number, slack = 1): number {
  const power = 10 ** Math.floor(Math.log10(least));
  return ([1, 2, 5].find((factor) => factor * power >= least * slack) ?? 10) * power;
}

/** What the values of an axis are: places on it are values, or their logarithms. */
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

/** Returns multiples of a round step from `low` to `high`, about this many; `low` where that is all there is. */
export function roundTicks(low: number, high: number, about: number): number[] {
  const raw = (high - low) / Math.max(1, about);
  if (!(raw > 0)) return [low];
  const step = roundStep(raw, 0.999);
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

/** Returns the places of ticks between two places of an axis, ascending, about this many at most; readable values all of them. */
export function ticksOf(scale: AxisScale, low: number, high: number, about: number): number[] {
  if (scale === "linear") return roundTicks(low, high, about);
  if (scale === "log2") return powers(low, high, about, [1, 2, 5, 10]);
  const whole = powers(low, high, about, [1, 2, 3]);
  if (high - low >= 2.2 || whole.length * 3 > about + 2) return whole;
  const within = (place: number): boolean => place >= low - 1e-9 && place <= high + 1e-9;
  const decades = Array.from({ length: Math.ceil(high) - Math.floor(low) + 1 }, (_, i) => Math.floor(low) + i);
  return decades.flatMap((decade) => [decade, decade + LOG10_OF_2, decade + LOG10_OF_5]).filter(within);
}
