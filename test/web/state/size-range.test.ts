import { describe, expect, it } from "vitest";
import {
  FIRST_RANGE,
  POWERS,
  rangeText,
  readRange,
  STEPS,
  sizesOf,
  sizeWord,
  withEnd,
} from "../../../src/web/state/size-range.ts";
import { unexpected } from "../../support/refusals.ts";

describe("sizes that are compared", () => {
  it("go from one to another, the last included", () => {
    expect(sizesOf({ from: 10, to: 14, step: 2 })).toEqual([1024, 4096, 16384]);
    expect(sizesOf({ from: 10, to: 13, step: 2 })).toEqual([1024, 4096, 8192]);
    expect(sizesOf({ from: 20, to: 20, step: 5 })).toEqual([2 ** 20]);
  });
  it("push the other end along", () => {
    const range = { from: 10, to: 20, step: 4 };
    expect(withEnd(range, "from", 25)).toEqual({ from: 25, to: 25, step: 4 });
    expect(withEnd(range, "to", 8)).toEqual({ from: 8, to: 8, step: 4 });
    expect(withEnd(range, "to", 30)).toEqual({ from: 10, to: 30, step: 4 });
  });
  it("are written as options write them", () => {
    expect([256, 1024, 2 ** 20, 2 ** 31].map(sizeWord)).toEqual(["256B", "1KiB", "1MiB", "2GiB"]);
  });
  it("are read back as addresses write them", () => {
    expect(rangeText(FIRST_RANGE)).toBe("1KiB..1GiB*16");
    for (const from of POWERS) {
      for (const to of POWERS.filter((power) => power >= from)) {
        for (const step of STEPS) expect(readRange(rangeText({ from, to, step }))).toEqual({ from, to, step });
      }
    }
  });
  it.each([
    "",
    "lots",
    "1KiB",
    "1KiB,1GiB",
    "1KiB..1GiB",
    "1GiB..1KiB*16",
    "1KiB..1GiB*3",
    "1KiB..1000KiB*2",
    "1B..1GiB*2",
    "1KiB..1TiB*2",
    " 1KiB..1GiB*16",
    "1KiB..1GiB*16*2",
  ])('are not "%s"', (text) => {
    expect(() => readRange(text)).toThrow(unexpected("sizes", text, "256B", "64GiB", "2, 4, 8, 16, 32"));
  });
});
