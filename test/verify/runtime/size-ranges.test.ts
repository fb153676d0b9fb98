import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readMscclXml } from "../../../src/import/programs/program.ts";
import type { Program } from "../../../src/model/program/program.ts";
import { programBuilder } from "../../../src/model/program/program-builder.ts";
import { type NamedProgram, sizeRangeViolations } from "../../../src/verify/runtime/size-ranges.ts";
import { header } from "../../support/msccl-programs.ts";
import { hasSharedData, sharedText } from "../../support/shared-data.ts";

const file = (
  name: string,
  minBytes: number | null,
  maxBytes: number | null,
  more: Partial<Program> = {},
): NamedProgram => {
  const b = programBuilder();
  b.addRank();
  return { name, program: { ...b.build(header(1)), minBytes, maxBytes, ...more } };
};
const messages = (files: readonly NamedProgram[], runtime: "msccl" | "azure" | "rccl" = "azure"): string[] =>
  sizeRangeViolations(files, runtime).map(({ severity, kind, message }) => `${severity} ${kind}: ${message}`);

describe("sizeRangeViolations", () => {
  it("finds nothing where ranges meet, as each runtime reads them", () => {
    expect(messages([file("a", 0, 9), file("b", 10, 0)])).toEqual([]);
    expect(messages([file("a", 0, 10), file("b", 10, 20)], "msccl")).toEqual([]);
    expect(messages([file("a", 5, 4), file("b", 100, 90)])).toEqual([]);
    expect(messages([])).toEqual([]);
  });

  it("tells sizes of two files, and which is taken: by name, or as given", () => {
    const files = [file("b", 0, 10), file("a", 10, 20)];
    expect(messages(files)).toEqual([
      "warning size-overlap: b and a are both for sizes from 10 to 10 bytes (allreduce among 1 gpus, in place): Azure's MSCCL executor takes a",
    ]);
    const half = [file("b", 0, 11), file("a", 10, 20)];
    expect(messages(half, "msccl")).toEqual([
      "warning size-overlap: b and a are both for sizes from 10 to 10 bytes (allreduce among 1 gpus, in place): microsoft/msccl takes b",
    ]);
    expect(messages([file("x", 0, null), file("y", 1, 0)], "rccl")[0]).toContain("from 1 bytes on");
  });

  it("tells sizes of none, also behind a file within another", () => {
    expect(messages([file("c", 50, 60), file("a", 0, 30), file("b", 10, 20)])).toEqual([
      "warning size-overlap: a and b are both for sizes from 10 to 20 bytes (allreduce among 1 gpus, in place): Azure's MSCCL executor takes a",
      "warning size-gap: no file is for sizes from 31 to 49 bytes (allreduce among 1 gpus, in place), between a and c",
    ]);
  });

  it("keeps collectives, ranks and kinds of call apart", () => {
    const others = [
      file("a", 0, 9),
      file("b", 0, 9, { collective: "allgather" }),
      file("c", 0, 9, { rankCount: 2 }),
      file("d", 0, 9, { inPlace: false, outOfPlace: true }),
    ];
    expect(messages(others)).toEqual([]);
    const both = file("e", 0, 9, { outOfPlace: true });
    expect(messages([...others, both])).toHaveLength(2);
    expect(messages([...others.slice(0, 3), both], "msccl")).toHaveLength(1);
  });

  it("counts what a runtime loads", () => {
    const files = Array.from({ length: 5 }, (_, i) => file(`f${i}`, 10 * i, 10 * i + 10));
    expect(messages(files, "msccl")).toEqual(["error files: there are 5 files, but microsoft/msccl loads at most 4"]);
  });

  it("is right about every single size", () => {
    const range = fc.tuple(fc.nat(12), fc.nat(12)).map(([a, b]) => [Math.min(a, b), Math.max(a, b)] as const);
    fc.assert(
      fc.property(fc.array(range, { maxLength: 5 }), (ranges) => {
        // 0 would be no bound.
        const files = ranges.map(([least, most], i) => file(`${i}`, least + 1, most + 1));
        const kinds = new Set(sizeRangeViolations(files, "azure").map(({ kind }) => kind));
        const counts = Array.from(
          { length: 14 },
          (_, size) => ranges.filter(([a, b]) => a + 1 <= size && size <= b + 1).length,
        );
        const text = counts
          .map((count) => Math.min(count, 2))
          .join("")
          .replace(/^0+|0+$/g, "");
        expect(kinds.has("size-overlap")).toBe(text.includes("2"));
        expect(kinds.has("size-gap")).toBe(text.includes("0"));
      }),
    );
  });

  it.skipIf(!hasSharedData)("finds the one size that two files of Azure share", () => {
    const files = ["azure-ar_tree_12_LL.xml", "azure-ar_hier_12_Simple.xml"].map((name) => ({
      name,
      program: readMscclXml(sharedText(`msccl-xml/${name}`), name),
    }));
    expect(messages(files)).toEqual([
      "warning size-overlap: azure-ar_tree_12_LL.xml and azure-ar_hier_12_Simple.xml are both for sizes from 617472 to 617472 bytes (allreduce among 4 gpus, in place): Azure's MSCCL executor takes azure-ar_hier_12_Simple.xml",
    ]);
  });
});
