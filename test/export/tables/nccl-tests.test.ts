import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fixedWidth, ncclTestsJson, ncclTestsTable, type PredictedRun } from "../../../src/export/tables/nccl-tests.ts";
import { busFactor, COLLECTIVE_KINDS } from "../../../src/model/collective/collective.ts";
import { missing, unexpected } from "../../support/refusals.ts";

const run: PredictedRun = {
  collective: "allreduce",
  ranks: 8,
  network: "box",
  version: "1.2.3",
  rows: [
    { sizeBytes: 1 << 27, us: 582.1, algorithm: "ring" },
    { sizeBytes: 1 << 20, us: 30, algorithm: "forestcoll" },
    { sizeBytes: 1 << 20, us: 40, algorithm: "ring" },
  ],
};

/** Reads the table as parsers of measurements do: columns by the header's words, comments skipped. */
function read(table: string) {
  const header = table.split("\n").find((line) => /^#\s+size\s/.test(line)) as string;
  const columns = header.slice(1).trim().split(/\s+/);
  return table
    .split("\n")
    .filter((line) => /^\s*\d/.test(line))
    .map((line) => {
      const words = line.trim().split(/\s+/);
      expect(words).toHaveLength(columns.length);
      return Object.fromEntries(columns.slice(0, 9).map((column, i) => [column, words[i]]));
    });
}

describe("a table as nccl-tests print", () => {
  it("has their columns to the character", () => {
    const lines = ncclTestsTable(run).split("\n");
    // the three header lines and the first columns of a row as NVIDIA/nccl-tests print them
    expect(lines).toContain(
      "#                                                              out-of-place                       in-place          ",
    );
    expect(lines).toContain(
      "#       size         count      type   redop    root     time   algbw   busbw  #wrong     time   algbw   busbw  #wrong ",
    );
    expect(lines).toContain(
      "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)             (us)  (GB/s)  (GB/s)         ",
    );
    expect(lines).toContain(
      "   134217728      33554432     float     sum      -1   582.10  230.58  403.51    N/A   582.10  230.58  403.51    N/A",
    );
    expect(lines).toContain("# Out of bounds values : 0 OK");
    expect(lines).toContain("# Avg bus bandwidth    : 232.337 ");
    expect(lines).toContain("# Collective test concluded: all_reduce_perf");
  });

  it("shows the fastest of each size, says which it is, and that nothing was measured", () => {
    const table = ncclTestsTable(run);
    expect(read(table).map(({ time }) => time)).toEqual(["30.00", "582.10"]);
    expect(table).toContain("# Algorithm: forestcoll, 1 MiB\n# Algorithm: ring, 128 MiB\n");
    expect(table).toContain("# Predicted by Banyan 1.2.3 for 8 ranks on box; nothing was measured\n");
    expect(table).toContain("step: 128(factor)");
  });

  it("is read back to bandwidths that agree with time and size, for every collective", () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...COLLECTIVE_KINDS),
        fc.integer({ min: 2, max: 64 }),
        fc.array(fc.tuple(fc.integer({ min: 1, max: 2 ** 40 }), fc.integer({ min: 1, max: 1e9 })), { minLength: 1 }),
        (collective, ranks, pairs) => {
          const rows = pairs.map(([sizeBytes, us]) => ({ sizeBytes, us, algorithm: "any" }));
          const lines = read(ncclTestsTable({ ...run, collective, ranks, rows }));
          expect(lines).toHaveLength(new Set(pairs.map(([size]) => size)).size);
          for (const line of lines) {
            const size = Number(line["size"]);
            const us = Math.min(...rows.filter((row) => row.sizeBytes === size).map((row) => row.us));
            const busbw = (size / us / 1000) * busFactor(collective, ranks);
            // six characters: two decimals, then fewer, then one digit and an exponent
            const rounding = busbw < 999 ? 0.0051 : busbw < 999_999 ? 0.51 : 0.34 * busbw;
            expect(Math.abs(Number(line["busbw"]) - busbw)).toBeLessThanOrEqual(rounding);
          }
        },
      ),
    );
  });

  it("counts the elements that a rank sends", () => {
    const counts = (["allreduce", "allgather", "broadcast", "alltoall"] as const).map(
      (collective) => read(ncclTestsTable({ ...run, collective }))[0]["count"],
    );
    expect(counts).toEqual(["262144", "32768", "262144", "32768"]);
  });

  it.each([
    [1.234, 7, "   1.23"],
    [99999.94, 7, "99999.9"],
    [1234567.4, 7, "1234567"],
    [12345678, 7, "1.2e+07"],
    [12345678, 6, " 1e+07"],
    [0, 6, "  0.00"],
  ])("writes %d in %d characters", (value, width, text) => {
    expect(fixedWidth(value, width)).toBe(text);
  });

  it("refuses what nccl-tests do not have, and no rows", () => {
    expect(() => ncclTestsTable({ ...run, collective: "custom" })).toThrow(unexpected("the collective", "custom"));
    expect(() => ncclTestsTable({ ...run, rows: [] })).toThrow(missing("the table"));
  });
});

describe("JSON as nccl-tests write", () => {
  it("has a result per size with both timings", () => {
    const json = JSON.parse(ncclTestsJson(run));
    expect(json.results[1]).toMatchObject({ size: 1 << 27, count: 1 << 25, type: "float", redop: "sum", root: "-1" });
    const timing = { time: 582.1, alg_bw: (1 << 27) / 582.1 / 1000, nwrong: null };
    expect(json.results[1].out_of_place).toMatchObject(timing);
    expect(json.results[1].in_place).toMatchObject(timing);
    expect(json.average_bus_bandwidth.bandwidth).toBeCloseTo(232.337, 3);
  });
});
