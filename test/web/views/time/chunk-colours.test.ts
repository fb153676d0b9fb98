import { describe, expect, it } from "vitest";
import { chunkPalette } from "../../../../src/web/views/time/chunk-colours.ts";
import { apart, contrast, lab, luminance, rgbOf, SIGHT } from "../../../support/sight.ts";

const PAGES = [
  { isDark: false, page: luminance([1, 1, 1]) },
  { isDark: true, page: luminance(rgbOf("rgb(25,31,41)")) },
];

describe("colours of chunks", () => {
  it("of few chunks differ for all eyes", () => {
    for (const { isDark } of PAGES) {
      const colours = chunkPalette(8, isDark).css.slice(1).map(rgbOf);
      for (const [name, sight] of Object.entries(SIGHT)) {
        colours.forEach((a, i) => {
          for (let j = 0; j < i; j++) {
            const where = `${name} ${isDark ? "dark" : "light"} ${i} ${j}`;
            expect(apart(a, colours[j], sight), where).toBeGreaterThan(0.09);
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
