import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { InputError } from "../../../src/base/errors.ts";
import { parseJson } from "../../../src/import/text/json.ts";
import { missing, refusalFrom, unexpected } from "../../support/refusals.ts";
import { runs } from "../../support/runs.ts";
import { ONE_SENTENCE, sentenceOf } from "../support.ts";

describe("parseJson", () => {
  it.each([
    ["", missing("f line 1, column 1")],
    ["{", missing("f line 1, column 2")],
    ['{"a": tru', missing("f line 1, column 10")],
    ['["a', missing("f line 1, column 4")],
    ['["\\', missing("f line 1, column 4")],
    ['["\\u12', missing("f line 1, column 7")],
    ["[1,\n 2,]", unexpected("f line 2, column 4", "]")],
    ["[1 2]", unexpected("f line 1, column 4", "2]")],
    ["{1: 2}", unexpected("f line 1, column 2", "1: 2}")],
    ['{"a" 1}', unexpected("f line 1, column 6", "1}")],
    ['{"a": 1,}', unexpected("f line 1, column 9", "}")],
    ["[01]", unexpected("f line 1, column 3", "1]")],
    ["[-Infinity]", unexpected("f line 1, column 2", "-Infinity]")],
    ['["a\nb"]', unexpected("f line 1, column 4", "")],
    ['["\\x"]', unexpected("f line 1, column 3", '\\x"]')],
    ['["\\u12g4"]', unexpected("f line 1, column 3", '\\u12g4"]')],
    ["1 2", unexpected("f line 1, column 3", "2")],
    ["[1}", unexpected("f line 1, column 3", "}")],
  ])("says where %j is wrong", (text, sentence) => {
    expect(refusalFrom(() => parseJson(text, "f"))).toEqual(sentence);
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
        else {
          const error = refusalFrom(() => parseJson(text, "f")) as InputError;
          expect(error.place).toMatch(/^f line \d+, column \d+$/);
          expect(error.message).toMatch(ONE_SENTENCE);
        }
      }),
      { numRuns: runs(3000) },
    );
  });

  it("tells where a thousand open brackets stop; more levels are refused", () => {
    expect(refusalFrom(() => parseJson("[".repeat(1000), "f"))).toEqual(missing("f line 1, column 1001"));
    expect(refusalFrom(() => parseJson("[".repeat(100_000), "f"))).toEqual(unexpected("f", "deeper JSON", 1000));
  });
});
