// What all benchmarks share: the machine, statistics, tables, result files.
import { execFileSync, fork, spawn } from "node:child_process";
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { availableParallelism, cpus, loadavg, release, totalmem, type } from "node:os";
import { fileURLToPath } from "node:url";

const results = new URL("./results/", import.meta.url);
const root = fileURLToPath(new URL("..", import.meta.url));
const CLI = fileURLToPath(new URL("../dist/cli/main.js", import.meta.url));

/** Returns the middle value; of an even number of values the mean of the two in the middle. */
export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const half = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

function git(...args) {
  try {
    return execFileSync("git", args, { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
  } catch {
    return null;
  }
}

/** Returns what a reader needs to judge the figures, and no more: no names, no paths. */
export function machine() {
  const changed = git("status", "--porcelain", "--", "src", "native", "wasm", "bench/*.mjs");
  return {
    cpu: cpus()[0]?.model.trim() ?? "unknown",
    cores: availableParallelism(),
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    os: `${type()} ${release().split(".").slice(0, 2).join(".")}`,
    node: process.version,
    commit: git("rev-parse", "--short=12", "HEAD"),
    uncommittedChanges: changed === null ? null : changed !== "",
    loadBefore: Math.round(loadavg()[0] * 100) / 100,
  };
}

/** Returns the machine in one line. */
function machineLine(m) {
  const commit =
    m.commit === null ? "" : `, commit ${m.commit}${m.uncommittedChanges ? " with uncommitted changes" : ""}`;
  return `${m.cpu}, ${m.cores} cores, ${m.memoryGiB} GiB, ${m.os}, Node ${m.node}${commit}, load ${m.loadBefore} before`;
}

/** Returns what a generator yields, saying how far it is. */
export async function listed(generator, what) {
  const rows = [];
  for await (const row of generator) {
    rows.push(row);
    progress(`${rows.length} ${what}`);
  }
  return rows;
}

/** Returns rows by their keys, in the order in which the keys come first. */
export function groupedBy(rows, keyOf) {
  const groups = new Map();
  for (const row of rows) groups.set(keyOf(row), [...(groups.get(keyOf(row)) ?? []), row]);
  return groups;
}

/** Returns a Markdown table that also reads well on a terminal. Numbers (and what starts with one) are aligned right. */
export function table(headings, rows) {
  const cells = rows.map((row) => row.map((cell) => (cell === null || cell === undefined ? "" : String(cell))));
  const widths = headings.map((heading, i) => Math.max(3, heading.length, ...cells.map((row) => row[i].length)));
  const right = headings.map(
    (_, i) => cells.some((row) => row[i] !== "") && cells.every((row) => /^$|^[-\d<]/.test(row[i])),
  );
  const line = (row) =>
    `| ${row.map((c, i) => (right[i] ? c.padStart(widths[i]) : c.padEnd(widths[i]))).join(" | ")} |`;
  const rule = `|${widths.map((w, i) => (right[i] ? `${"-".repeat(w + 1)}:` : "-".repeat(w + 2))).join("|")}|`;
  return [line(headings), rule, ...cells.map(line)].join("\n");
}

/** Returns a number with about four significant digits and no exponent. */
export function figure(value, digits = 4) {
  if (value === null || value === undefined || !Number.isFinite(value)) return "";
  if (value === 0) return "0";
  const decimals = Math.max(0, digits - 1 - Math.floor(Math.log10(Math.abs(value))));
  return value.toFixed(Math.min(decimals, 6));
}

/**
 * Returns the lines that a report begins with: its title, `about` behind the command that repeats it, and the machine,
 * followed by what else was the same for all of it.
 */
export function reportHead(name, title, about, where, ...alike) {
  const [first, ...more] = about;
  return [
    `# ${title}`,
    "",
    `\`npm run bench -- ${name}\`. ${first}`,
    ...more,
    "",
    [machineLine(where), ...alike].join("; "),
    "",
  ];
}

/** Writes NAME.json and NAME.md beside each other, each whole or not at all, and prints the Markdown where progress stood. */
export function publish(name, data, markdown) {
  progressDone();
  mkdirSync(results, { recursive: true });
  const write = (file, text) => {
    const beside = new URL(`${file}.new`, results);
    writeFileSync(beside, text);
    renameSync(beside, new URL(file, results));
  };
  write(`${name}.json`, `${JSON.stringify({ bench: name, ...data }, null, 1)}\n`);
  write(`${name}.md`, `${markdown}\n`);
  console.log(`\n${markdown}\n\nwritten: bench/results/${name}.json, bench/results/${name}.md`);
}

/** Returns what NAME.json was written with. */
export const published = (name) => JSON.parse(readFileSync(new URL(`${name}.json`, results), "utf8"));

/** Prints how far a long run is, on stderr. */
export function progress(text) {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[2K${text}`);
  else process.stderr.write(`${text}\n`);
}

export function progressDone() {
  if (process.stderr.isTTY) process.stderr.write("\r\x1b[2K");
}

/** Returns the most memory that a process has held, where the system tells (Linux). */
function peakBytes(pid) {
  try {
    return Number(/VmHWM:\s*(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) * 1024;
  } catch {
    return 0;
  }
}

/**
 * Returns what a report says of a schedule in the model in which it was made: its time in microseconds, the bound of that and
 * the share. Of steps these are planned times; trees have a rate, of `share`; phases the limit of their class.
 */
export function asPlanned({ time, limit, classLimit, ofLimit, ofClassLimit, details, throughput }) {
  const { planned, plannedBound, ofPlannedBound } = details;
  if (planned !== null) return { us: planned.us, bound: plannedBound, share: ofPlannedBound };
  if (throughput !== undefined) return { us: time.us, bound: throughput.bound, share: throughput.ofBound };
  return { us: time.us, bound: classLimit ?? limit, share: ofClassLimit ?? ofLimit };
}

/** Returns the error that a command printed as JSON, as the begin of a sentence; "" where it printed none. */
function saidIn(text) {
  try {
    return `${JSON.parse(text).error.message}: `;
  } catch {
    return "";
  }
}

/**
 * Runs `banyan ...args --json` in a process of its own; resolves to its wall seconds, the most memory that it held (null where
 * that is not known) and what it printed. Rejects where it fails, or is not done after `limitSeconds`.
 */
export function command(args, limitSeconds = Number.POSITIVE_INFINITY) {
  return new Promise((resolve, reject) => {
    const start = performance.now();
    const child = spawn(process.execPath, [CLI, ...args, "--json", "--quiet"], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const secondsSoFar = () => (performance.now() - start) / 1000;
    let peak = 0;
    const timer = setInterval(() => {
      peak = Math.max(peak, peakBytes(child.pid));
      if (secondsSoFar() > limitSeconds) child.kill("SIGKILL");
    }, 50);
    let text = "";
    child.stdout.on("data", (part) => {
      text += part;
    });
    child.on("close", (code, signal) => {
      clearInterval(timer);
      const seconds = secondsSoFar();
      const end = signal === "SIGKILL" ? `stopped after ${Math.round(seconds)} s` : `${saidIn(text)}exit code ${code}`;
      if (code !== 0) reject(new Error(`banyan ${args.join(" ")}: ${end}`));
      else resolve({ seconds, peakBytes: peak === 0 ? null : peak, report: JSON.parse(text) });
    });
  });
}

/** Resolves as `command`, whose schedule must be verified; null where the algorithm does not apply (exit code 2). */
export async function verifiedCommand(args, limitSeconds) {
  try {
    const found = await command(args, limitSeconds);
    if (!found.report.verified) throw new Error(`banyan ${args.join(" ")}: not verified`);
    return found;
  } catch (error) {
    if (/exit code 2$/.test(error.message)) return null;
    throw error;
  }
}

/**
 * Starts a file of this folder in a process of its own. `ask(message)` returns its next answer; an answer with `error`,
 * and an end before the answer, reject.
 */
export function trialProcess(file, args) {
  const child = fork(fileURLToPath(new URL(file, import.meta.url)), args, { execArgv: ["--max-old-space-size=8192"] });
  let settle = null;
  child.on("message", (answer) => {
    if (answer.error !== undefined) settle?.reject(new Error(`${answer.error} (${file} ${args.join(" ")})`));
    else settle?.resolve(answer);
  });
  child.on("exit", (code) => settle?.reject(new Error(`${file} ${args.join(" ")} ended with status ${code}`)));
  return {
    ask(message) {
      return new Promise((resolve, reject) => {
        settle = { resolve, reject };
        child.send(message);
      });
    },
    end() {
      settle = null;
      child.kill();
    },
  };
}

/** The other side of `trialProcess`: answers every message with what `handle` returns. */
export function answerWith(handle) {
  process.on("message", async (message) => {
    try {
      process.send(await handle(message));
    } catch (error) {
      process.send({ error: error instanceof Error ? error.message : String(error) });
    }
  });
}
