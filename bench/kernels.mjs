// Kernels on native, WebAssembly and JavaScript: every answer is compared bit for bit before anything is timed.
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { CASES } from "./kernel-cases.mjs";
import { figure, machine, median, progress, publish, reportHead, table, trialProcess } from "./support.mjs";

const BACKENDS = ["native", "wasm", "js"];
const CLI = fileURLToPath(new URL("../dist/cli/main.js", import.meta.url));
const WHOLE = "synth mesh:10x10@50GiB/s,0.5us --collective allgather --size 1GiB --json";
const WHOLE_TARGET = 0.5;
const WHOLE_RUNS = 15;
const ABOUT = [
  "One kernel call on one thread, 1 GiB, one chunk per NPU unless said otherwise (all-to-all: per pair). Each backend runs in a process of its own;",
  'backends take turns, in another order every round; answers are compared bit for bit before they are timed. "cpu ms": median of the processor time,',
  "which says more than the wall clock where the machine does other work (garbage collection on other threads included).",
];

const titleOf = ({ name, kernel, collective, policy, degree, chunks }) =>
  [`${name} ${collective}`, chunks && `${chunks} chunks`, kernel, policy, degree].filter(Boolean).join(", ");

/** Runs one round of a case: one process per backend, all answers equal, then each timed while the others wait. */
async function round(index, backends, first) {
  const trial = CASES[index];
  const order = backends.map((_, i) => backends[(i + first) % backends.length]);
  const processes = new Map();
  try {
    let reference = null;
    for (const backend of order) {
      const process_ = trialProcess("kernel-trial.mjs", [String(index), backend]);
      processes.set(backend, process_);
      const answer = await process_.ask({ runs: 0 });
      reference ??= { backend, ...answer };
      if (answer.digest !== reference.digest) {
        throw new Error(`${titleOf(trial)}: ${backend} gives another answer than ${reference.backend}`);
      }
    }
    const seconds = {};
    for (const backend of order) {
      const answer = await processes.get(backend).ask({ runs: trial.runs });
      if (answer.digest !== reference.digest) throw new Error(`${titleOf(trial)}: ${backend} does not repeat itself`);
      seconds[backend] = answer;
    }
    return { digest: reference.digest, transfers: reference.transfers, seconds };
  } finally {
    for (const process_ of processes.values()) process_.end();
  }
}

async function measure(index, backends) {
  const trial = CASES[index];
  const all = Object.fromEntries(backends.map((backend) => [backend, { wall: [], processor: [] }]));
  let last;
  for (let r = 0; r < trial.rounds; r++) {
    progress(`kernels: ${titleOf(trial)}, round ${r + 1} of ${trial.rounds}`);
    last = await round(index, backends, r);
    for (const backend of backends) {
      all[backend].wall.push(...last.seconds[backend].seconds);
      all[backend].processor.push(...last.seconds[backend].processorSeconds);
    }
  }
  const base = all.native === undefined ? null : median(all.native.wall);
  const results = backends.map((backend) => {
    const seconds = all[backend].wall;
    const middle = median(seconds);
    const ratio = base === null ? null : middle / base;
    const limit = trial.targets?.[backend];
    const target =
      limit === undefined
        ? null
        : backend === "native"
          ? { text: `<= ${limit} s`, reached: middle <= limit }
          : { text: `<= ${limit} x native`, reached: ratio === null ? null : ratio <= limit };
    return {
      backend,
      medianSeconds: middle,
      minSeconds: Math.min(...seconds),
      medianProcessorSeconds: median(all[backend].processor),
      runs: seconds.length,
      nsPerTransfer: (middle * 1e9) / last.transfers,
      ratioToNative: ratio,
      target,
    };
  });
  return { case: titleOf(trial), kernel: trial.kernel, transfers: last.transfers, answer: last.digest, results };
}

/** Returns the backends that load here; says which do not, and why. */
async function backendsHere() {
  const { loadKernels } = await import("../dist/engine/kernels/load.js");
  const here = [];
  for (const backend of BACKENDS) {
    try {
      await loadKernels(backend);
      here.push(backend);
    } catch (error) {
      console.error(`kernels: without ${backend}: ${error.message}`);
    }
  }
  return here;
}

/** Returns the time of the command line as a whole process, start of Node included; null without dist/cli. */
function wholeProcess() {
  if (!existsSync(CLI)) return null;
  const seconds = [];
  for (let i = -1; i < WHOLE_RUNS; i++) {
    progress(`kernels: banyan ${WHOLE}, run ${i + 1} of ${WHOLE_RUNS}`);
    const start = performance.now();
    const report = JSON.parse(execFileSync(process.execPath, [CLI, ...WHOLE.split(" ")], { encoding: "utf8" }));
    // The first run fills the system's caches.
    if (i >= 0) seconds.push((performance.now() - start) / 1000);
    if (report.verified !== true || report.optimality < 0.999)
      throw new Error(`banyan ${WHOLE}: not verified and optimal`);
  }
  const middle = median(seconds);
  return {
    command: `banyan ${WHOLE}`,
    medianSeconds: middle,
    minSeconds: Math.min(...seconds),
    runs: seconds.length,
    target: { text: `<= ${WHOLE_TARGET} s`, reached: middle <= WHOLE_TARGET },
  };
}

const verdict = (target) =>
  target === null ? ["", ""] : [target.text, target.reached === null ? "" : target.reached ? "reached" : "MISSED"];

/** Measures, prints and writes; returns the number of targets missed. */
export async function run() {
  const where = machine();
  const backends = await backendsHere();
  const cases = [];
  for (let index = 0; index < CASES.length; index++) cases.push(await measure(index, backends));
  const whole = wholeProcess();
  const rows = cases.flatMap((c) =>
    c.results.map((r) => [
      c.case,
      r.backend,
      c.transfers,
      figure(r.medianSeconds * 1000),
      figure(r.minSeconds * 1000),
      figure(r.medianProcessorSeconds * 1000),
      figure(r.ratioToNative, 3),
      figure(r.nsPerTransfer, 3),
      r.runs,
      ...verdict(r.target),
    ]),
  );
  const headings = [
    "case",
    "backend",
    "transfers",
    "median ms",
    "min ms",
    "cpu ms",
    "x native",
    "ns/transfer",
    "runs",
    "target",
    "",
  ];
  const parts = [...reportHead("kernels", "Kernels", ABOUT, where), table(headings, rows)];
  if (whole !== null) {
    parts.push("", "The command line as a whole process, start of Node included:", "");
    const row = [whole.command, figure(whole.medianSeconds * 1000), figure(whole.minSeconds * 1000), whole.runs];
    parts.push(table(["command", "median ms", "min ms", "runs", "target", ""], [[...row, ...verdict(whole.target)]]));
  }
  publish("kernels", { machine: where, cases, wholeProcess: whole }, parts.join("\n"));
  const targets = [...cases.flatMap((c) => c.results.map((r) => r.target)), whole?.target ?? null];
  return targets.filter((target) => target?.reached === false).length;
}
