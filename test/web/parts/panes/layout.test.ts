import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  foldedAt,
  maximisedAt,
  readPanes,
  shareOf,
  splitAfter,
  splitAt,
  splitOf,
  writePanes,
} from "../../../../src/web/parts/panes/layout.ts";

const PANES = [
  { name: "network", wide: 44, tall: 62 },
  { name: "timeline", wide: 56, tall: 60 },
  { name: "holders", wide: 22, tall: 38 },
];
const [network, timeline, holders] = PANES;
const untouched = readPanes(null, PANES);

describe("panes", () => {
  it("have what they wish until something is done to them, and are not kept then", () => {
    expect(PANES.map((pane) => shareOf(untouched, "wide", pane))).toEqual([44, 56, 22]);
    expect(writePanes(untouched)).toBeNull();
  });

  it("are read as they were kept", () => {
    const moved = splitAt(untouched, "wide", [network, timeline], 25);
    const state = maximisedAt(foldedAt(moved, "holders", true), "timeline");
    expect(readPanes(writePanes(state), PANES)).toEqual(state);
  });

  it.each([
    "no JSON",
    "null",
    "[]",
    '{"shares":{"wide network":-1,"wide nobody":5,"tall network":"5"},"folded":["nobody",3],"maximised":"nobody"}',
    '{"shares":7,"folded":"network","maximised":[]}',
    '{"shares":null,"folded":null}',
  ])("forget what is not understood: %s", (text) => {
    expect(readPanes(text, PANES)).toEqual(untouched);
  });

  it("that are folded do not fill all, and that fill all are not folded", () => {
    const folded = foldedAt(untouched, "network", true);
    expect(maximisedAt(folded, "network")).toEqual({ shares: {}, folded: [], maximised: "network" });
    expect(foldedAt(maximisedAt(untouched, "network"), "network", true).maximised).toBeNull();
    expect(foldedAt(folded, "network", false)).toEqual(untouched);
  });

  it("keep the room of both when the line between two moves", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 99 }), (to) => {
        const state = splitAt(untouched, "tall", [network, holders], to);
        const [one, other] = [network, holders].map((pane) => shareOf(state, "tall", pane));
        expect(one + other).toBeCloseTo(100, 9);
        expect(one).toBeCloseTo(to, 9);
        expect(shareOf(state, "wide", network)).toBe(44);
      }),
    );
  });

  it("stay within what the line may reach, by any key", () => {
    const share = fc.double({ min: 0.1, max: 100, noNaN: true });
    const key = fc.constantFrom("ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "PageUp", "PageDown", "Home", "End");
    fc.assert(
      fc.property(share, share, fc.integer({ min: 1, max: 4000 }), key, (before, after, pixels, pressed) => {
        const split = splitOf(before, after, pixels, 200);
        const to = splitAfter(pressed, split) as number;
        for (const place of [split.now, to]) {
          expect(place).toBeGreaterThanOrEqual(split.least);
          expect(place).toBeLessThanOrEqual(split.most);
        }
      }),
    );
  });

  it("leave other keys alone", () => {
    expect(splitAfter("Tab", splitOf(1, 1, 1000, 200))).toBeNull();
    expect(splitAfter("Home", splitOf(1, 1, 1000, 200))).toBe(20);
    expect(splitAfter("End", splitOf(1, 1, 1000, 200))).toBe(80);
  });
});
