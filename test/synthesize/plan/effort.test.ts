import { describe, expect, it } from "vitest";
import { effortOf } from "../../../src/synthesize/plan/effort.ts";

describe("what a search may do", () => {
  it("is counted, parts of it too, and less than the clock allows", () => {
    const effort = effortOf(1000, () => 0);
    const all = effort.leftMs();
    expect(all).toBeGreaterThan(0);
    expect(all).toBeLessThan(1000);
    const half = effort.part(1 / 2);
    half.spend(all / 4);
    expect([half.leftMs(), effort.leftMs()]).toEqual([all / 4, (3 * all) / 4]);
    half.spend(all);
    expect([half.isOver(), half.leftMs(), effort.isOver()]).toEqual([true, 0, true]);
    const least = effort.part(1 / 2).atLeast(50);
    expect([least.leftMs(), least.isOver()]).toEqual([50, false]);
  });

  it("does other things while the clock stands", async () => {
    let now = 0;
    const effort = effortOf(1000, () => now);
    const part = effort.part(1 / 2);
    now = 100;
    const answer = await part.aside(async () => {
      now = 5000;
      return "done";
    });
    expect([answer, effort.clockMs(), part.clockMs()]).toEqual(["done", 900, 900]);
  });

  it("ends by the clock as well, but for what is done at least", () => {
    let now = 0;
    const effort = effortOf(1000, () => now);
    const part = effort.part(1 / 10);
    now = 400;
    expect([part.clockMs(), part.isOver()]).toEqual([600, false]);
    now = 1000;
    expect([part.clockMs(), part.isOver(), effort.isOver()]).toEqual([0, true, true]);
    const least = part.atLeast(50);
    expect([least.clockMs(), least.isOver()]).toEqual([50, false]);
    now = 1050;
    expect(least.isOver()).toBe(true);
  });
});
