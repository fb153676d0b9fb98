import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { draw } from "../../../src/base/random.ts";
import { indicesBelow, orderByTime } from "../../../src/model/numbers/ordering.ts";

/** Returns the order by comparison. */
const compared = (times: Float64Array): number[] => [...times.keys()].sort((a, b) => times[a] - times[b] || a - b);

describe("order by time", () => {
  it("is ascending and stable for any exact times", () => {
    const times = fc.array(fc.oneof(fc.nat(5), fc.nat(2 ** 31 - 1), fc.maxSafeNat()), { maxLength: 50 });
    fc.assert(
      fc.property(times, (list) => {
        const column = Float64Array.from(list);
        expect([...orderByTime(column)]).toEqual(compared(column));
      }),
    );
  });

  it.each([
    ["few different times", 3000, 7_855_104],
    ["few times above 2^32 that differ only there", 900, 2 ** 43],
    ["as many times as are counted", 32_768, 4097],
    ["one more", 32_769, 4097],
    ["many times above 2^32", 2 ** 32, 2 ** 20],
  ])("is ascending and stable for long columns: %s", (_, different, step) => {
    const times = Float64Array.from({ length: 60_000 }, (_, i) =>
      i < different ? i * step : step * (draw(1, 2, i) % different),
    );
    expect([...orderByTime(times)]).toEqual(compared(times));
  });

  it("leaves ascending times as they are", () => {
    expect([...orderByTime(Float64Array.of(1, 1, 5, 9e15))]).toEqual([0, 1, 2, 3]);
    expect([...orderByTime(new Float64Array(0))]).toEqual([]);
  });
});

describe("indices below a count", () => {
  it("are the numbers from 0 on", () => {
    expect([...indicesBelow(4)]).toEqual([0, 1, 2, 3]);
  });
});
