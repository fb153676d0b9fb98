import { describe, expect, it } from "vitest";
import { chunkPalette } from "../../../../src/web/views/time/chunk-colours.ts";

type Triple = readonly [number, number, number];
const linear = (part: number): number =>
  part <= 0.04045 * 255 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4;
const rgbOf = (css: string): Triple =>
  [...css.matchAll(/\d+/g)].map(([part]) => linear(Number(part))) as unknown as Triple;
const luminance = ([r, g, b]: Triple): number => 0.2126 * r + 0.7152 * g + 0.0722 * b;
const contrast = (a: number, b: number): number => (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);

/** What the colour-blind see of linear RGB: Machado, Oliveira and Fernandes 2009, severity 1. */
const SIGHT: Record<string, readonly Triple[]> = {
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
function lab([r, g, b]: Triple): Triple {
  const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  return [
    0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
    1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
    0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
  ];
}
const seen = (rgb: Triple, sight: readonly Triple[]): Triple =>
  lab(sight.map((row) => Math.max(0, row[0] * rgb[0] + row[1] * rgb[1] + row[2] * rgb[2])) as unknown as Triple);
const PAGES = [
  { isDark: false, page: luminance([1, 1, 1]) },
  { isDark: true, page: luminance(rgbOf("rgb(25,31,41)")) },
];

describe("colours of chunks", () => {
  it("of few chunks differ for all eyes", () => {
    for (const { isDark } of PAGES) {
      const colours = chunkPalette(8, isDark).css.slice(1).map(rgbOf);
      for (const [name, sight] of Object.entries(SIGHT)) {
        const labs = colours.map((rgb) => seen(rgb, sight));
        labs.forEach((a, i) => {
          for (let j = 0; j < i; j++) {
            const b = labs[j];
            const apart = Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
            expect(apart, `${name} ${isDark ? "dark" : "light"} ${i} ${j}`).toBeGreaterThan(0.09);
          }
        });
      }
    }
  });

  it("stand out from the page", () => {
    for (const { isDark, page } of PAGES) {
      for (const count of [8, 1000]) {
        for (const css of chunkPalette(count, isDark).css.slice(1)) {
          expect(contrast(luminance(rgbOf(css)), page), css).toBeGreaterThan(2.7);
        }
      }
    }
  });

  it("of many chunks rise in lightness, and every chunk has one", () => {
    for (const { isDark } of PAGES) {
      for (const count of [9, 40, 41, 5000]) {
        const { css, ofChunk, pixel } = chunkPalette(count, isDark);
        const light = css.slice(1).map((colour) => lab(rgbOf(colour))[0]);
        expect(light).toEqual(light.toSorted((a, b) => a - b));
        expect(ofChunk(0)).toBe(1);
        expect(ofChunk(count - 1)).toBe(css.length - 1);
        for (let chunk = 0; chunk < count; chunk++) expect(css[ofChunk(chunk)]).toBeDefined();
        const [r, g, b] = [...css[5].matchAll(/\d+/g)].map(([part]) => Number(part));
        expect(pixel[5]).toBe(0xff000000 + b * 65536 + g * 256 + r);
      }
    }
  });

  it("of the same chunk are the same in every frame, and few chunks have one each", () => {
    const { ofChunk } = chunkPalette(8, false);
    expect(new Set(Array.from({ length: 8 }, (_, chunk) => ofChunk(chunk))).size).toBe(8);
  });
});
