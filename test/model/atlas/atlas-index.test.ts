import { describe, expect, it } from "vitest";
import {
  type AtlasClass,
  type AtlasCollective,
  changeText,
  failureKey,
  foundByName,
  harmText,
  ranked,
  worstByName,
} from "../../../src/model/atlas/atlas-index.ts";

const schedule = {
  us: 10,
  algbwGBps: 1,
  throughputGBps: null,
  limitUs: 9,
  ofLimit: 0.9,
  because: "a cut",
  algorithm: "ring",
  file: "schedules/a",
  sha256: "a",
  bytes: 1,
};
const classOf = (failed: string[], rest: Partial<AtlasClass> = {}): AtlasClass => ({
  failed,
  on: [],
  status: "done",
  why: null,
  schedule,
  slower: 1.5,
  limitRose: 1.2,
  kept: null,
  keptNote: null,
  ...rest,
});

const collective: AtlasCollective = {
  healthy: schedule,
  classes: [
    classOf(["0-rail0"]),
    classOf(["sw"], { status: "impossible", schedule: null, slower: null, limitRose: null, why: "no way" }),
    classOf(["1-rail1", "2-rail2"], { slower: 2 }),
    classOf(["0-rail0", "3-rail2"], { on: ["0-rail0"], slower: 3 }),
    classOf(["box"], { status: "open", schedule: null, slower: null, limitRose: null }),
    classOf(["a-b-c"], { slower: 1 }),
  ],
  failures: { "0-rail0": 0, "1-rail1": 0, sw: 1, "1-rail1+2-rail2": 2, box: 4, "a-b-c": 5, "a-b#2": 5 },
  further: { "0-rail0": { "3-rail2": 3 } },
};

describe("what an index finds by name", () => {
  it.each([
    ["0-rail0", 0],
    ["rail0-0", 0],
    ["0>rail0", 0],
    ["rail1>1", 0],
    ["sw", 1],
    ["a-b-c", 5],
    ["b-a#2", 5],
    ["b-c-a", 5],
  ])("hears %s", (name, at) => {
    expect(foundByName(collective, [name])?.at).toBe(at);
  });

  it.each([
    [["2-rail2", "1-rail1"], 2],
    [["rail1>1", "2>rail2"], 2],
    [["0-rail0", "3-rail2"], 3],
    [["rail2-3", "0>rail0"], 3],
  ])("hears %j together, in any order", (names, at) => {
    expect(foundByName(collective, names)?.at).toBe(at);
  });

  it.each([["0-rail1"], ["constructor"], ["__proto__"], ["-"], [">"], ["rail0-0#2"]])(
    "does not take %s for another",
    (name) => {
      expect(foundByName(collective, [name])).toBeNull();
    },
  );

  it("returns names as they stand in the index", () => {
    expect(foundByName(collective, ["rail2>3", "rail0-0"])?.failed).toEqual(["3-rail2", "0-rail0"]);
    expect(failureKey(["b", "a"])).toBe("a+b");
  });
});

describe("harm", () => {
  it("ranks what leaves no way first, then what is not known, then by time", () => {
    expect(ranked(collective).map(({ at }) => at)).toEqual([1, 4, 3, 2, 0, 5]);
    expect(ranked(collective).map(({ members }) => members)).toEqual([1, 1, 1, 1, 2, 2]);
  });

  it("of a name that fails alone and with others is what it does alone", () => {
    const worst = worstByName(collective);
    expect(worst.get("1-rail1")).toBe(0);
    expect(worst.get("2-rail2")).toBe(2);
  });

  it("is said in a word", () => {
    expect(collective.classes.map(harmText)).toEqual(["+50 %", "no way", "+100 %", "+200 %", "open", "no slower"]);
    expect(changeText(1 + 1e-12)).toBe("no slower");
    expect(changeText(100)).toBe("+9900 %");
  });
});
