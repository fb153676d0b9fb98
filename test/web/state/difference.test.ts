import { describe, expect, it } from "vitest";
import { type Compared, changeShare, linesOf, remarksOf, sentenceOf } from "../../../src/web/state/difference.ts";

const compared = (totalPs: number, limitUs: number, ofLimit: number): Compared =>
  ({
    schedule: {
      totalPs,
      report: {
        algorithm: "forestcoll",
        deterministic: true,
        time: { us: totalPs / 1e6 },
        limit: { us: limitUs },
        classLimit: { us: limitUs },
        ofLimit,
      },
    },
  }) as unknown as Compared;

describe("the difference", () => {
  it("states time, limits and share before and after", () => {
    const lines = linesOf(compared(100e6, 90, 0.9), compared(150e6, 120, 0.8));
    expect(lines.map(({ past, after, change, isWorse }) => [past, after, change, isWorse])).toEqual([
      ["100 us", "150 us", "+50 %", true],
      ["90 us", "120 us", "+33.3 %", true],
      ["90 us", "120 us", "+33.3 %", true],
      ["90 %", "80 %", "−10 points", true],
    ]);
  });

  it("says so where nothing changed, or it got better", () => {
    const one = compared(100e6, 90, 0.9);
    expect(linesOf(one, one).map(({ change, isWorse }) => [change, isWorse])).toEqual(
      Array(4).fill(["the same", null]),
    );
    expect(linesOf(one, compared(80e6, 80, 1))[0]).toMatchObject({ change: "−20 %", isWorse: false });
    expect(changeShare(100, 100.01)).toBe("+0 %");
  });

  it("compares limits of a class of one algorithm only, and says where another made the schedule", () => {
    const one = compared(100e6, 90, 0.9);
    const by = (algorithm: string, more = {}): Compared => ({
      schedule: { ...one.schedule, report: { ...one.schedule.report, algorithm, ...more } },
    });
    expect(linesOf(by("nvls"), one).map(({ name }) => name)).toEqual([
      "time",
      "limit for any algorithm",
      "share of the limit",
    ]);
    expect(remarksOf(one, one)).toEqual([]);
    expect(remarksOf(by("nvls"), one)).toEqual(["The algorithm changed: nvls before, forestcoll now."]);
    const auto = { budgetMs: 10_000, tried: [{}], leftOut: [], because: "" };
    expect(remarksOf(one, by("forestcoll", { auto, deterministic: true }))).toEqual([]);
    expect(remarksOf(one, by("forestcoll", { auto, deterministic: false }))).toEqual([
      "The time limit (10 s) ended the choice now, after 1 algorithm.",
    ]);
  });

  it("is one sentence", () => {
    const one = compared(100e6, 90, 0.9);
    expect(sentenceOf(one, one)).toBe("takes as long as before");
    expect(sentenceOf(one, compared(112e6, 90, 0.9))).toBe("takes 12 % longer");
    expect(sentenceOf(one, compared(75e6, 70, 0.9))).toBe("takes 25 % less");
    expect(sentenceOf(one, compared(310e6, 90, 0.9))).toBe("takes 3.1 times as long");
  });
});
