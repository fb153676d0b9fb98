// Small inputs that ask for much, each as a process of its own: node bench/hostile.mjs [pattern of names]. Limits: MOST_CPU_S of
// processor time, MOST_WALL_S waiting, MOST_MIB of memory; an end in one sentence. Prints what went beyond and a line of counts;
// ends with status 1 where anything did. Needs /proc (Linux) and dist/ built.
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { fileCases } from "./hostile-files.mjs";
import { networkCases } from "./hostile-networks.mjs";
import { optionCases } from "./hostile-options.mjs";
import { sourceCases } from "./hostile-sources.mjs";
import { progress, progressDone, table } from "./support.mjs";

const MOST_CPU_S = 5;
const MOST_WALL_S = 60;
const MOST_MIB = 2048;
const EVERY_MS = 50;
/** A line longer than this is no sentence. */
const MOST_LINE = 2600;
const TICKS_PER_SECOND = 100;
const PAGE_MIB = 4096 / 2 ** 20;

const MAIN = fileURLToPath(new URL("../dist/cli/main.js", import.meta.url));
const only = new RegExp(process.argv[2] ?? "");
const folder = mkdtempSync(join(tmpdir(), "banyan-hostile-"));
mkdirSync(join(folder, "cache"));

/** Returns processor seconds and memory of a group of processes now. */
function usage(group) {
  let [seconds, mib] = [0, 0];
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    try {
      const fields = readFileSync(`/proc/${pid}/stat`, "latin1")
        .replace(/^.*\) /, "")
        .split(" ");
      if (Number(fields[2]) !== group) continue;
      seconds += (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
      mib += Number(fields[21]) * PAGE_MIB;
    } catch {
      // it has ended meanwhile
    }
  }
  return { seconds, mib };
}

function killed(group, signal) {
  try {
    process.kill(-group, signal);
  } catch {
    // it has ended
  }
}

/** Returns what became of a command line of a shell, in which `banyan` is ours. */
async function run(command) {
  const script = `banyan() { exec "${process.execPath}" "${MAIN}" "$@"; }\n${command}`;
  const start = performance.now();
  const env = { ...process.env, BANYAN_CACHE_DIR: join(folder, "cache") };
  const child = spawn("bash", ["-c", script], { cwd: folder, detached: true, env, stdio: ["ignore", "pipe", "pipe"] });
  let [out, err] = [0, ""];
  child.stdout.on("data", (part) => {
    out += part.length;
  });
  child.stderr.setEncoding("utf8").on("data", (part) => {
    if (err.length < 1e5) err += part;
  });
  const found = { seconds: 0, mib: 0, why: "" };
  const watch = setInterval(() => {
    const { seconds, mib } = usage(child.pid);
    found.seconds = Math.max(found.seconds, seconds);
    found.mib = Math.max(found.mib, mib);
    const wall = (performance.now() - start) / 1000;
    if (seconds > MOST_CPU_S) found.why = "time";
    else if (mib > MOST_MIB) found.why = "memory";
    else if (wall > MOST_WALL_S) found.why = "waiting";
    if (found.why !== "") killed(child.pid, "SIGKILL");
  }, EVERY_MS);
  const code = await new Promise((resolve) => {
    child.on("close", resolve);
  });
  clearInterval(watch);
  killed(child.pid, "SIGKILL");
  return { ...found, wall: (performance.now() - start) / 1000, code, out, err };
}

/** Returns what is wrong with an end; "" for none. */
function faultOf({ why, code, err }) {
  if (why !== "") return `beyond the limit of ${why}`;
  if (![0, 1, 2, 3].includes(code)) return `exit code ${code}`;
  const said = err.split("\n").filter((line) => line.startsWith("banyan:"));
  if (/internal error|out of memory|FATAL| {4}at /.test(err)) return "no clean end";
  if (code > 1 && said.length === 0) return "no sentence";
  if (said.some((line) => line.length > MOST_LINE))
    return `a line of ${Math.max(...said.map((l) => l.length))} characters`;
  if (/\d{60}/.test(err)) return "a number of 60 digits";
  return "";
}

/** Good files, for those that are changed. */
const GOOD = [
  "banyan synth ring:3 --collective allgather -o s.json --quiet",
  "banyan synth ring:3 --collective allgather --algorithm forestcoll -o f.json --quiet",
  "banyan synth torus:64x64 --collective allreduce --algorithm themis --chunks 8 -o ph.json --quiet",
  "banyan topology ndv2:2 -o n.json --quiet",
  "banyan export s.json --to bys -o s.bys --quiet",
  "banyan export s.json --to msccl-xml -o s.xml --quiet",
  "banyan export s.json --to mscclpp-json -o p.json --quiet",
];

/** Returns a good file as it was changed. */
function changedFile({ file, with: change }) {
  const bytes = readFileSync(join(folder, file));
  const content = change(file.endsWith(".bys") ? bytes : bytes.toString());
  if (bytes.equals(Buffer.from(content))) throw new Error(`nothing is changed in ${file}`);
  return content;
}

for (const command of GOOD) {
  const { code, err } = await run(command);
  if (code !== 0) throw new Error(`${command}: ${err}`);
}
const cases = [...networkCases, ...fileCases, ...optionCases, ...sourceCases].filter(({ name, command }) =>
  only.test(`${name} ${command}`),
);
const faults = [];
let [slowest, largest] = [0, 0];
for (const [i, { name, command, change, files: given = {} }] of cases.entries()) {
  progress(`${i + 1} of ${cases.length}: ${name}`);
  const files = change === undefined ? given : { [change.to]: () => changedFile(change) };
  for (const [file, content] of Object.entries(files)) writeFileSync(join(folder, file), content());
  const ended = await run(command);
  for (const file of Object.keys(files)) rmSync(join(folder, file), { force: true });
  const fault = faultOf(ended);
  slowest = Math.max(slowest, ended.seconds);
  largest = Math.max(largest, ended.mib);
  const said = ended.err.split("\n").findLast((line) => line.startsWith("banyan:")) ?? "";
  const row = [name, fault, ended.seconds.toFixed(1), ended.mib.toFixed(0), ended.code ?? "", said.slice(0, 100)];
  if (process.env.HOSTILE_ALL !== undefined) console.log(row.join(" | "));
  if (fault !== "") faults.push(row);
}
progressDone();
rmSync(folder, { recursive: true, force: true });
if (faults.length > 0) console.log(table(["input", "what", "CPU s", "MiB", "exit", "sentence"], faults));
console.log(
  `${cases.length} hostile inputs, ${faults.length} beyond the limits; at most ${slowest.toFixed(1)} s of processor time and ${largest.toFixed(0)} MiB`,
);
process.exitCode = faults.length === 0 ? 0 : 1;
