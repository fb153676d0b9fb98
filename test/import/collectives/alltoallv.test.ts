import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readAlltoallv, readCollective } from "../../../src/import/collectives/collective.ts";
import type { Collective } from "../../../src/model/collective/collective.ts";
import { toNumber } from "../../../src/model/numbers/rational.ts";
import { topologyBuilder } from "../../../src/model/topology/topology-builder.ts";
import { missing, refusalFrom, unexpected } from "../../support/refusals.ts";
import { runs } from "../../support/runs.ts";

/** Returns a ring of so many NPUs. */
function ring(npus: number) {
  const builder = topologyBuilder("ring");
  for (let v = 0; v < npus; v++) builder.addNpu(`${v}`);
  for (let v = 0; v < npus; v++) builder.addLink(v, (v + 1) % npus, 50e9, 0);
  return builder.build();
}

const three = ring(3);
const read = (text: string, sizeBytes?: number): Collective =>
  readAlltoallv(text, "m.txt", three, sizeBytes === undefined ? {} : { sizeBytes });

/** Returns how many bytes each pair has, padding included, row by row. */
function bytesOf({ pre, post, chunkCount, chunkBytes, groupSize }: Collective): number[] {
  if (pre.kind !== "one" || post.kind !== "one") throw new Error("chunks of one NPU for one NPU");
  const bytes = new Array<number>(groupSize * groupSize).fill(0);
  for (let c = 0; c < chunkCount; c++) bytes[pre.npu[c] * groupSize + post.npu[c]] += toNumber(chunkBytes);
  return bytes;
}

describe("readAlltoallv", () => {
  it("reads bytes, units, commas, blanks, comments and empty lines; the diagonal stays at home", () => {
    const matrix = read("# three\n\n 7 4K  8192 # first\n0,7,4096\r\n8192,\t12KiB ,7\n");
    expect(bytesOf(matrix)).toEqual([0, 4096, 8192, 0, 0, 4096, 8192, 12288, 0]);
    expect([matrix.kind, matrix.chunkCount, matrix.sizeBytes]).toEqual(["custom", 9, 36864]);
    expect(matrix.chunkBytes).toEqual({ num: 4096n, den: 1n });
  });

  it("reads parts of a size, as nccl-tests' matrices have", () => {
    expect(bytesOf(read("0,0.5,1\n.25,0,0\n1e-1,0.0,1\n", 1000))).toEqual([0, 500, 1000, 250, 0, 0, 100, 0, 0]);
  });

  it("is what --collective custom:FILE reads where the file is no JSON", () => {
    expect(readCollective("0 1 2\n3 0 4\n5 6 0", "m.txt", three)).toEqual(read("0 1 2\n3 0 4\n5 6 0"));
    expect(refusalFrom(() => readCollective(" {}", "c.json", three))).toEqual(missing("c.json: format"));
  });

  it.each([
    ["", unexpected("m.txt", 0, 3)],
    ["0 1 2\n1 0 2", unexpected("m.txt", 2, 3)],
    ["0 1 2\n1 0 2\n1 2 0\n1 1 1", unexpected("m.txt line 4", "1 1 1", 3)],
    ["0 1 2\n1 0\n1 2 0", unexpected("m.txt line 2", 2, 3)],
    ["0 1 2\n1 0 2 3\n1 2 0", unexpected("m.txt line 2", 4, 3)],
    ["0 1 2\n1 0 -2\n1 2 0", unexpected("m.txt line 2 column 5", "-2")],
    ["0 1 2\n1,,2\n1 2 0", unexpected("m.txt line 2 column 2", "")],
    ["0 1 2\n1 0 x\n1 2 0", unexpected("m.txt line 2 column 5", "x")],
    ["0 1 0.5\n1 0 1\n1 2 0", unexpected("m.txt line 1 column 5", "0.5")],
    ["0 1 5Q\n1 0 1\n1 2 0", unexpected("m.txt line 1 column 5", "5Q")],
    ["0 1 99999999999999999999\n1 0 1\n1 2 0", unexpected("m.txt line 1 column 5", "99999999999999999999")],
    ["0 9007199254740991 1\n1 0 1\n1 2 0", unexpected("m.txt", 9007199254740994)],
    ["5 0 0\n0 5 0\n0 0 5", unexpected("m.txt", "only zeros")],
  ])("refuses %j", (text, sentence) => {
    expect(refusalFrom(() => read(text))).toEqual(sentence);
  });

  it.each(["1.5", "-0.1", "NaN", "1e9", "half"])("refuses the part %s of a size", (part) => {
    expect(refusalFrom(() => read(`0 1 1\n1 0 ${part}\n1 1 0`, 4096))).toEqual(
      unexpected("m.txt line 2 column 5", part, "--size"),
    );
  });

  it("sends at least what is asked for, little more, and nothing where nothing is", () => {
    const size = fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 2 ** 31 }), fc.integer({ min: 1, max: 50 }));
    const matrices = fc
      .integer({ min: 2, max: 7 })
      .chain((npus) => fc.tuple(fc.constant(npus), fc.array(size, { minLength: npus * npus, maxLength: npus * npus })));
    fc.assert(
      fc.property(matrices, ([npus, entries]) => {
        const wanted = entries.map((bytes, i) => (i % (npus + 1) === 0 ? 0 : bytes));
        fc.pre(wanted.some((bytes) => bytes > 0));
        const rows = Array.from({ length: npus }, (_, i) => entries.slice(i * npus, (i + 1) * npus).join(" "));
        const collective = readAlltoallv(rows.join("\n"), "m.txt", ring(npus));
        const sent = bytesOf(collective);
        const chunk = toNumber(collective.chunkBytes);
        for (const [i, bytes] of sent.entries()) expect(bytes).toBe(Math.ceil((wanted[i] as number) / chunk) * chunk);
        const total = wanted.reduce((sum, bytes) => sum + bytes, 0);
        expect(collective.sizeBytes).toBe(total);
        expect(sent.reduce((sum, bytes) => sum + bytes, 0)).toBeLessThanOrEqual(total * 1.01);
        expect(collective.chunkCount).toBeLessThanOrEqual(500_000);
      }),
      { numRuns: runs(60), seed: 46 },
    );
  });

  it("pads where entries are so uneven that chunks would be too many", () => {
    const entries = Array.from({ length: 100 }, (_, i) => (i === 1 ? 2 ** 40 : 1));
    const rows = Array.from({ length: 10 }, (_, i) => entries.slice(i * 10, i * 10 + 10).join(","));
    const { chunkCount } = readAlltoallv(rows.join("\n"), "m.txt", ring(10));
    expect(chunkCount).toBeGreaterThan(90);
    expect(chunkCount).toBeLessThanOrEqual(500_000);
  });
});
