import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseJson } from "../../../src/import/text/json.ts";
import { runs } from "../../support/runs.ts";
import { sentenceOf } from "../support.ts";

describe("parseJson", () => {
  it.each([
    ["", "expected more JSON (the text stops too early) for f line 1, column 1 but received nothing"],
    ["{", "expected more JSON (the text stops too early) for f line 1, column 2 but received nothing"],
    ['{"a": tru', "expected more JSON (the text stops too early) for f line 1, column 10 but received nothing"],
    ['["a', "expected more JSON (the text stops too early) for f line 1, column 4 but received nothing"],
    ['["\\', "expected more JSON (the text stops too early) for f line 1, column 4 but received nothing"],
    ['["\\u12', "expected more JSON (the text stops too early) for f line 1, column 7 but received nothing"],
    ["[1,\n 2,]", 'expected valid JSON for f line 2, column 4 but received "]"'],
    ["[1 2]", 'expected valid JSON for f line 1, column 4 but received "2]"'],
    ["{1: 2}", 'expected valid JSON for f line 1, column 2 but received "1: 2}"'],
    ['{"a" 1}', 'expected valid JSON for f line 1, column 6 but received "1}"'],
    ['{"a": 1,}', 'expected valid JSON for f line 1, column 9 but received "}"'],
    ["[01]", 'expected valid JSON for f line 1, column 3 but received "1]"'],
    ["[-Infinity]", 'expected valid JSON for f line 1, column 2 but received "-Infinity]"'],
    ['["a\nb"]', 'expected valid JSON for f line 1, column 4 but received ""'],
    ['["\\x"]', 'expected valid JSON for f line 1, column 3 but received "\\\\x\\"]"'],
    ['["\\u12g4"]', 'expected valid JSON for f line 1, column 3 but received "\\\\u12g4\\"]"'],
    ["1 2", 'expected valid JSON for f line 1, column 3 but received "2"'],
    ["[1}", 'expected valid JSON for f line 1, column 3 but received "}"'],
  ])("says where %j is wrong", (text, sentence) => {
    expect(sentenceOf(() => parseJson(text, "f"))).toBe(sentence);
  });

  it("reads past a byte order mark", () => {
    expect(parseJson("\ufeff[1]", "f")).toEqual([1]);
  });

  it("agrees with JSON.parse about what is JSON, and blames a cut text on its end", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.nat(), fc.boolean(), (value, cut, pretty) => {
        const text = JSON.stringify({ value }, null, pretty ? 2 : 0);
        expect(parseJson(text, "f")).toEqual(JSON.parse(text));
        expect(sentenceOf(() => parseJson(text.slice(0, cut % text.length), "f"))).toMatch(/stops too early/);
      }),
    );
  });

  it("never accepts or crashes on what JSON.parse refuses", () => {
    const soup = fc.string({ unit: fc.constantFrom(...'{}[],:"\\u0a1-.eE+ \n\ttrue false null'.split("")) });
    fc.assert(
      fc.property(soup, (text) => {
        let valid = true;
        try {
          JSON.parse(text);
        } catch {
          valid = false;
        }
        if (valid) parseJson(text, "f");
        else expect(sentenceOf(() => parseJson(text, "f"))).toMatch(/^expected (more|valid) JSON/);
      }),
      { numRuns: runs(3000) },
    );
  });

  it("tells where a thousand open brackets stop; more levels are refused", () => {
    expect(sentenceOf(() => parseJson("[".repeat(1000), "f"))).toMatch(/column 1001/);
    expect(sentenceOf(() => parseJson("[".repeat(100_000), "f"))).toMatch(/at most 1000 levels/);
  });
});
