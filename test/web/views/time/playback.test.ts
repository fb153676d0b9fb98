import { describe, expect, it } from "vitest";
import { advance, shareText, within } from "../../../../src/web/views/time/clock.ts";
import { timeTicks } from "../../../../src/web/views/time/gantt-stage.ts";

describe("the player's clock", () => {
  it("plays the whole in 20 s at speed 1, whatever the frames", () => {
    let time = 0;
    let frames = 0;
    for (let done = false; !done; frames++) ({ timePs: time, done } = advance(time, 100, 5e6, 1, false));
    expect(time).toBe(5e6);
    expect(Math.abs(frames - 200)).toBeLessThanOrEqual(1);
    expect(advance(0, 200, 1000, 4, false).timePs).toBeCloseTo(40, 9);
  });

  it("begins again where it loops, and stops at the end where it does not", () => {
    expect(advance(990, 200, 1000, 2, true)).toEqual({ timePs: 10, done: false });
    expect(advance(990, 200, 1000, 2, false)).toEqual({ timePs: 1000, done: true });
  });

  it("does not jump after a frame that took long, and has nothing to play in no time", () => {
    expect(advance(0, 60_000, 1000, 1, false).timePs).toBeLessThan(20);
    expect(advance(0, 16, 0, 1, true)).toEqual({ timePs: 0, done: true });
  });

  it("says where it is", () => {
    expect(shareText(375, 1000)).toBe("37.5 %");
    expect(shareText(0, 0)).toBe("100.0 %");
    expect(within(-1, 10)).toBe(0);
    expect(within(11, 10)).toBe(10);
  });
});

describe("ticks of time", () => {
  it("are round, in one unit, and as many as asked for or fewer", () => {
    expect(timeTicks(0, 10e6, 5).map(({ text }) => text)).toEqual(["0 µs", "2 µs", "4 µs", "6 µs", "8 µs", "10 µs"]);
    expect(timeTicks(1.2e6, 1.9e6, 4).map(({ text }) => text)).toEqual(["1.2 µs", "1.4 µs", "1.6 µs", "1.8 µs"]);
    expect(timeTicks(0, 3, 10).map(({ text }) => text)).toEqual(["0 ps", "1 ps", "2 ps", "3 ps"]);
    expect(timeTicks(5, 5, 4)).toEqual([]);
  });

  it("differ from each other and lie between the ends, at every scale", () => {
    for (let power = 0; power < 13; power++) {
      for (const from of [0, 3.7 * 10 ** power, 1e12]) {
        const to = from + 2.3 * 10 ** power;
        const ticks = timeTicks(from, to, 6);
        expect(new Set(ticks.map(({ text }) => text)).size).toBe(ticks.length);
        expect(ticks.length).toBeLessThanOrEqual(7);
        for (const { ps } of ticks) expect(ps >= from && ps <= to).toBe(true);
      }
    }
  });
});
