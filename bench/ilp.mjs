// Tables I to V of the paper on TACOS-ILP: integer programs, greedy search, TACCL and baselines, each with its time, and what is proved.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LIMIT_SECONDS, rowOf, TABLES } from "./ilp-cases.mjs";
import { asPlanned, figure, machine, progress, publish, reportHead, table, verifiedCommand } from "./support.mjs";

const ABOUT = [
  "Tables I to V of Won et al., arXiv 2304.05301. Every schedule is verified. Times are planned ones (a transfer occupies its",
  "link for latency and serialisation) over the bound proved for one chunk per NPU, so 1.000 is proved optimal; in brackets the",
  `wall seconds of the whole command. The paper's own figures, in its own normalisation (its best result is 1), follow each row.`,
  "All-reduces that miss the bound also stand beside the least time of a reduce-scatter followed by an all-gather, a class optimum",
  "that says nothing of halves that overlap. TACCL here merges sends, which pay a latency once, and so may be below 1. Empty: the algorithm does not make it.",
];

/** A command is stopped when it takes so much longer than its limit; start of Node and checks come on top. */
const GRACE_SECONDS = 120;

/** Columns whose bounds are for one chunk at a time over the routes of the programs, the strongest first. */
const PROVERS = ["ILP", "Early termination", "Time clustering", "Greedy"];

const folder = mkdtempSync(join(tmpdir(), "banyan-bench-"));

/** Returns what is asked of the command line for a row. */
function lineOf(row, { algorithm, options }) {
  const without = row.without.length === 0 ? [] : ["--without", row.without.join(",")];
  const asked =
    row.together === null
      ? [
          ...["--collective", row.collective, "--size", String(row.sizeBytes), "--chunks", String(row.chunks)],
          ...(row.root === undefined ? [] : ["--root", String(row.root)]),
        ]
      : ["--collectives", fileOf(row.together)];
  return ["synth", row.network, ...without, ...asked, "--algorithm", algorithm, ...options];
}

/** Returns a file with several collectives. */
function fileOf(together) {
  const file = join(folder, "collectives.json");
  const entries = together.map(({ collective, sizeBytes, root }) => ({
    kind: collective,
    size: sizeBytes,
    ...(root === undefined ? {} : { root: String(root) }),
  }));
  writeFileSync(file, JSON.stringify(entries));
  return file;
}

/** Returns what one column makes of a row; null where it does not apply. */
async function made(row, column, what) {
  progress(`ilp: ${what} by ${column.name}`);
  const line = lineOf(row, column);
  const found = await verifiedCommand(line, LIMIT_SECONDS + GRACE_SECONDS).catch((error) => {
    if (/stopped after/.test(error.message)) return { overdue: true, notes: [] };
    throw error;
  });
  if (found === null || found.overdue) return found;
  const { report, seconds } = found;
  const stages = report.solver?.stages ?? [];
  const { us, bound, share } = asPlanned(report);
  return {
    us,
    boundUs: bound.us,
    seconds,
    proved: share > 1 - 1e-9,
    halves: report.solver?.halves ?? null,
    stopped: stages.some(({ status }) => status === "limit" || status === "memory"),
    ran: stages.some(({ status }) => status !== "skipped"),
    because: bound.because,
    notes: report.notes ?? [],
  };
}

async function measuredRow(given, id) {
  const row = rowOf(given);
  const what = `table ${id}, ${row.collective ?? "several"} on ${row.network}`;
  const results = {};
  for (const column of row.columns) results[column.name] = await made(row, column, what);
  // of the programs' routes; other columns use routes or messages of their own
  const own = PROVERS.map((name) => results[name]).find((found) => found && !found.overdue);
  const boundUs = own.boundUs;
  return { row, boundUs, results };
}

function cellOf(found, boundUs) {
  if (found === null) return "";
  if (found.overdue) return `> ${LIMIT_SECONDS + GRACE_SECONDS} s`;
  return `${(found.us / boundUs).toFixed(3)} (${figure(found.seconds, 2)} s)`;
}

/** Returns how the program's result stands. */
function verdictOf(first, boundUs) {
  if (first === null) return "";
  if (first.overdue) return `not within ${LIMIT_SECONDS} s`;
  if (first.us <= boundUs * (1 + 1e-9))
    return first.ran ? "proved optimal by a program" : "proved optimal by the bound";
  const gap = `${figure((100 * (first.us - boundUs)) / boundUs, 2)} % above the bound`;
  return `${first.stopped ? `not within ${LIMIT_SECONDS} s: ${gap}` : gap}${classVerdict(first)}`;
}

/** Returns what is proved of reduce-scatters followed by all-gathers, and how the result stands to the best of these. */
function classVerdict({ us, halves }) {
  if (halves === null) return "";
  const { leastUs } = halves;
  if (halves.met && us < leastUs)
    return `; shorter than any reduce-scatter followed by an all-gather (at least ${figure(leastUs)} us)`;
  if (halves.met) return `; proved optimal of reduce-scatters followed by all-gathers`;
  return `; ${figure((100 * (us - leastUs)) / leastUs, 2)} % above reduce-scatters followed by all-gathers`;
}

export function report({ machine: where, tables }) {
  const lines = reportHead("ilp", "TACOS-ILP: tables I to V", ABOUT, where);
  for (const { id, title, guessed, rows } of tables) {
    const names = rows[0].row.columns.map(({ name }) => name);
    lines.push(
      `## Table ${id}: ${title}`,
      "",
      `Chosen here: ${guessed}.`,
      "",
      table(
        ["network", "collective", "bound us", ...names, "verdict", "printed", "its ILP s"],
        rows.map(({ row, boundUs, results }) => [
          `${row.network}${row.without.length === 0 ? "" : ` without ${row.without.join(", ")}`}`,
          row.collective ?? "three",
          figure(boundUs),
          ...row.columns.map(({ name }) => cellOf(results[name], boundUs)),
          verdictOf(results[names[0]], boundUs),
          row.printed.map((value) => value ?? "-").join(" / "),
          row.seconds ?? "-",
        ]),
      ),
      "",
    );
  }
  const told = tables.flatMap(({ id, rows }) =>
    rows.flatMap(({ row, results }) =>
      Object.entries(results).flatMap(([name, found]) =>
        name.startsWith("TACCL") ? [] : (found?.notes ?? []).map((note) => `* ${id}, ${row.network}, ${name}: ${note}`),
      ),
    ),
  );
  if (told.length > 0) lines.push("## What the command says beside", "", ...told);
  return lines.join("\n");
}

/** Measures, prints and writes; returns how many rows of tables III to V are not proved optimal. */
export async function run() {
  const where = machine();
  const tables = [];
  try {
    for (const { id, title, guessed, rows } of TABLES) {
      const found = [];
      for (const row of rows) found.push(await measuredRow(row, id));
      tables.push({ id, title, guessed, rows: found });
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  const data = { machine: where, tables };
  publish("ilp", data, report(data));
  const wanted = tables.filter(({ id }) => ["III", "IV", "V"].includes(id)).flatMap(({ rows }) => rows);
  return wanted.filter(({ row, boundUs, results }) => !(results[row.columns[0].name].us <= boundUs * (1 + 1e-9)))
    .length;
}
