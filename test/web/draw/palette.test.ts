import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { heatColours } from "../../../src/picture/scales.ts";
import { apart, contrast, lab, luminance, rgbOf, SIGHT } from "../../support/sight.ts";

const css = ["style/base.css", "draw/draw.css"]
  .map((file) => readFileSync(new URL(`../../../src/web/${file}`, import.meta.url), "utf8"))
  .join("\n");

/** Colours of the page by name, as a scheme has them. */
function coloursOf(isDark: boolean): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const [, selector, rules] of css.matchAll(/(:root[^{]*)\{([^}]*)\}/g)) {
    if (selector.includes(":not") || (selector.includes("dark") && !isDark)) continue;
    for (const [, name, colour] of rules.matchAll(/(--[\w-]+): (#[0-9a-f]{6});/g)) found.set(name, colour);
  }
  return found;
}

const SCHEMES = [false, true].map((isDark) => {
  const colours = coloursOf(isDark);
  const colour = (name: string) => rgbOf(colours.get(name) as string);
  return { isDark, scheme: isDark ? "dark" : "light", colour };
});

/** Colours that mean something else where they stand side by side on a drawing. */
const MEANINGS: readonly (readonly string[])[] = [
  ["--npu-edge", "--switch-edge"],
  ["--npu", "--switch"],
  ["--npu", "--full"],
  ["--chosen", "--cut"],
  ["--chosen", "--accent"],
  ["--good", "--bad"],
];

describe.each(SCHEMES)("colours of drawings, $scheme", ({ isDark, colour }) => {
  it("that mean different things differ for all eyes", () => {
    for (const [name, sight] of Object.entries(SIGHT)) {
      for (const [one, other] of MEANINGS) {
        expect(apart(colour(one), colour(other), sight), `${one} ${other} ${name}`).toBeGreaterThan(0.06);
      }
    }
  });

  it("of bandwidths and of heat rise or fall in lightness for all eyes", () => {
    const bands = [0, 1, 2, 3, 4, 5].map((step) => colour(`--band-${step}`));
    const heat = heatColours(7, isDark).map(rgbOf);
    for (const [name, sight] of Object.entries(SIGHT)) {
      for (const colours of [bands, heat]) {
        const light = colours.map(
          (rgb) =>
            lab(sight.map((row) => Math.max(0, row[0] * rgb[0] + row[1] * rgb[1] + row[2] * rgb[2])) as never)[0],
        );
        const sign = Math.sign(light[light.length - 1] - light[0]);
        for (let i = 1; i < light.length; i++)
          expect(sign * (light[i] - light[i - 1]), `${name} ${i}`).toBeGreaterThan(0);
      }
    }
  });

  it("of lines on the panel are 3 : 1 or more", () => {
    for (const name of ["--chosen", "--cut", "--accent", "--npu-edge", "--switch-edge", "--ghost", "--band-0"]) {
      expect(contrast(luminance(colour(name)), luminance(colour("--panel"))), name).toBeGreaterThan(3);
    }
  });
});
