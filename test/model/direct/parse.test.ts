import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { InputError } from "../../../src/base/errors.ts";
import { type Construction, constructionText } from "../../../src/model/direct/construction.ts";
import { parseConstruction } from "../../../src/model/direct/parse.ts";
import { missing, refusalFrom, unexpected } from "../../support/refusals.ts";
import { runs } from "../../support/runs.ts";

const small: fc.Arbitrary<Construction> = fc
  .constantFrom<[string, number[]]>(
    ["K", [5]],
    ["K", [4, 4]],
    ["H", [2, 3]],
    ["C", [16, 3, 4]],
    ["MultiC", [2, 16, 3, 4]],
    ["DC", [6, 1, 2, 3, 4]],
    ["Pi", [4, 64]],
    ["Octahedron", []],
    ["LineTutte8", []],
    ["HeawoodDistance3", []],
    ["SkewTorus", [4, 8, 3]],
    ["SkewTorus", [4, 4, 8, 0, 1, 2]],
    ["TwistedTorus", [4, 4, 8]],
    ["Torus", [7]],
  )
  .map(([name, parameters]) => ({ kind: "family", family: name, parameters }));
const positive = fc.integer({ min: 1, max: 1e9 });
const constructions = fc.letrec<{ any: Construction }>((tie) => ({
  any: fc.oneof(
    { maxDepth: 5 },
    small,
    fc.record({ kind: fc.constant("line" as const), times: positive, base: tie("any") }),
    fc.record({ kind: fc.constant("degree" as const), factor: positive, base: tie("any") }),
    fc.record({ kind: fc.constant("power" as const), exponent: positive, base: tie("any") }),
    fc.record({
      kind: fc.constant("product" as const),
      factors: fc.array(tie("any"), { minLength: 2, maxLength: 3 }),
    }),
    fc.record({ kind: fc.constant("transpose" as const), base: tie("any") }),
    fc.record({ kind: fc.constant("bidirectional" as const), base: tie("any") }),
  ),
})).any;

describe("constructions as text", () => {
  it("are read back as the same, and with any spaces between signs", () => {
    fc.assert(
      fc.property(constructions, fc.boolean(), (construction, wide) => {
        const text = constructionText(construction);
        fc.pre(text.length <= 450);
        const written = wide ? text.replace(/[(){},^*]/g, " $& ").replace(/([A-Za-z]\d*) +\(/g, "$1(") : text;
        expect(parseConstruction(written)).toEqual(construction);
      }),
      { numRuns: runs(500) },
    );
  });

  it.each([
    ["L3(C(16,{3,4}))", "L3(C(16,{3,4}))"],
    ["L^3(C(16,{3,4}))", "L3(C(16,{3,4}))"],
    ["L^{3}(C(16,3,4))", "L3(C(16,{3,4}))"],
    ["L(K_{4,4})", "L(K(4,4))"],
    ["K5", "K(5)"],
    ["K_5", "K(5)"],
    ["K_{4,4}", "K(4,4)"],
    ["Q10", "Q(10)"],
    ["Π(4,1024)", "Pi(4,1024)"],
    ["Π_{4,1024}", "Pi(4,1024)"],
    ["GenKautz(4,1024)", "Pi(4,1024)"],
    ["Hypercube(4)^□2", "Q(4)^2"],
    ["Octahedron^{□2}", "Octahedron^2"],
    ["Octahedron□2", "Octahedron^2"],
    ["(UniRing(1,4) □ UniRing(1,8))^{□2}", "(UniRing(1,4) x UniRing(1,8))^2"],
    ["UniRing(1,4)xUniRing(1,8)×K2", "UniRing(1,4) x UniRing(1,8) x K(2)"],
    ["BiRing(2,8) □ UniRing(1,4)□2", "BiRing(2,8) x UniRing(1,4)^2"],
    ["K_3 * 2", "K(3)*2"],
    ["BiRing(2,5)*2", "BiRing(2,5)*2"],
    ["K3*2^2", "(K(3)*2)^2"],
    ["T( Bi(Pi(2,5)) )", "T(Bi(Pi(2,5)))"],
    ["((K5))", "K(5)"],
    ["C_{16,{3,4}}", "C(16,{3,4})"],
  ])("%s is %s", (text, canonical) => {
    expect(constructionText(parseConstruction(text))).toBe(canonical);
    expect(parseConstruction(canonical)).toEqual(parseConstruction(text));
  });
});

/** Text, column of the caret, what is named of what would have been right. */
const WRONG: readonly [string, number, ...(string | number)[]][] = [
  ["", 0],
  ["L3(C(16,{3,4})", 14, '")"', '"x"'],
  ["C(16,{3,4}", 10, '","', '")"'],
  ["C(16,{3.4})", 7, '","', '"}"'],
  ["C({16},3)", 7, '")"'],
  ["C(16,{})", 6],
  ["SkewTorus(4,{8,3})", 0, "SkewTorus(a,b,...,{t12,t13,...,t23,...})"],
  ["K({5})", 0, "K(m)"],
  ["K(5) x Kauz(4,2)", 7, '"Kautz"'],
  ["K(5) x C(10,{2,4})", 7, 10, 2],
  ["K(5) y", 5, '"x"', '"^n"', '"*n"'],
  ["K5)", 2, '"x"', '"^n"', '"*n"'],
  ["K5^0", 3, "1 or more"],
  ["K5*x", 3, "degree expansion"],
  ["K5^{2", 5, '"}"'],
  ["K(99999999999)", 2, "1e9"],
  ["L K5", 2, '"("', "L2"],
  ["T2(K5)", 1, '"("', "T"],
  ["L", 1, '"("', "L2"],
  ["(K5 x )", 6, "K(4,4)", '"("'],
  ["K_", 2, '"{"'],
];

const carets = (error: Error): string[] => error.message.split("\n").slice(1);

describe("malformed constructions", () => {
  it.each(WRONG)("%j: a caret under column %i", (text, column, ...named) => {
    const error = refusalFrom(() => parseConstruction(text));
    const rest = text.slice(column);
    if (rest === "") expect(error).toEqual(missing("the end of the topology", ...named));
    else expect(error).toEqual(unexpected(`character ${column + 1} of the topology`, rest, ...named));
    expect(carets(error)).toEqual([`  ${text}`, `${" ".repeat(column + 2)}^`]);
  });

  it("shows the part of a long text around the place", () => {
    const text = `${"K5 x ".repeat(40)}Foo`;
    const error = refusalFrom(() => parseConstruction(text));
    expect(carets(error)).toEqual([`  ...${"K5 x ".repeat(10)}Foo`, `${" ".repeat(2 + 3 + 50)}^`]);
  });

  it("bounds length and depth", () => {
    const refusal = (text: string) => refusalFrom(() => parseConstruction(text));
    const long = "K5 x ".repeat(1000);
    expect(refusal(long)).toEqual(unexpected("character 1001 of the topology", long.slice(1000), 1000));
    expect(refusal("(".repeat(900))).toEqual(unexpected("character 61 of the topology", "(".repeat(840), 60));
    expect(refusal(`K5${"*2".repeat(100)}`)).toEqual(unexpected("character 123 of the topology", "*2".repeat(40), 60));
  });

  it("never fails otherwise, whatever is written", () => {
    const signs = fc.constantFrom(
      ..."KLTCPi(){},^*x□_ 0123459".split(""),
      "K(4,4)",
      "Pi(2,5)",
      "C(7,{2,3})",
      "Bi(",
      "L2(",
    );
    fc.assert(
      fc.property(fc.array(signs, { maxLength: 14 }), (parts) => {
        try {
          const construction = parseConstruction(parts.join(""));
          expect(parseConstruction(constructionText(construction))).toEqual(construction);
        } catch (error) {
          expect(error).toBeInstanceOf(InputError);
        }
      }),
      { numRuns: runs(2000) },
    );
  });
});
