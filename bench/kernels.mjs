// Kernels on native, WebAssembly and JavaScript: every answer is compared bit for bit before anything is timed.
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { CASES } from "./kernel-cases.mjs";
import { backendsHere, measure, verdictOf } from "./kernel-rounds.mjs";
import { figure, machine, median, progress, publish, reportHead, table } from "./support.mjs";

const CLI = fileURLToPath(new URL("../dist/cli/main.js", import.meta.url));
const WHOLE = "synth mesh:10x10@50GiB/s,0.5us --collective allgather --size 1GiB --json";
const WHOLE_TARGET = 0.5;
const WHOLE_RUNS = 15;
const ABOUT = [
  "One kernel call on one thread, 1 GiB, one chunk per NPU unless said otherwise (all-to-all: per pair). Each backend runs in a process of its own;",
  'backends take turns, in another order every round; answers are compared bit for bit before they are timed. "cpu ms": median of the processor time,',
  "which says more than the wall clock where the machine does other work (garbage collection on other threads included).",
];

const titleOf = ({ name, kernel, collective = "", policy, degree, chunks, parts, gone }) =>
  [
    `${name} ${collective}`.trim(),
    gone && `without ${gone.join(" ")}`,
    chunks && `${chunks} chunks`,
    kernel,
    policy,
    degree,
    parts && `shares in ${parts} parts`,
  ]
    .filter(Boolean)
    .join(", ");

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
    if (report.verified !== true || report.details.ofPlannedBound < 0.999)
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

/** Measures, prints and writes; returns the number of targets missed. */
export async function run() {
  const where = machine();
  const backends = await backendsHere("kernels");
  const cases = [];
  for (const [index, trial] of CASES.entries()) {
    cases.push(
      await measure({ bench: "kernels", file: "kernel-cases.mjs", index, trial, title: titleOf(trial) }, backends),
    );
  }
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
      ...verdictOf(r.target),
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
    parts.push(table(["command", "median ms", "min ms", "runs", "target", ""], [[...row, ...verdictOf(whole.target)]]));
  }
  publish("kernels", { machine: where, cases, wholeProcess: whole }, parts.join("\n"));
  const targets = [...cases.flatMap((c) => c.results.map((r) => r.target)), whole?.target ?? null];
  return targets.filter((target) => target?.reached === false).length;
}
