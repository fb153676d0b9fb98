import { expect, it } from "vitest";
import type { ComparisonRow } from "../../src/report/comparison.ts";
import { comparisonCsv } from "../../src/report/comparison-csv.ts";

const row = (sizeBytes: number, algorithm: string, us: number): ComparisonRow => ({
  sizeBytes,
  algorithm,
  us,
  algbwGBps: us === 0 ? null : sizeBytes / us / 1000,
  busbwGBps: us === 0 ? null : sizeBytes / us / 500,
  ofLimit: 0.25,
  chunks: 1,
  verified: true,
  synthesisMs: 1,
  best: us === 4,
  ...(algorithm === "ring" ? { library: "natural order, both ways" } : {}),
});

it("has a line for each row, the gain in that of the fastest, and nothing where there is no bandwidth", () => {
  expect(comparisonCsv({ rows: [row(1024, "ring", 8), row(1024, "tacos", 4), row(8, "ring", 0)] }).split("\n")).toEqual(
    [
      "sizeBytes,algorithm,us,algbwGBps,busbwGBps,ofLimit,synthesisMs,best,chunks,verified,library,programUs,libraryUs,gain",
      '1024,ring,8,0.128,0.256,0.25,1,false,1,true,"natural order, both ways",,,',
      "1024,tacos,4,0.256,0.512,0.25,1,true,1,true,,,,2.00 x",
      '8,ring,0,,,0.25,1,false,1,true,"natural order, both ways",,,',
      "",
    ],
  );
});
