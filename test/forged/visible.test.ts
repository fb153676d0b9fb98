import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { csvCell } from "../../src/base/csv-cell.ts";
import { InfeasibleError, InputError, shown } from "../../src/base/errors.ts";
import { jsonText, textWidth, visible, visibleLines } from "../../src/base/visible.ts";
import { aligned, fitted, wrapped } from "../../src/cli/reports/text.ts";
import { xmlAttribute } from "../../src/export/xml-attribute.ts";
import { expectVisible, HOSTILE } from "../support/hostile-names.ts";
import { elementsOf } from "../support/svg-elements.ts";

/** Texts of any UTF-16 units, many of them hostile. */
const anyText = fc
  .array(fc.oneof(fc.string({ unit: "binary" }), fc.constantFrom(...HOSTILE), fc.constantFrom("\ud800", "\udfff")))
  .map((parts) => parts.join(""));

describe("visible", () => {
  it("escapes what cannot be seen, in the way of JSON", () => {
    expect(visible("a\n\r\t\0\u001b\u007f\u009b")).toBe("a\\n\\r\\t\\u0000\\u001b\\u007f\\u009b");
    expect(visible("\u202e\u2066\u200b\ufeff\u2028\u061c\u00ad\ud800")).toBe(
      "\\u202e\\u2066\\u200b\\ufeff\\u2028\\u061c\\u00ad\\ud800",
    );
    expect(visible("\u{e0041}\u{1f600}")).toBe("\\udb40\\udc41\u{1f600}");
  });
  it("leaves letters of all languages as they are", () => {
    for (const text of ["Zürich ÅÄÖ", "机架-7", "стойка", "שרת", "خادم", "ノード", "ไทย", "\u{1f5a5}1", "e\u0301"])
      expect(visible(text)).toBe(text);
  });
  it("leaves nothing hidden in any text, and what it returns as it is", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const once = visible(text);
        expectVisible(once.replaceAll("\n", "\0"), "visible");
        expect(visible(once)).toBe(once);
        expect(visibleLines(text).split("\n").map(visible).join("\n")).toBe(visibleLines(text));
      }),
    );
  });
  it("writes JSON that is the same value to every reader", () => {
    fc.assert(
      fc.property(fc.dictionary(anyText, fc.array(anyText)), (value) => {
        expectVisible(jsonText(value, 2), "JSON");
        expect(JSON.parse(jsonText(value))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });
});

describe("errors", () => {
  it("show names and values in one line that nothing is hidden in", () => {
    for (const name of HOSTILE) {
      for (const error of [new InputError(name, name, name), new InfeasibleError(`${name} is cut off`)])
        expectVisible(error.message.replaceAll("\n", "\0"), error.name);
      expectVisible(shown([name]).replaceAll("\n", "\0"), "shown");
    }
  });
  it("cut no character in two", () => {
    for (let before = 70; before < 80; before++)
      expect(shown(`${"a".repeat(before)}${"\u{1f600}".repeat(9)}`)).not.toMatch(/\\ud83d/);
  });
});

describe("columns of a terminal", () => {
  it("are two for wide characters and none for combining ones", () => {
    expect(["abc", "机架", "e\u0301", "\u{1f600}", "ｆｕｌｌ", "한글", ""].map(textWidth)).toEqual([
      3, 4, 1, 2, 8, 4, 0,
    ]);
  });
  it("are counted after escaping: tables stay aligned", () => {
    const rows = [...HOSTILE, "机架", "e\u0301e\u0301", "plain"].map((name) => [name, "1", "end"]);
    const ends = aligned(rows, ["left", "right"]).map((line) => textWidth(line.slice(0, line.lastIndexOf("end"))));
    expect(new Set(ends).size).toBe(1);
  });
  it("limit wrapped lines, whatever the words are", () => {
    const words = fc.array(fc.constantFrom(...HOSTILE.map((name) => name.slice(0, 9)), "机架机架", "e\u0301", "word"));
    fc.assert(
      fc.property(words, fc.integer({ min: 60, max: 90 }), (list, width) => {
        const lines = wrapped(list.join(" "), width);
        for (const line of lines) expect(textWidth(line)).toBeLessThanOrEqual(width);
        expect(lines.join(" ")).toBe(visible(list.join(" ")));
      }),
    );
  });
  it("of a report line are at most 120, what is too long below its last column", () => {
    const lines = fitted(`  机架机架    ${"机架 ".repeat(60)}`, 120);
    expect(lines.length).toBeGreaterThan(2);
    for (const line of lines) expect(textWidth(line)).toBeLessThanOrEqual(120);
    expect(new Set(lines.map((line) => textWidth(line.slice(0, line.lastIndexOf("  ") + 2))))).toEqual(new Set([14]));
  });
});

describe("cells of CSV", () => {
  it("are no formulas, and numbers stay numbers", () => {
    expect(["=1+1", "+1", "-1", "@A1", " =1", "\uff1d1", "|cmd"].map(csvCell)).toEqual([
      "'=1+1",
      "'+1",
      "'-1",
      "'@A1",
      "' =1",
      "'\uff1d1",
      "'|cmd",
    ]);
    expect(['a,"b"', "a;=1", "\t=1", "\r=1", "a\n=1"].map(csvCell)).toEqual([
      '"a,""b"""',
      '"a;=1"',
      "'\\t=1",
      "'\\r=1",
      "a\\n=1",
    ]);
    expect([-1, 1.5e-7, true, null, undefined].map(csvCell)).toEqual(["-1", "1.5e-7", "true", "", ""]);
  });
});

it("writes attributes that XML readers read back, but for what XML cannot hold", () => {
  for (const name of HOSTILE) {
    const [element] = elementsOf(`<a name="${xmlAttribute(name)}"/>`);
    const held = name.replace(/[^\t\n\r -\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, visible);
    expect(element?.attributes["name"]).toBe(held);
    expectVisible(xmlAttribute(name).replaceAll("\n", "\0"), "attribute");
  }
});
