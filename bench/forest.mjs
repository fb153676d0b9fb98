// Trees at the exact optimum of throughput: whole commands, the optimum alone, kernels by backend, times of 1 GiB and 1 MiB.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CASES, COMMANDS, LARGE_SHARE, OPTIMA, SIZED, WAYS } from "./forest-cases.mjs";
import { backendsHere, measure, verdictOf } from "./kernel-rounds.mjs";
import { command, figure, machine, progress, publish, reportHead, table } from "./support.mjs";

const MIB = 2 ** 20;
/** A command is stopped after so many times its target, and its row is then missed. */
const PATIENCE = 3;
const LEAST_PATIENCE_SECONDS = 30;
const ABOUT = [
  "ForestColl, all-gather of 1 GiB unless said otherwise, seed 1. Commands include the start of Node; each must",
  'be verified and reach the exact optimum. "published": ForestColl itself on 128 cores (Zhao 2026, table B.2).',
];

const percent = (share) => (share === null || share === undefined ? "" : `${figure(100 * share)} %`);
const verdict = (missed, about = "reached") => (missed.length === 0 ? about : `MISSED ${missed.join(", ")}`);

/** Runs a command; a failure becomes part of its row. */
async function attempt(line, { seconds = 0, folder = null } = {}) {
  progress(`forest: banyan ${line}`);
  const args = line.split(" ").map((word) => (folder === null ? word : word.replace("FILE", join(folder, "trees"))));
  try {
    return await command(args, Math.max(PATIENCE * seconds, LEAST_PATIENCE_SECONDS));
  } catch (error) {
    console.error(`forest: ${error.message}`);
    return { failed: error.message };
  }
}

/** Returns what a command missed, in words. */
function missedOf({ seconds, report }, target) {
  const missed = [];
  const over = (value, most, text) => {
    if (most !== undefined && value > most) missed.push(text);
  };
  if (report.verified !== true) missed.push("verified");
  if (report.throughput.ofBound < (target.least ?? 1)) missed.push("optimum");
  if (target.exact !== undefined && report.throughput.exact !== target.exact) missed.push(`${target.exact} GB/s`);
  over(seconds, target.seconds, `${target.seconds} s`);
  over(report.synthesis.ms / 1000, target.synthesisSeconds, `synthesis in ${target.synthesisSeconds} s`);
  over(report.throughput.height, target.height, `height ${target.height}`);
  return missed;
}

async function commands() {
  const rows = [];
  for (const group of COMMANDS) {
    const folder = mkdtempSync(join(tmpdir(), "banyan-forest-"));
    try {
      for (const { line, ...target } of group) {
        const ran = await attempt(line, { seconds: target.seconds, folder });
        if (ran.failed !== undefined) {
          rows.push({ line, target, missed: [ran.failed] });
          continue;
        }
        const { seconds, peakBytes, report } = ran;
        const { algbwGBps, exact, treesPerRoot, distinctTrees, height, meanHeight } = report.throughput;
        rows.push({
          line,
          target,
          missed: missedOf(ran, target),
          seconds,
          synthesisMs: report.synthesis.ms,
          peakBytes,
          algbwGBps,
          exact,
          optimality: report.throughput.ofBound,
          k: treesPerRoot,
          distinctTrees,
          height,
          meanHeight,
          ofLimit: report.ofLimit,
          policy: report.synthesis.policy,
          repaired: report.repaired ?? null,
        });
      }
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }
  return rows;
}

async function optima() {
  const rows = [];
  for (const { topology, seconds: target } of OPTIMA) {
    const line = `bound ${topology} --collective allgather`;
    const { failed, seconds = null, peakBytes = null, report } = await attempt(line, { seconds: target });
    const missed = failed !== undefined ? [failed] : seconds > target ? [`${target} s`] : [];
    rows.push({
      line,
      npus: report?.topology.npus ?? null,
      seconds,
      peakBytes,
      because: report?.limit.because ?? null,
      target,
      missed,
    });
  }
  return rows;
}

const titleOf = ({ name, kernel, gone, sinks }) =>
  [kernel, sinks === undefined ? "" : `into ${sinks}`, name, gone === undefined ? "" : `without ${gone}`]
    .filter(Boolean)
    .join(" ");

/** Returns the measured cases; where one fails or answers differ, its error. */
async function kernels(backends) {
  const rows = [];
  for (const [index, trial] of CASES.entries()) {
    const title = titleOf(trial);
    const on = trial.native ? backends.filter((backend) => backend === "native") : backends;
    try {
      rows.push(await measure({ bench: "forest", file: "forest-cases.mjs", index, trial, title }, on));
    } catch (error) {
      console.error(`forest: ${error.message}`);
      rows.push({ case: title, kernel: trial.kernel, results: [], failed: error.message });
    }
  }
  return rows;
}

/** Simulated times of one network and size: as synth chooses by itself, and with further options. */
async function sized(topology, size, ways) {
  const rows = [];
  for (const way of ["", ...ways]) {
    const line = `synth ${topology} --collective allgather --algorithm forestcoll --size ${size} ${way}`.trimEnd();
    const { failed, report } = await attempt(line);
    if (failed !== undefined) rows.push({ topology, size, way, failed });
    else {
      const { time, schedule, throughput } = report;
      const { bound, height } = throughput;
      rows.push({
        topology,
        size,
        way,
        us: time.us,
        ofBound: bound.us / time.us,
        pieces: schedule.pieces,
        height,
      });
    }
  }
  const times = rows.map(({ us = Number.POSITIVE_INFINITY }) => us);
  const best = times.indexOf(Math.min(...times));
  const low = size === "1GiB" ? LARGE_SHARE : 0;
  return rows.map((row, i) => ({
    ...row,
    best: i === best,
    missed: row.failed !== undefined ? [row.failed] : row.ofBound < low ? [`${100 * low} %`] : [],
  }));
}

async function sizes() {
  const rows = [];
  for (const topology of SIZED) {
    rows.push(...(await sized(topology, "1GiB", [])), ...(await sized(topology, "1MiB", WAYS)));
  }
  return rows;
}

function targetText({ seconds, synthesisSeconds, least }) {
  const parts = [];
  if (seconds !== undefined) parts.push(`${seconds} s`);
  if (synthesisSeconds !== undefined) parts.push(`synthesis ${synthesisSeconds} s`);
  if (least !== undefined) parts.push(`optimality ${least}`);
  return parts.join(", ");
}

function commandTable(rows) {
  const cells = rows.map((r) => [
    `banyan ${r.line}`,
    targetText(r.target),
    figure(r.seconds),
    figure(r.synthesisMs),
    r.peakBytes === null ? "" : figure(r.peakBytes / MIB, 3),
    figure(r.algbwGBps, 6),
    figure(r.optimality, 6),
    r.k,
    r.distinctTrees,
    r.height,
    r.target.height === undefined ? "" : `<= ${r.target.height}`,
    figure(r.meanHeight, 3),
    percent(r.ofLimit),
    r.repaired == null ? r.policy : `kept ${r.repaired.kept}, changed ${r.repaired.changed}`,
    r.target.published,
    verdict(r.missed, r.target.extra ? "extra" : "reached"),
  ]);
  const head = [
    "command",
    "target",
    "seconds",
    "synthesis ms",
    "peak MiB",
    "algbw GB/s",
    "optimality",
    "k",
    "trees",
    "height",
  ];
  return table([...head, "target", "mean", "of limit simulated", "how", "published", ""], cells);
}

const kernelTable = (rows) =>
  table(
    ["kernel", "backend", "median ms", "min ms", "x native", "runs", "target", ""],
    rows.flatMap((c) =>
      c.failed === undefined
        ? c.results.map((r) => [
            c.case,
            r.backend,
            figure(r.medianSeconds * 1000),
            figure(r.minSeconds * 1000),
            figure(r.ratioToNative, 3),
            r.runs,
            ...verdictOf(r.target),
          ])
        : [[c.case, "", "", "", "", "", "", verdict([c.failed])]],
    ),
  );

/** Measures, prints and writes; returns the number of targets missed. */
export async function run() {
  const where = machine();
  const backends = await backendsHere("forest");
  const whole = await commands();
  const bounds = await optima();
  const cases = await kernels(backends);
  const times = await sizes();
  const parts = [
    ...reportHead("forest", "Trees of optimal throughput", ABOUT, where),
    "## Whole commands",
    "",
    commandTable(whole),
    "",
    "## The optimum alone",
    "",
    table(
      ["command", "NPUs", "seconds", "peak MiB", "bottleneck", "target", ""],
      bounds.map((r) => [
        `banyan ${r.line}`,
        r.npus,
        figure(r.seconds),
        r.peakBytes === null ? "" : figure(r.peakBytes / MIB, 3),
        r.because,
        `<= ${r.target} s`,
        verdict(r.missed),
      ]),
    ),
    "",
    "## Kernels by backend, answers compared first",
    "",
    kernelTable(cases),
    "",
    `## Times: 1 GiB within ${figure(100 * (1 - LARGE_SHARE), 1)} % of the bound of throughput; 1 MiB with several options, * the fastest`,
    "",
    table(
      ["network", "size", "options", "simulated us", "of bound", "pieces", "height", "target", ""],
      times.map((r) => [
        r.topology,
        r.size,
        `${r.best && r.size === "1MiB" ? "* " : ""}${r.way || "none"}`,
        figure(r.us),
        percent(r.ofBound),
        r.pieces,
        r.height,
        r.size === "1GiB" ? `>= ${100 * LARGE_SHARE} %` : "",
        r.size === "1GiB" ? verdict(r.missed) : verdict(r.missed, ""),
      ]),
    ),
  ];
  publish(
    "forest",
    { machine: where, commands: whole, optima: bounds, kernels: cases, sizes: times },
    parts.join("\n"),
  );
  const late = [...whole, ...bounds, ...times].filter(({ missed }) => missed.length > 0).length;
  const slow = cases
    .flatMap((c) => c.results.map((r) => r.target))
    .filter((target) => target?.reached === false).length;
  return late + slow + cases.filter(({ failed }) => failed !== undefined).length;
}
