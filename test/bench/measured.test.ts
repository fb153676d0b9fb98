import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, it } from "vitest";
import { casesOf, errorOf, LARGE, measuredRows, predicted, ROWS } from "../../bench/measured-cases.mjs";
import { NETWORKS } from "../../bench/measured-networks.mjs";
import { histogramPicture, ringErrors, scatterPicture, summaryOf } from "../../bench/measured-report.mjs";
import { stricter } from "../../bench/measured-splits.mjs";
import { collectiveCost } from "../../src/model/collective/collective-cost.ts";
import { mpiRounds } from "../../src/model/collective/mpi-rounds.ts";
import { ncclEstimates } from "../../src/model/nccl/model.ts";
import { nonNegativeLeastSquares, ownLength } from "../../src/model/numbers/least-squares.ts";
import { boxTopology } from "../../src/model/presets/boxes.ts";
import { presetTopology } from "../../src/model/presets/preset.ts";
import { linkClasses } from "../../src/model/topology/link-classes.ts";
import { sharedFiles, sharedText } from "../support/shared-data.ts";

const LIBRARY = {
  nonNegativeLeastSquares,
  ownLength,
  collectiveCost,
  mpiRounds,
  ncclEstimates,
  boxTopology,
  presetTopology,
  linkClasses,
};

/** Series and points as the bench has them, which is JavaScript. */
interface Row {
  readonly network: string;
  readonly collective: string;
  readonly algorithm: string;
  readonly ranks: number;
  readonly source: string;
  readonly points: readonly (readonly [bytes: number, us: number])[];
}
interface Point {
  readonly row: Row;
  readonly bytes: number;
  readonly us: number;
  readonly fitted: number;
  readonly judged: boolean;
}

const rows: readonly Row[] = measuredRows(readFileSync(ROWS, "utf8"));
let points: readonly Point[];
beforeAll(() => {
  points = Object.keys(NETWORKS).flatMap((key): Point[] => predicted(LIBRARY, casesOf(LIBRARY, key, rows)).points);
});

describe("predictions beside published measurements", () => {
  it("are of networks that are stated, each series with its address, sizes that grow and times that are", () => {
    expect(new Set(rows.map(({ network }) => network))).toEqual(new Set(Object.keys(NETWORKS)));
    for (const { source, points: own } of rows) {
      expect(source).toMatch(/^https:\/\//);
      own.forEach(([bytes, us], i) => {
        expect(bytes).toBeGreaterThan(i === 0 ? 0 : (own[i - 1]?.[0] as number));
        expect(us).toBeGreaterThan(0);
      });
    }
  });

  it("are 300 points at least of 12 networks, half of them judged, from sizes that are not in the fit", () => {
    expect(points.length).toBeGreaterThanOrEqual(300);
    expect(Object.keys(NETWORKS).length).toBeGreaterThanOrEqual(12);
    const judged = points.filter((point) => point.judged);
    expect(judged.length / points.length).toBeGreaterThan(0.45);
  });

  it("come within 15 % in the middle from 16 MiB on and 30 % below, after a fit to the other half", () => {
    const { smallFitted, largeFitted, smallLabel, largeLabel } = summaryOf(points);
    expect(largeFitted).toBeLessThan(0.15);
    expect(smallFitted).toBeLessThan(0.3);
    expect(largeFitted).toBeLessThan(largeLabel);
    expect(smallFitted).toBeLessThan(smallLabel);
  });

  it("come closer than ASTRA-sim for rings of 2, 4 and 8 H100", () => {
    for (const { points: many, geometric, mean, theirs } of ringErrors(points)) {
      expect(many).toBeGreaterThan(0);
      expect(Math.max(geometric, mean)).toBeLessThan(theirs);
    }
  });

  it("are judged by fits that have not seen a half, larger sizes, a series, an algorithm, ranks, a network", () => {
    const some = ["lumi-8", "lumi-16", "mn5-acc"].map((key) => casesOf(LIBRARY, key, rows));
    const known = some.flatMap(({ points: own }): readonly Point[] => own);
    const splits: readonly { readonly name: string; readonly points: readonly Point[] }[] = stricter(LIBRARY, some);
    const named = (words: string) => splits.find(({ name }) => name.startsWith(words))?.points as readonly Point[];
    // every point is left out once
    for (const words of ["a drawn half", "a series", "an algorithm"]) {
      expect(named(words).every(({ judged }) => judged)).toBe(true);
      expect(named(words).length).toBe(known.length);
    }
    expect(new Set(named("a number of ranks: mn5-acc").map(({ row }) => row.ranks))).toEqual(new Set([32, 64, 256]));
    expect(new Set(named("a network: LUMI").map(({ row }) => row.network))).toEqual(new Set(["lumi-8", "lumi-16"]));
    // whatever is left out, its own measurements have no part in what is said of it
    const twice = (point: Point) => (point.row.ranks === 256 ? { ...point, us: 2 * point.us } : point);
    const changed = some.map((own) => ({ ...own, points: own.points.map(twice) }));
    const again: typeof splits = stricter(LIBRARY, changed);
    const of256 = (list: typeof splits) =>
      list
        .find(({ name }) => name.startsWith("a number of ranks: mn5-acc"))
        ?.points.filter(({ row }) => row.ranks === 256)
        .map(({ fitted }) => fitted);
    expect(of256(again)).toEqual(of256(splits));
  });

  it("are all in the pictures", () => {
    const judged = points.filter((point) => point.judged);
    expect(scatterPicture(points).match(/r="2.8"/g)).toHaveLength(judged.length);
    expect(histogramPicture(points)).toContain("from 16 MiB on");
    expect(judged.some((point) => point.bytes >= LARGE && Math.abs(errorOf(point)) < 0.15)).toBe(true);
  });

  const isThere = sharedFiles("measured").includes("measured.csv");
  it.skipIf(!isThere)("are of times that the run archives say", () => {
    const said = new Map<string, number[]>();
    for (const line of sharedText("measured/measured.csv").split("\n")) {
      // the system's name may hold commas
      const cells = line.replace(/"[^"]*"/g, "system").split(",");
      const key = `${cells[0]} ${cells[6]}`;
      said.set(key, [...(said.get(key) ?? []), Number(cells[7])]);
    }
    const own = rows.filter(({ source }) => source.includes("HLC-Lab/pico"));
    expect(own.length).toBeGreaterThan(100);
    for (const { source, points: pairs } of own) {
      for (const [bytes, us] of pairs) {
        const times = said.get(`${source} ${bytes}`) ?? [];
        expect(times.some((time) => Math.abs(us / time - 1) < 1e-5)).toBe(true);
      }
    }
  });
});
