// A process of bench/faults.mjs, with the library of faults loaded: runs commands one after the other in this thread, each
// with its n-th call on files failing. A command line as a process of its own takes forty times as long.
// Prints one JSON object. Arguments: a folder, the names of commands (a pattern), every how manieth n.
import { rmSync } from "node:fs";
import { failureOf } from "../dist/cli/failure.js";
import { readCommandLine } from "../dist/cli/program.js";
import { COMMANDS as MODULES } from "../dist/cli/protocol.js";
import { styleOf } from "../dist/cli/style.js";
import { COMMANDS, ERRORS, failFiles } from "./faults-files.mjs";
import { FaultPage } from "./faults-page.mjs";

const [root, pattern = ".", step = "1"] = process.argv.slice(2);

/** Runs a command line as dist/cli/main.js does, without its second thread. */
async function here(argv, { env = {} } = {}) {
  const start = performance.now();
  Object.assign(process.env, env);
  const job = readCommandLine(argv);
  let [out, err] = ["", ""];
  const say = (text) => {
    err += `banyan: ${text}\n`;
  };
  const temporary = new Set();
  const context = {
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
    temporary: { add: (path) => temporary.add(path), remove: (path) => temporary.delete(path) },
    uninterrupted: (work) => work(),
  };
  let code;
  try {
    const { run } = await MODULES[job.command]();
    code = await run(context, job.args);
  } catch (error) {
    const failure = failureOf(error);
    say(failure.line);
    code = failure.code;
  }
  try {
    for (const path of temporary) rmSync(path, { recursive: true, force: true });
  } catch {}
  return { code, signal: null, hung: false, ms: performance.now() - start, out, err };
}

const page = new FaultPage(process.env.BANYAN_FAULTS);
const faults = [];
const rows = [];
for (const command of COMMANDS.filter(({ name }) => new RegExp(pattern).test(name))) {
  const picks = (n) => n % Number(step) === 0;
  const options = { root, page, run: here, ways: ERRORS, picks, onFault: (what) => faults.push(what) };
  rows.push({ name: command.name, ...(await failFiles(command, options)), open: page.read().open });
}
console.log(JSON.stringify({ rows, faults }));
