// Predicted times of collectives beside published measurements: uncalibrated, calibrated and judged, and what ours would take there.
import { readFileSync, writeFileSync } from "node:fs";
import { openEngine } from "../dist/engine/engine.js";
import { casesOf, measuredRows, predicted, ROWS } from "./measured-cases.mjs";
import { gains } from "./measured-gains.mjs";
import { LIBRARY } from "./measured-library.mjs";
import { NETWORKS } from "./measured-networks.mjs";
import { printed } from "./measured-papers.mjs";
import { histogramPicture, measuredReport, ringErrors, scatterPicture, summaryOf } from "./measured-report.mjs";
import { stricter } from "./measured-splits.mjs";
import { machine, progress, publish } from "./support.mjs";

const TARGETS = { small: 0.3, large: 0.15 };

/** Returns a network's points with the halves exchanged. */
const exchanged = (cases) => ({ ...cases, points: cases.points.map((point) => ({ ...point, judged: !point.judged })) });

/** Predicts, prints and writes; returns the number of targets that are missed. */
export async function run() {
  const where = machine();
  const rows = measuredRows(readFileSync(ROWS, "utf8"));
  const cases = Object.keys(NETWORKS).map((key) => casesOf(LIBRARY, key, rows));
  const fits = cases.map((own) => predicted(LIBRARY, own));
  const swapped = summaryOf(cases.flatMap((own) => predicted(LIBRARY, exchanged(own)).points));
  const points = fits.flatMap((fit) => fit.points);
  const rings = ringErrors(points);
  const splits = stricter(LIBRARY, cases);
  progress("measured: stricter judgements");
  const engine = await openEngine({ threads: 0 });
  try {
    const found = await gains(LIBRARY, engine, fits, rows, (done) => progress(`measured: ${done} gains`));
    const papers = await printed(LIBRARY, engine, (done) => progress(`measured: ${done} of papers`));
    const data = { fits, rings, gains: found, targets: TARGETS, swapped, splits, papers };
    const all = summaryOf(points);
    const missed =
      Number(all.smallFitted > TARGETS.small) +
      Number(all.largeFitted > TARGETS.large) +
      rings.filter(({ geometric, mean, theirs }) => Math.max(geometric, mean) >= theirs).length;
    const results = new URL("./results/", import.meta.url);
    writeFileSync(new URL("measured-scatter.svg", results), scatterPicture(points));
    writeFileSync(new URL("measured-histogram.svg", results), histogramPicture(points));
    const networks = fits.map(({ key, parts, figures, points: own }) => ({
      key,
      ...summaryOf(own),
      figures: Object.fromEntries(parts.map(({ name }, j) => [name, figures[j]])),
    }));
    const shown = found.map(({ fastest, ...gain }) => ({
      ...gain,
      measuredUs: fastest.us,
      runAs: fastest.row.runAs,
      source: fastest.row.source,
    }));
    publish(
      "measured",
      {
        machine: where,
        all,
        swapped,
        splits: splits.map(({ name, points: own }) => ({ name, ...summaryOf(own) })),
        papers,
        networks,
        rings,
        gains: shown,
        missed,
      },
      measuredReport(where, data),
    );
    return missed;
  } finally {
    await engine.close();
  }
}
