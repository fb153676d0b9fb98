/** Colours as eyes see them, the colour-blind among them. */

/** Linear RGB, or a place in OKLab. */
export type Triple = readonly [number, number, number];
const linear = (part: number): number =>
  part <= 0.04045 * 255 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4;
/** Returns the linear RGB of "rgb(1,2,3)" or "#010203". */
export const rgbOf = (css: string): Triple =>
  (css.startsWith("#")
    ? [1, 3, 5].map((at) => linear(Number.parseInt(css.slice(at, at + 2), 16)))
    : [...css.matchAll(/\d+/g)].map(([part]) => linear(Number(part)))) as unknown as Triple;
export const luminance = ([r, g, b]: Triple): number => 0.2126 * r + 0.7152 * g + 0.0722 * b;
export const contrast = (a: number, b: number): number => (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);

/** What the colour-blind see of linear RGB: Machado, Oliveira and Fernandes 2009, severity 1. */
export const SIGHT: Record<string, readonly Triple[]> = {
  full: [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  protan: [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  deutan: [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
  tritan: [
    [1.255528, -0.076749, -0.178779],
    [-0.078411, 0.930809, 0.147602],
    [0.004733, 0.691367, 0.3039],
  ],
};

/** OKLab of linear RGB. */
export function lab([r, g, b]: Triple): Triple {
  const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  return [
    0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
    1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
    0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
  ];
}
/** Returns what an eye sees of linear RGB, in OKLab. */
export const seen = (rgb: Triple, sight: readonly Triple[]): Triple =>
  lab(sight.map((row) => Math.max(0, row[0] * rgb[0] + row[1] * rgb[1] + row[2] * rgb[2])) as unknown as Triple);
/** Returns how far apart two colours are for an eye. */
export function apart(one: Triple, other: Triple, sight: readonly Triple[]): number {
  const [a, b] = [seen(one, sight), seen(other, sight)];
  return Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
}
