import { describe, expect, it } from "vitest";
import { parseJson, refuseHugeJson } from "../../../src/import/text/json.ts";
import { unexpected } from "../../support/refusals.ts";

const read = (text: string): unknown => parseJson(text, "a.json");

describe("JSON that would take too much memory", () => {
  it("has at most 1,000 levels: what is nested a million times deep is refused before it is parsed", () => {
    const nested = (levels: number, open: string, close: string): string =>
      `${open.repeat(levels)}1${close.repeat(levels)}`;
    expect(() => read(nested(1000, "[", "]"))).not.toThrow();
    expect(() => read(nested(1001, "[", "]"))).toThrow(unexpected("a.json", "deeper JSON", 1000));
    expect(() => read(nested(1_000_000, '{"a":', "}"))).toThrow(unexpected("a.json", "deeper JSON", 1000));
    expect(() => read("[".repeat(1_000_000))).toThrow(unexpected("a.json", "deeper JSON", 1000));
  });

  it("has at most 2^20 members in an object, however many objects there are", () => {
    const object = (members: number): string => `{${Array.from({ length: members }, (_, i) => `"${i}":1`).join()}}`;
    expect(() =>
      refuseHugeJson(`[${Array.from({ length: 30 }, () => object(50_000)).join()}]`, "a.json"),
    ).not.toThrow();
    expect(() => read(object(2 ** 20 + 1))).toThrow(unexpected("a.json", "JSON with more", 1048576));
  });

  it("has at most 2^24 lists and objects", () => {
    expect(() => refuseHugeJson(`[${"[],".repeat(2 ** 24)}[]]`, "a.json")).toThrow(
      unexpected("a.json", "JSON with more", 16777216),
    );
  });

  it("counts nothing inside texts, also behind escaped quotation marks", () => {
    const brackets = "[{:,".repeat(2000);
    for (const text of [brackets, `\\"${brackets}`, `${brackets}\\\\`, `\\\\\\"${brackets}`]) {
      expect(read(`["${text}", 1]`)).toHaveLength(2);
    }
  });

  it("leaves mistakes to the parser, which tells their place", () => {
    for (const text of ["]]]]", "}", '"', '["a', "[1,]", '{"a"']) expect(() => read(text)).toThrow(/a\.json line 1/);
  });
});
