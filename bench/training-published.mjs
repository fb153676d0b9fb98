// Steps of training that others published, predicted with our networks, schedules and roofline: per group, both ways, the worst.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { openEngine } from "../dist/engine/engine.js";
import { machine, progress, publish } from "./support.mjs";
import { KORTHIKANTI, publishedRows, TABLES } from "./training-published-cases.mjs";
import { LIBRARY } from "./training-published-library.mjs";
import { errorOf, summary, trainingPicture, trainingReport } from "./training-published-report.mjs";
import { LINE_RATES, predictor } from "./training-published-steps.mjs";

const TARGET = 0.15;
const MOST_GPUS_OF_FSDP = 8;

/** What is tried the other way, on rows that it may change and that take seconds. */
const VARIANTS = [
  {
    assumption: "all-to-alls behind the next pass where recipes have it, from container 26.06 on",
    other: "never",
    of: ({ isOverlapped }) => isOverlapped,
    how: { options: { overlapped: false } },
  },
  {
    assumption: "products of experts are one kernel",
    other: "one after the other",
    of: ({ group }) => group === "Bridge, experts",
    how: { options: { groupedExperts: false } },
  },
  {
    assumption: "attention of llm-foundry as its kernels' authors print",
    other: "0.465 of the peak, as fitted",
    of: ({ group }) => group === "llm-foundry",
    how: { efficiencies: { attention: LIBRARY.DEFAULT_EFFICIENCIES.attention } },
  },
  {
    assumption: "0.65 and 0.9 of line rates (MLPerf, 512 GPUs at most)",
    other: "line rates",
    of: ({ group, gpus }) => group === "MLPerf" && gpus <= 512,
    how: { shares: LINE_RATES },
  },
  {
    assumption: "products must grow with the peak to the power of 0.6 (MLPerf, 512 GPUs at most)",
    other: "0.35, the least of what memories say",
    of: ({ group, gpus }) => group === "MLPerf" && gpus <= 512,
    how: { efficiencies: { sizeGrowth: 0.35 } },
  },
  {
    assumption: "the same",
    other: "0.73, the most",
    of: ({ group, gpus }) => group === "MLPerf" && gpus <= 512,
    how: { efficiencies: { sizeGrowth: 0.73 } },
  },
];

/** Measures, prints and writes, with the tables at an address; returns the number of groups beyond the target. */
export async function run(tables = TABLES) {
  if (!existsSync(tables)) {
    console.log(
      "bench training-published: skipped, for the tables are not there (../shared/data/measured/training.csv)",
    );
    return 0;
  }
  const where = machine();
  const all = publishedRows(readFileSync(tables, "utf8"));
  const cases = all.filter(({ group, gpus }) => group !== "llm-foundry" || gpus <= MOST_GPUS_OF_FSDP);
  const engine = await openEngine({ threads: 0 });
  const { predict } = predictor(LIBRARY, engine);
  const predicted = async (some, how) => {
    const rows = [];
    for (const row of some) {
      const { seconds, ...parts } = await predict(row, how);
      rows.push({ ...row, ...parts, predicted: seconds });
      progress(`training-published: ${rows.length} of ${some.length}`);
    }
    return rows;
  };
  try {
    const fit = await predicted(KORTHIKANTI);
    const rows = await predicted(cases);
    const variants = [];
    for (const { assumption, other, of, how } of VARIANTS) {
      const usual = rows.filter(of);
      variants.push({
        assumption,
        other,
        usual: summary("", usual),
        changed: summary("", await predicted(cases.filter(of), how)),
      });
    }
    const worst = [];
    for (const row of rows.toSorted((a, b) => Math.abs(errorOf(b)) - Math.abs(errorOf(a))).slice(0, 10)) {
      const flipped = row.ep > 1 ? (await predict(row, { options: { overlapped: !row.isOverlapped } })).seconds : null;
      worst.push({ ...row, flipped });
    }
    const names = [...new Set(rows.map(({ group }) => group))];
    const groups = [
      ...names.map((name) =>
        summary(
          name,
          rows.filter(({ group }) => group === name),
        ),
      ),
      summary(
        "MLPerf and Bridge",
        rows.filter(({ group }) => group !== "llm-foundry"),
      ),
      summary("all", rows),
    ];
    const data = { fit, groups, variants, worst, rows, leftOut: all.length - cases.length, target: TARGET };
    const missed = groups.filter(({ medianError }) => medianError > TARGET).length;
    writeFileSync(new URL("./results/training-published.svg", import.meta.url), trainingPicture(rows));
    publish("training-published", { machine: where, ...data, missed }, trainingReport(where, data));
    return missed;
  } finally {
    await engine.close();
  }
}
