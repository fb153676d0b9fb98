import { expect, test } from "vitest";
import { PRESETS } from "../../../src/model/presets/preset.ts";
import { networkChoices } from "../../../src/web/panels/network-choices.ts";
import { matching } from "../../../src/web/parts/choices.ts";

const groups = networkChoices(PRESETS);
const values = (text: string): string[] => matching(groups, text).flatMap(({ choices }) => choices.map((c) => c.value));

test("an empty text leaves everything as it is", () => {
  expect(matching(groups, "  ")).toEqual(groups);
});

test("every word must be found, in any place and case", () => {
  expect(values("TORUS tpu-v4:")).toEqual(["tpu-v4:4x4x4"]);
  expect(values("no such network")).toEqual([]);
});

test("what begins with the text comes first", () => {
  expect(values("torus").slice(0, 2)).toEqual(["torus:8x8", "torus:4x4x4"]);
  expect(values("torus").length).toBeGreaterThan(5);
});

test("forms are found too, and told once a preset", () => {
  expect(values("oversub")).toEqual(["fat-tree:8x8,leaf=4"]);
  const forms = groups.flatMap(({ choices }) => choices.flatMap(({ form }) => form ?? []));
  expect(new Set(forms).size).toBe(forms.length);
});
