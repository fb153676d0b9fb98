// A process of bench/faults.mjs, with the library of faults loaded. Prints one JSON object. Arguments: what to do, a folder,
// the names of commands (a pattern), how many of the runs (a share from 0 to 1), a seed.
//   files  runs commands one after the other in this thread, each with its n-th call on files failing: a command line as a
//          process of its own takes forty times as long
//   kills  runs them as processes, killed before and behind their n-th call and at random moments
import { rmSync } from "node:fs";
import { join } from "node:path";
import { random } from "../dist/base/random.js";
import { readCommandLine } from "../dist/cli/command-line.js";
import { COMMANDS as MODULES } from "../dist/cli/commands.js";
import { inputsOf } from "../dist/cli/context.js";
import { failureLines, failureOf } from "../dist/cli/failure.js";
import { styleOf } from "../dist/cli/reports/style.js";
import { COMMANDS, ERRORS, failFiles, KILLS, killAtRandom, ran } from "./faults-files.mjs";
import { FaultPage } from "./faults-page.mjs";

const [part, root, pattern, share, seed] = process.argv.slice(2);
const draws = random(Number(seed), 19);
const draw = () => draws.below(1e6) / 1e6;
const picks = () => draw() < Number(share);
const RANDOM_KILLS = 20;

/** Runs a command line as dist/cli/main.js does, without its second thread. */
async function here(argv, { env = {} } = {}) {
  Object.assign(process.env, env);
  const job = readCommandLine(argv);
  let [out, err] = ["", ""];
  const say = (text) => {
    err += `banyan: ${text}\n`;
  };
  const temporary = new Set();
  const context = {
    inputs: inputsOf(job.args, job.options),
    options: job.options,
    json: job.options.json === true,
    quiet: job.options.quiet === true,
    style: styleOf(false),
    signal: new AbortController().signal,
    out: (text) => {
      out += text;
      return true;
    },
    note: say,
    progress: () => {},
    uninterrupted: (work) => work(),
    temporary: { add: (path) => temporary.add(path), remove: (path) => temporary.delete(path) },
    keepFolder: () => {},
  };
  let code;
  try {
    const { run } = await MODULES[job.command]();
    code = await run(context, job.args);
  } catch (error) {
    const failure = failureOf(error);
    say(failureLines(failure));
    code = failure.code;
  }
  try {
    for (const path of temporary) rmSync(path, { recursive: true, force: true });
  } catch {
    // The judge sees what is left.
  }
  return { code, signal: null, hung: false, out, err };
}

const faults = [];
const onFault = (what) => faults.push(what);
const rows = [];
const page = new FaultPage(process.env.BANYAN_FAULTS);
const childPage = join(root, "child");
const child = new FaultPage(childPage);
const asProcess = (args, { env = {}, ...options } = {}) =>
  ran(args, { ...options, env: { ...env, BANYAN_FAULTS: childPage } });
for (const command of COMMANDS.filter(({ name }) => new RegExp(pattern).test(name))) {
  const { name } = command;
  if (part === "files") {
    const made = await failFiles(command, { root, page, run: here, ways: ERRORS, picks, onFault });
    const { open } = page.read();
    if (open !== 0) onFault(`${name}: ${open} files stay open for writing`);
    rows.push({ name, ...made });
  } else if (command.writes.length > 0) {
    const made = await failFiles(command, {
      root,
      page: child,
      run: asProcess,
      calm: here,
      ways: KILLS,
      picks,
      onFault,
    });
    child.disarm();
    const times = Math.ceil(RANDOM_KILLS * Number(share));
    const { killed } = await killAtRandom(command, { root, calm: here, times, draw, onFault });
    rows.push({ name, ...made, runs: made.runs + times, killed: made.killed + killed });
  }
}
console.log(JSON.stringify({ rows, faults }));
