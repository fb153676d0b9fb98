// The Markdown of `npm run bench -- papers`.
import { LEFT_OUT, RIVALS } from "./papers-cases.mjs";
import { figure, reportHead, table } from "./support.mjs";

const percent = (value) => (value === null || value === undefined ? "" : `${(100 * value).toFixed(2)} %`);
const yes = (value) => (value ? "yes" : "NO");
const size = (bytes) => (bytes >= 1e9 ? `${bytes / 1e9} GB` : `${bytes / 1e6} MB`);
const milliseconds = (ms) => (ms === undefined ? "" : figure(ms));
const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
const networkOf = ({ network, without }) => network + (without.length === 0 ? "" : ` without ${without.join(", ")}`);

const theirs = ({ judged }) =>
  judged === null ? "" : judged.kind === "efficiency" ? percent(judged.paper) : `${judged.paper.toFixed(2)} x best`;

function oursTable({ rows }) {
  const readings = rows.some(({ reading }) => reading !== "");
  return table(
    [
      "network",
      ...(readings ? ["reading"] : []),
      "collective",
      "NPUs",
      "size",
      "chunks",
      "time us",
      "of bound",
      "of limit",
      "ideal / time",
      "the paper's",
      "simulated us",
      "ideal / simulated",
      "ms",
      "its ms",
      "1 trial: us",
      "ms",
      "policy",
      "verified",
    ],
    rows.map((r) =>
      r.error !== undefined
        ? [networkOf(r), ...(readings ? [r.reading] : []), r.collective, ...Array(13).fill(""), r.error, "NO"]
        : [
            networkOf(r),
            ...(readings ? [r.reading] : []),
            r.collective,
            r.npus,
            size(r.sizeBytes),
            r.chunks,
            r.timeUs.toFixed(2),
            percent(r.boundUs / r.timeUs),
            percent(r.limitUs / r.timeUs),
            r.idealUs === null ? "" : percent(r.idealUs / r.timeUs),
            theirs(r),
            r.simulatedUs.toFixed(2),
            r.idealUs === null ? "" : percent(r.idealUs / r.simulatedUs),
            milliseconds(r.ms),
            milliseconds(r.paper.synthesisMs),
            r.once.timeUs.toFixed(2),
            milliseconds(r.once.ms),
            r.policy,
            yes(r.verified),
          ],
    ),
  );
}

/** A cell is our ratio and, in brackets, the paper's; a rival that does not exist here yet has only the latter. */
function rivalTable({ rows }) {
  const cell = (row, key) => {
    const own = row.ratios?.[key];
    const printed = row.paper.rivals?.[key];
    return [own === undefined ? "" : figure(own, 3), printed === undefined ? "" : `(${figure(printed, 3)})`]
      .filter((part) => part !== "")
      .join(" ");
  };
  return table(
    ["network", "size", ...RIVALS.map(({ name }) => name)],
    rows.map((row) => [networkOf(row), size(row.sizeBytes), ...RIVALS.map(({ key }) => cell(row, key))]),
  );
}

/** Returns our averages in the paper's terms, where it states one. */
function averages({ averages: stated, rows: all }) {
  if (stated === undefined) return [];
  const rows = all.filter(({ error }) => error === undefined);
  const baselines = rows.flatMap(({ ratios }) => ["ring", "direct"].map((name) => ratios[name]).filter(Boolean));
  const efficiency = (reading) =>
    percent(mean(rows.filter((r) => r.reading === reading || r.reading === "both").map((r) => r.idealUs / r.timeUs)));
  const readings = [...new Set(rows.map(({ reading }) => reading))].filter((reading) => reading !== "both");
  const ratio = (name) => mean(rows.map(({ ratios }) => ratios[name])).toFixed(2);
  return [
    ...(stated.efficiency === undefined
      ? []
      : readings.map(
          (reading) =>
            `* of the ideal, on average${reading === "" ? "" : `, ${reading}`}: ${efficiency(reading)} (paper ${percent(stated.efficiency)})`,
        )),
    ...(stated.speedup === undefined
      ? []
      : [`* faster than Ring and Direct, on average: ${mean(baselines).toFixed(2)} x (paper ${stated.speedup} x)`]),
    ...(stated.ring === undefined
      ? []
      : [`* faster than Ring, on average: ${ratio("ring")} x (paper ${stated.ring} x)`]),
    ...(stated.direct === undefined
      ? []
      : [`* faster than Direct, on average: ${ratio("direct")} x (paper ${stated.direct} x)`]),
  ];
}

/** Returns what all reach of the ideal, simulated, with the paper's figures in brackets where it prints any. */
function sharesTable({ rows, shares }) {
  const others = RIVALS.filter(({ key }) => rows.some(({ ratios }) => ratios?.[key] !== undefined));
  const cell = (row, key) => {
    const own = key === "tacos" ? 1 : row.ratios?.[key];
    const printed = shares[key]?.[row.network.split(":")[0]];
    const text = own === undefined ? "" : percent(row.idealUs / row.simulatedUs / own);
    return printed === undefined ? text : `${text} (${percent(printed)})`;
  };
  const columns = [{ name: "TACOS", key: "tacos" }, ...others];
  return table(
    ["network", "size", ...columns.map(({ name }) => name)],
    rows
      .filter(({ error }) => error === undefined)
      .map((row) => [networkOf(row), size(row.sizeBytes), ...columns.map(({ key }) => cell(row, key))]),
  );
}

function below(row) {
  const { judged } = row;
  const value = (us) =>
    judged.kind === "efficiency" ? percent(row.idealUs / us) : `${(us / row.boundUs).toFixed(3)} x`;
  return [
    `* **${networkOf(row)}**, ${size(row.sizeBytes)}: ${value(row.timeUs)}, the paper ${theirs(row)}. Why: ${row.below.reason}.`,
    `  Tried: ${row.below.attempts.map(({ what, timeUs }) => `${what} ${value(timeUs)}`).join("; ")}.`,
  ];
}

const ABOUT = [
  "2024: Won et al., MICRO 2024. 2023: Won et al., arXiv 2304.05301. TACOS with default trials and seed 1;",
  "`chunks` per NPU is the best of those tried (1, 2, 4, 8, 16; fewer on the largest networks). `time` is the schedule's own, in the",
  "matching's model (a link is busy for its latency too); `simulated` is the congestion simulator's. `of bound`: proved for the",
  "same routes and chunks; `of limit`: for any algorithm. `ideal` is the papers': 2(N-1)/N of the size over the least NPU bandwidth plus",
  "the diameter; it is no bound (halves of an all-reduce that overlap beat it on meshes) and often cannot be reached. `ms` is synthesis",
  "alone, all trials, and with one trial; the papers' times are of a Xeon E5-2699 v3. Ratios to rivals are simulated times over",
  "ours, the paper's in brackets; a rival that is not in the catalog yet has no figure of ours.",
];

export function report({ machine, backend, seconds, tables }) {
  const rows = tables.flatMap((t) => t.rows);
  const judged = rows.filter((row) => row.judged);
  const short = judged.filter((row) => row.judged.short);
  const parts = [
    ...reportHead(
      "papers",
      "The TACOS papers' quality tables",
      ABOUT,
      machine,
      `${backend} kernels`,
      `${seconds} s in all`,
    ),
    `${judged.length - short.length} of ${judged.length} rows with a figure in the paper reach it; the others are explained at the end.`,
  ];
  for (const t of tables) {
    parts.push("", `## ${t.id}: ${t.title}`, "", `The paper: ${t.says}. Assumed here: ${t.guessed}.`, "", oursTable(t));
    const lines = averages(t);
    if (lines.length > 0) parts.push("", ...lines);
    parts.push("", rivalTable(t));
    if (t.shares !== undefined)
      parts.push("", "Of the ideal, simulated (the paper's in brackets, averages over its sizes):", "", sharesTable(t));
  }
  parts.push("", "## Below the paper's figure", "");
  if (short.length === 0) parts.push("None.");
  for (const t of tables) {
    const those = t.rows.filter((row) => row.below);
    if (those.length > 0) parts.push(`### ${t.id}`, "", ...those.flatMap(below), "");
  }
  parts.push("", "## Not in these tables", "", ...LEFT_OUT.map(([what, why]) => `* ${what}: ${why}`));
  return parts.join("\n");
}
