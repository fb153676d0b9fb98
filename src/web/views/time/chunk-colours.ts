/** Colours of chunks that stay apart for the colour-blind, on a light and on a dark page; also as numbers for pixels. */

export interface ChunkPalette {
  /** CSS colours; the first is for what is not in the foreground. */
  readonly css: readonly string[];
  /** [colours] 0xAABBGGRR, as the bytes of an image lie in memory. */
  readonly pixel: Uint32Array;
  /** Index of a chunk's colour, 1 and above. */
  readonly ofChunk: (chunk: number) => number;
}

type Lch = readonly [hue: number, chroma: number, lightness: number];
/** Eight colours (OKLCH) for a light and for a dark page, found by search: as far apart as they can be for all kinds of sight. */
const FEW_ON_LIGHT: readonly Lch[] = [
  [266, 0.16, 0.35],
  [83, 0.12, 0.39],
  [187, 0.14, 0.64],
  [341, 0.14, 0.33],
  [232, 0.09, 0.48],
  [20, 0.17, 0.67],
  [291, 0.15, 0.58],
  [84, 0.11, 0.55],
];
const FEW_ON_DARK: readonly Lch[] = [
  [257, 0.17, 0.56],
  [41, 0.17, 0.57],
  [145, 0.17, 0.83],
  [330, 0.15, 0.53],
  [195, 0.15, 0.68],
  [16, 0.1, 0.92],
  [293, 0.15, 0.78],
  [88, 0.12, 0.71],
];
const FEW = FEW_ON_LIGHT.length;
/** Many chunks have a colour of this many; neighbours look alike, and near origins are near in colour. */
const STEPS = 40;

type Rgb = readonly [number, number, number];

/** Returns a colour of OKLCH in sRGB, 0 .. 255; chroma is reduced until it fits. */
function oklch(lightness: number, chroma: number, hue: number): Rgb {
  const angle = (hue * Math.PI) / 180;
  for (let c = chroma; ; c *= 0.9) {
    const rgb = linearRgb(lightness, c * Math.cos(angle), c * Math.sin(angle));
    if (c < 1e-3 || rgb.every((part) => part >= -1e-4 && part <= 1.0001)) {
      return rgb.map((part) => Math.round(255 * encoded(Math.min(1, Math.max(0, part))))) as unknown as Rgb;
    }
  }
}

function linearRgb(lightness: number, a: number, b: number): Rgb {
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  return [
    4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
    -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
    -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s,
  ];
}

const encoded = (linear: number): number =>
  linear <= 0.0031308 ? 12.92 * linear : 1.055 * linear ** (1 / 2.4) - 0.055;

/** Returns the colours of this many chunks. */
export function chunkPalette(chunkCount: number, isDark: boolean): ChunkPalette {
  const few = chunkCount <= FEW;
  const colours: Rgb[] = [isDark ? [58, 68, 84] : [214, 219, 227]];
  if (few) {
    for (const [hue, chroma, lightness] of isDark ? FEW_ON_DARK : FEW_ON_LIGHT) {
      colours.push(oklch(lightness, chroma, hue));
    }
  } else {
    for (let step = 0; step < STEPS; step++) colours.push(sweep(step / (STEPS - 1), isDark));
  }
  const steps = Math.min(STEPS, chunkCount);
  return {
    css: colours.map(([r, g, b]) => `rgb(${r},${g},${b})`),
    pixel: Uint32Array.from(colours, ([r, g, b]) => 0xff000000 + b * 65536 + g * 256 + r),
    ofChunk: (chunk) =>
      few ? 1 + (chunk % FEW) : 1 + Math.round((Math.floor((chunk * steps) / chunkCount) * (STEPS - 1)) / (steps - 1)),
  };
}

/** From dark blue by purple and red to light orange and green: lightness rises all the way, so order can be seen without hue. */
const sweep = (at: number, isDark: boolean): Rgb =>
  oklch((isDark ? 0.53 : 0.33) + (isDark ? 0.37 : 0.34) * at, 0.15, 265 + 215 * at);
