// The largest networks: growth of the matching with the number of NPUs, backends and threads, whole commands with memory.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BACKENDS, COMMANDS, GROWTH, SHARED } from "./scale-cases.mjs";
import {
  asPlanned,
  command,
  figure,
  machine,
  median,
  progress,
  publish,
  reportHead,
  table,
  trialProcess,
} from "./support.mjs";

const THREADS = 2;
const GIB = 2 ** 30;
const ABOUT = [
  "All-gather of 1 GiB, one chunk per NPU. Answers are compared (backends, threads) or verified (commands).",
];

async function matched({ topology, backend = "native", threads = THREADS, symmetric, runs }) {
  progress(`scale: ${topology}, ${backend}, ${threads} threads, ${symmetric ? "symmetric" : "plain"}`);
  const trial = trialProcess("scale-trial.mjs", [topology, backend, String(threads), symmetric ? "yes" : "no"]);
  try {
    return await trial.ask({ runs });
  } finally {
    trial.end();
  }
}

/** Returns the slope of log seconds over log NPUs: least squares. */
function exponent(rows) {
  const points = rows.map(({ npus, seconds }) => [Math.log(npus), Math.log(seconds)]);
  const mean = (i) => points.reduce((sum, point) => sum + point[i], 0) / points.length;
  const [mx, my] = [mean(0), mean(1)];
  const top = points.reduce((sum, [x, y]) => sum + (x - mx) * (y - my), 0);
  return top / points.reduce((sum, [x]) => sum + (x - mx) ** 2, 0);
}

async function growth(symmetric) {
  const rows = [];
  for (const { topology, runs, targetSeconds: most = null } of GROWTH) {
    const targetSeconds = symmetric ? most : null;
    const { seconds, slots, transfers, symmetries } = await matched({ topology, symmetric, runs });
    const npus = Math.round((1 + Math.sqrt(1 + 4 * transfers)) / 2);
    rows.push({ topology, symmetries, npus, transfers, slots, seconds: median(seconds), runs, targetSeconds });
  }
  return rows;
}

async function backends() {
  const rows = [];
  for (const [topology, symmetric, runs] of BACKENDS) {
    let reference = null;
    for (const [backend, threads] of [
      ["native", 1],
      ["native", THREADS],
      ["wasm", 1],
      ["js", 1],
    ]) {
      const { seconds, digest, transfers, symmetries } = await matched({ topology, backend, threads, symmetric, runs });
      const middle = median(seconds);
      reference ??= { digest, seconds: middle };
      if (digest !== reference.digest) throw new Error(`${topology}: ${backend} gives other logs than native`);
      const ratio = middle / reference.seconds;
      const nsPerTransfer = (middle * 1e9) / transfers;
      rows.push({ topology, symmetries, backend, threads, seconds: middle, ratio, nsPerTransfer });
    }
  }
  return rows;
}

/** Returns how long matchings take alone and beside busy processes. */
export async function shared() {
  const rows = [];
  for (const one of SHARED.matchings) {
    const alone = await matched(one);
    const busy = Array.from({ length: SHARED.busyProcesses }, () => spawn(process.execPath, ["-e", "for (;;);"]));
    try {
      const beside = await matched(one);
      if (beside.digest !== alone.digest) throw new Error(`${one.topology}: other logs beside busy processes`);
      const [aloneSeconds, besideSeconds] = [alone, beside].map(({ seconds }) => median(seconds));
      const { symmetries } = alone;
      const { topology, runs } = one;
      rows.push({ topology, symmetries, runs, aloneSeconds, besideSeconds, times: besideSeconds / aloneSeconds });
    } finally {
      for (const child of busy) child.kill();
    }
  }
  return rows;
}

async function commands() {
  const rows = [];
  for (const { group, commands: lines } of COMMANDS) {
    const folder = mkdtempSync(join(tmpdir(), "banyan-scale-"));
    try {
      for (const { line, ...targets } of lines) {
        progress(`scale: banyan ${line}`);
        const args = line.split(" ").map((word) => word.replace("FILE", join(folder, "schedule")));
        const { report, ...measured } = await command(args);
        const file = args.find((word) => word.endsWith(".bys"));
        const right = report.verified ?? report.correct;
        if (right !== true) throw new Error(`banyan ${line}: not correct`);
        rows.push({
          group,
          line,
          ...measured,
          synthesisSeconds: report.synthesis === undefined ? null : report.synthesis.ms / 1000,
          transfers: report.schedule?.transfers ?? report.transfers,
          optimality: report.synthesis === undefined ? null : asPlanned(report).share,
          policy: report.synthesis?.policy ?? "",
          fileBytes: file === undefined ? null : statSync(file).size,
          targets,
        });
      }
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }
  return rows;
}

/** Returns the targets of a command as [reached?, words]. */
function targetsOf({ seconds, synthesisSeconds, peakBytes: peak, fileBytes, targets }) {
  const all = [
    [synthesisSeconds, targets.synthesisSeconds, (most) => `synthesis ${most} s`],
    [seconds, targets.seconds, (most) => `${most} s`],
    [peak, targets.bytes, (most) => `${most / GIB} GiB`],
    [fileBytes, targets.fileBytes, (most) => `file ${most / GIB} GiB`],
  ];
  return all
    .filter(([, most]) => most !== undefined)
    .map(([got, most, words]) => ({ reached: got === null || got <= most, words: words(most) }));
}

const missedOf = (row) => targetsOf(row).flatMap(({ reached, words }) => (reached ? [] : [words]));

function targetText(row) {
  const words = targetsOf(row).map(({ words }) => words);
  return words.length === 0 ? "" : `at most ${words.join(", ")}`;
}

/** Measures, prints and writes; returns the number of targets missed. */
export async function run() {
  const where = machine();
  const sizes = [...(await growth(true)), ...(await growth(false))];
  const sides = await backends();
  const beside = await shared();
  const whole = await commands();
  const slopes = [true, false].map((symmetric) => exponent(sizes.filter((r) => r.symmetries > 1 === symmetric)));
  const parts = [
    ...reportHead("scale", "The largest networks", ABOUT, where),
    `## Growth: the matching alone, native, ${THREADS} threads`,
    "",
    table(
      ["network", "symmetries", "NPUs", "transfers", "slots", "seconds", "ns/transfer", "runs", "target", ""],
      sizes.map((r) => [
        r.topology,
        r.symmetries,
        r.npus,
        r.transfers,
        r.slots,
        figure(r.seconds),
        figure((r.seconds * 1e9) / r.transfers, 3),
        r.runs,
        r.targetSeconds === null ? "" : `at most ${r.targetSeconds} s`,
        r.targetSeconds === null ? "" : r.seconds <= r.targetSeconds ? "reached" : "MISSED",
      ]),
    ),
    "",
    `Time grows with the number of NPUs to the power of ${figure(slopes[0], 3)} where the symmetries are used, as \`synth\` does, and of ${figure(slopes[1], 3)} where not, as on a network without any (least squares on logarithms); the published figure is 2.0, and the output itself grows with the power of 2.`,
    "",
    "## Backends and threads: the matching alone",
    "",
    table(
      ["network", "symmetries", "backend", "threads", "seconds", "x native, one thread", "ns/transfer"],
      sides.map((r) => [
        r.topology,
        r.symmetries,
        r.backend,
        r.threads,
        figure(r.seconds),
        figure(r.ratio, 3),
        figure(r.nsPerTransfer, 3),
      ]),
    ),
    "",
    `## Beside ${SHARED.busyProcesses} busy processes: the matching alone, native, ${THREADS} threads`,
    "",
    table(
      ["network", "symmetries", "runs", "alone s", "beside s", "times", "target", ""],
      beside.map((r) => [
        r.topology,
        r.symmetries,
        r.runs,
        figure(r.aloneSeconds),
        figure(r.besideSeconds),
        figure(r.times, 3),
        `at most ${SHARED.mostTimes}`,
        r.times <= SHARED.mostTimes ? "reached" : "MISSED",
      ]),
    ),
    "",
    "## Whole commands, start of Node included",
    "",
    table(
      ["command", "seconds", "synthesis s", "peak GiB", "file GiB", "transfers", "of bound", "policy", "target", ""],
      whole.map((r) => [
        `banyan ${r.line}`,
        figure(r.seconds),
        figure(r.synthesisSeconds),
        r.peakBytes === null ? "" : figure(r.peakBytes / GIB, 3),
        r.fileBytes === null ? "" : figure(r.fileBytes / GIB, 3),
        r.transfers,
        figure(r.optimality),
        r.policy,
        targetText(r),
        targetText(r) === "" ? "" : missedOf(r).length === 0 ? "reached" : `MISSED ${missedOf(r).join(", ")}`,
      ]),
    ),
  ];
  publish(
    "scale",
    {
      machine: where,
      exponents: { symmetric: slopes[0], plain: slopes[1] },
      growth: sizes,
      backends: sides,
      shared: beside,
      commands: whole,
    },
    parts.join("\n"),
  );
  const late =
    sizes.filter((r) => r.targetSeconds !== null && r.seconds > r.targetSeconds).length +
    beside.filter(({ times }) => times > SHARED.mostTimes).length;
  return late + whole.filter((r) => missedOf(r).length > 0).length;
}
