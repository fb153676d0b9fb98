import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { mscclXmlParts } from "../../../src/export/programs/msccl-xml.ts";
import { readMscclXml } from "../../../src/import/programs/program.ts";
import { checkedText, mscclLimitViolations } from "../../../src/verify/runtime/msccl-limits.ts";
import { anyMscclProgram } from "../../support/msccl-programs.ts";
import { runs } from "../../support/runs.ts";

const text = readFileSync(new URL("../../fixtures/azure-scratch.xml", import.meta.url), "utf8");
const program = readMscclXml(text, "scratch.xml");
const found = (changed: string, runtime: "msccl" | "azure" | "rccl" = "azure"): string[] =>
  mscclLimitViolations(program, runtime, changed).map(
    ({ severity, kind, message }) => `${severity} ${kind}: ${message}`,
  );
const parser = "but the parser of Azure's MSCCL executor";

describe("checkedText", () => {
  it("hands on a file as it is, and stops before the part that the parser would not read", () => {
    const refuse = ({ kind }: { readonly kind: string }): never => {
      throw new RangeError(kind);
    };
    const parts = [...mscclXmlParts(program, { dialect: "azure" })].flatMap((part) => part.split(/(?<=\n)/));
    expect([...checkedText(parts, "azure", refuse)]).toEqual(parts);
    const handed: string[] = [];
    const read = (): void => {
      const spoilt = parts.map((part, i) => (i === 3 ? part.replace("<", "\t<") : part));
      for (const part of checkedText(spoilt, "azure", refuse)) handed.push(part);
    };
    expect(read).toThrow(new RangeError("tab"));
    expect(handed).toEqual(parts.slice(0, 3));
  });
});

describe("a text as the runtimes' own parser reads it", () => {
  it.each<[string, string, string]>([
    [
      `<?xml version="1.0"?>\n${text}`,
      "declaration: line 1 has an XML declaration",
      "takes <algo> as the first element",
    ],
    [
      text.replace("  <gpu", "\t<gpu"),
      "tab: line 4 has a TAB",
      "takes only spaces and line ends between elements and one space between attributes",
    ],
    [
      text.replace('id="1" i_chunks', 'id="1"\ti_chunks'),
      "tab: line 4 has a TAB",
      "takes only spaces and line ends between elements and one space between attributes",
    ],
    [`\ufeff${text}`, "text: line 1 has text between elements", "takes nothing but elements"],
    [text.replace("</tb>", "</tb>&#32;"), "text: line 7 has text between elements", "takes nothing but elements"],
    [text.replace("</tb>", "</tb >"), "closing-tag: line 7 has a closing tag with a space", "takes only a name in it"],
    [
      text.replace('proto="LL"', "proto='LL'"),
      "quotes: line 3 has attribute proto otherwise written",
      'takes only name="value" with double quotes and no spaces around =',
    ],
    [
      text.replace('proto="LL"', 'proto ="LL"'),
      "quotes: line 3 has attribute proto otherwise written",
      'takes only name="value" with double quotes and no spaces around =',
    ],
    [
      text.replace('proto="LL"', 'proto= "LL"'),
      "quotes: line 3 has attribute proto otherwise written",
      'takes only name="value" with double quotes and no spaces around =',
    ],
    [
      text.replace(' proto="LL"', '\nproto="LL"'),
      "line-break: line 3 has a line break in <algo>",
      "takes a tag on one line only",
    ],
    [
      text.replace('coll="allreduce"', 'coll="all&#114;educe"'),
      "entity: line 3 has an entity in attribute coll",
      "takes & literally",
    ],
    [
      text.replace("pair_scratch", "é".repeat(128)),
      "value-length: line 3 has a value of 256 bytes",
      "has room for 255 bytes",
    ],
  ])("is refused where it is odd: case %#", (changed, what, rule) => {
    expect(found(changed)).toContain(`error ${what}, ${parser} ${rule}`);
  });

  it("has room for 255 bytes, entities in names, Windows line ends, comments and one space before a tag's end", () => {
    expect(found(text.replace("pair_scratch", "n".repeat(255)))).toEqual([]);
    expect(found(text.replace("pair_scratch", "a &amp; b"))).toEqual([]);
    expect(found(text.replaceAll("\n", "\r\n"))).toEqual([]);
    expect(found(text.replaceAll("/>", " />").replace("</algo>", "<!-- <?\t'' --></algo>"))).toEqual([]);
  });

  it("counts further spaces as attributes", () => {
    const rule = "counts each further space as an attribute";
    expect(found(text.replace(" proto", "   proto"))).toEqual([
      `warning spaces: line 3 has 3 spaces in a row in <algo>, ${parser} ${rule}`,
    ]);
    expect(found(text.replace(" proto", "      proto"))).toEqual([
      `warning spaces: line 3 has 6 spaces in a row in <algo>, ${parser} ${rule}`,
      "error missing-attribute: <algo> on line 3 has no maxBytes among its first 16 attributes, which Azure's MSCCL executor needs",
    ]);
  });

  it("keeps sixteen attributes of an element", () => {
    const more = (count: number): string => Array.from({ length: count }, (_, i) => `x${i}="0"`).join(" ");
    expect(found(text.replace("<algo ", `<algo ${more(4)} `))).toEqual([]);
    expect(found(text.replace("<algo ", `<algo ${more(5)} `))).toEqual([
      "error missing-attribute: <algo> on line 3 has no maxBytes among its first 16 attributes, which Azure's MSCCL executor needs",
    ]);
    expect(found(text.replace('hasdep="0"', `hasdep="0" ${more(7)}`))).toEqual([
      "warning attributes: <step> on line 12 has 17 attributes, but Azure's MSCCL executor keeps the first 16",
    ]);
    expect(found(text.replace('<step s="0"', `<step ${more(7)} s="0"`))).toEqual([
      "error missing-attribute: <step> on line 6 has no hasdep among its first 16 attributes, which Azure's MSCCL executor needs",
    ]);
  });

  it("needs what each runtime looks up", () => {
    const bare = text
      .replace(' name="pair_scratch"', "")
      .replace(' outofplace="1"', "")
      .replace(' minBytes="0x40"', "");
    expect(found(bare)).toEqual([
      "error missing-attribute: <algo> on line 3 has no outofplace, minBytes, which Azure's MSCCL executor needs",
    ]);
    expect(found(bare, "msccl").filter((line) => line.includes("missing"))).toEqual([
      "error missing-attribute: <algo> on line 3 has no name, which microsoft/msccl needs",
    ]);
  });

  it("says a thing once, where it is first", () => {
    expect(found(text.replaceAll("  <", "\t<")).filter((line) => line.includes("TAB"))).toHaveLength(1);
  });

  it("of whatever kind is looked at to its end", () => {
    const pieces = fc.constantFrom(
      "<",
      ">",
      "/",
      "=",
      '"',
      "'",
      " ",
      "\n",
      "\t",
      "<!--",
      "-->",
      "<?",
      "</",
      "algo",
      "step",
      "x",
      "&",
      "é",
    );
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 60 }), (parts) => {
        for (const { kind, line } of mscclLimitViolations(program, "rccl", parts.join(""))) {
          expect(kind).toMatch(/^[a-z-]+$/);
          expect(line ?? 1).toBeLessThanOrEqual(parts.join("").split("\n").length);
        }
      }),
      { numRuns: runs(500) },
    );
    expect(found("<".repeat(300_000))).toEqual([]);
    expect(found(`<a${" a".repeat(300_000)}`).length).toBeGreaterThan(0);
  });
});

describe("a text in parts", () => {
  it("is found to be what it is as a whole, cut between its lines, tidy ones and others", () => {
    const lines = text.split(/(?<=\n)/);
    const spoilt = fc.constantFrom(
      (line: string) => line,
      (line: string) => line.replace(" ", "  "),
      (line: string) => line.replace(/ (cnt|send)="([^"]*)"/, " $1='$2'"),
      (line: string) => line.replace(/ (id|chan|deps|o_chunks)="[^"]*"/, ""),
      (line: string) => line.replace('="', '="&'),
      (line: string) => line.replace(/="(\d+)"/, (_, digits) => `="${digits.padStart(256, "0")}"`),
      (line: string) => line.replace("/>", ' a="" b="" c="" d="" e="" f="" g=""/>'),
      (line: string) => line.replace(/(\w+="[^"]*") (\w+="[^"]*")/, "$2 $1"),
      (line: string) => `\t${line}`,
    );
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.nat(lines.length - 1), spoilt), { maxLength: 4 }),
        fc.array(fc.nat(lines.length), { maxLength: 5 }),
        (changes, cuts) => {
          const changed = lines.slice();
          for (const [at, change] of changes) changed[at] = change(changed[at]);
          const ends = [...new Set([0, ...cuts, lines.length])].sort((a, b) => a - b);
          const parts = ends.slice(1).map((end, k) => changed.slice(ends[k], end).join(""));
          expect(mscclLimitViolations(program, "azure", parts)).toEqual(
            mscclLimitViolations(program, "azure", changed.join("")),
          );
        },
      ),
      { numRuns: runs(200) },
    );
  });
});

describe("what mscclXmlParts writes", () => {
  it("is read by that parser, whatever the program", () => {
    const odd = new Set([
      ..."declaration tab text closing-tag quotes line-break spaces entity missing-attribute attributes".split(" "),
    ]);
    fc.assert(
      fc.property(
        anyMscclProgram(),
        fc.constantFrom("msccl" as const, "azure" as const, "rccl" as const),
        (any, dialect) => {
          const written = [...mscclXmlParts(any, { dialect })].join("");
          const kinds = mscclLimitViolations(any, dialect, written).map(({ kind }) => kind);
          expect(kinds.filter((kind) => odd.has(kind))).toEqual([]);
        },
      ),
    );
  });
});
