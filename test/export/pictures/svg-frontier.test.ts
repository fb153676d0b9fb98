import { describe, expect, it } from "vitest";
import { frontierSvg } from "../../../src/export/pictures/svg-frontier.ts";
import { missing } from "../../support/refusals.ts";
import { elementsOf, ofClass } from "../../support/svg-elements.ts";

const point = (name: string, steps: number, bandwidth: number) => ({ name, steps, bandwidth });
const draw = (points: ReturnType<typeof point>[], bound = { steps: 5, bandwidth: 0.999 }) =>
  elementsOf([...frontierSvg({ title: "N < 9", points, bound })].join(""));
const numbers = (elements: ReturnType<typeof elementsOf>, name: string) =>
  elements.map(({ attributes }) => Number(attributes[name]));

describe("a plot of efficient networks", () => {
  const three = [point("Pi(4,1024)", 5, 1.33), point("L(<a>)", 6, 1.02), point("DC(1024,{1})", 14, 0.999)];

  it("has a named point for each: more steps to the right, less bandwidth time below", () => {
    const elements = draw(three);
    const points = elements.filter(({ name }) => name === "circle");
    expect(points.map(({ text }) => text)).toEqual([
      "Pi(4,1024): 5 steps, T_B 1.33 M/B",
      "L(<a>): 6 steps, T_B 1.02 M/B",
      "DC(1024,{1}): 14 steps, T_B 0.999 M/B",
    ]);
    const [x0, x1, x2] = numbers(points, "cx");
    const [y0, y1, y2] = numbers(points, "cy");
    expect([x0 < x1, x1 < x2, y0 < y1, y1 < y2]).toEqual([true, true, true, true]);
    expect(ofClass(elements, "label").map(({ text }) => text)).toEqual(expect.arrayContaining(["L(<a>)"]));
  });

  it("has the bounds as dashed lines through what none can have less of", () => {
    const elements = draw(three);
    const [dashed] = elements.filter(({ attributes }) => attributes["stroke-dasharray"] !== undefined);
    const [first] = elements.filter(({ name }) => name === "circle");
    expect(dashed.attributes["d"]).toMatch(new RegExp(`^M${first.attributes["cx"]} `));
  });

  it("keeps names of near points apart", () => {
    const names = ofClass(
      draw([point("one", 5, 1.1), point("two", 5, 1.099), point("three", 5, 1.098)]),
      "label",
    ).filter(({ text }) => ["one", "two", "three"].includes(text));
    const heights = numbers(names, "y");
    for (const [i, y] of heights.entries())
      for (const other of heights.slice(i + 1)) expect(Math.abs(y - other)).toBeGreaterThanOrEqual(15);
  });

  it("draws a single network that meets the bounds, and refuses none", () => {
    expect(
      draw([point("K(5)", 1, 0.8)], { steps: 1, bandwidth: 0.8 }).filter(({ name }) => name === "circle"),
    ).toHaveLength(1);
    expect(() => draw([])).toThrow(missing("the networks of a plot"));
  });
});
