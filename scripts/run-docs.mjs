// Runs every command of README.md, docs/ and examples/README.md in a folder that has examples/, and holds what is printed against
// what stands below it.
//   node scripts/run-docs.mjs [PAGE ...] [--update] [--log FILE]
// --update writes what was printed into the pages (but for blocks with "..."); --log keeps all commands with all output.
//
//   ```sh          commands that must end with status 0; what they print does not count
//   ```console     "$ command", and below it what it prints on standard output. A line "..." stands for any number of lines.
//                  Where a line begins with "banyan: ", the command is refused, and says so on standard error.
//   ... not-run: why    behind ```sh or ```console: nobody runs it
//   <!-- run: command -->   what has to happen before
//
// What changes from run to run is masked (MASKS below), and blanks count as one: columns are as wide as what is in them.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  appendFileSync,
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join, relative } from "node:path";
import { pathToFileURL } from "node:url";
import { blocksOf, preparationsOf, runPages, textOfPage } from "./docs/pages.mjs";
import { at } from "./paths.mjs";
import { MAIN_JOB } from "./start.mjs";

const TIME = String.raw`[\d.]+ (?:ns|us|ms|s|min)(?: [\d.]+ s)?`;

/** What changes from run to run, and what is compared in its place. */
const MASKS = [
  // how long a synthesis or a solver took, and on what
  [new RegExp(`${TIME} on (?:native|wasm|js)(?: kernels)?(?:, \\d+ threads?)?`, "g"), "TIME on BACKEND"],
  [new RegExp(`solved in ${TIME}`, "g"), "solved in TIME"],
  // how long `run` took
  [new RegExp(`(between GPUs), ${TIME}$`), "$1, TIME"],
  [/\b\d+\.\d+\.\d+\b(?=$)/, "VERSION"],
];

/** Returns lines as they are compared: masked, blanks as one. The last column of tables that end in "synthesis" is a time. */
export function comparable(lines) {
  let endsInTime = false;
  return lines.map((line) => {
    if (/\bsynthesis$/.test(line)) endsInTime = true;
    else if (line.trim() === "") endsInTime = false;
    let masked = line;
    for (const [pattern, instead] of MASKS) masked = masked.replace(pattern, instead);
    if (endsInTime) masked = masked.replace(new RegExp(` ${TIME}$`), " TIME");
    return masked.replace(/\s+/g, " ").trim();
  });
}

/** Returns whether lines are what was expected, in which "..." stands for any number of lines. */
export function isAsExpected(expected, got) {
  const [want, have] = [expected, got].map(comparable);
  const from = (w, h) => {
    if (w === want.length) return h === have.length;
    if (want[w] === "...") return from(w + 1, h) || (h < have.length && from(w, h + 1));
    return h < have.length && want[w] === have[h] && from(w + 1, h + 1);
  };
  return from(0, 0);
}

/** Returns the commands of a block: { command, expected (null: anything), line, end }; lines count from 0 within the block. */
export function commandsOf({ lang, lines }) {
  const commands = [];
  for (let i = 0; i < lines.length; i++) {
    const isCommand = lang === "sh" ? lines[i].trim() !== "" && !lines[i].startsWith("#") : lines[i].startsWith("$ ");
    if (!isCommand) continue;
    const line = i;
    let command = lang === "sh" ? lines[i] : lines[i].slice(2);
    while (command.endsWith("\\")) command = `${command.slice(0, -1).trimEnd()} ${lines[++i].trim()}`;
    let end = i + 1;
    while (lang !== "sh" && end < lines.length && !lines[end].startsWith("$ ")) end++;
    commands.push({
      command,
      line,
      from: i + 1,
      end,
      expected: lang === "sh" ? null : trimmed(lines.slice(i + 1, end)),
    });
  }
  return commands;
}

/** Returns lines without empty ones at both ends. */
function trimmed(lines) {
  const first = lines.findIndex((line) => line.trim() !== "");
  return first === -1 ? [] : lines.slice(first, lines.findLastIndex((line) => line.trim() !== "") + 1);
}

/** From so many seconds on it is kept what a command did: several pages begin with the same one. */
const WORTH_KEEPING = 1;

/** Returns a hash of a command and of all files of the folder that it runs in: what it does depends on nothing else. */
function keyOf(command, home) {
  const hash = createHash("sha256").update(command);
  for (const entry of readdirSync(home, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    hash.update(`\0${relative(home, path)}\0`);
    if (entry.isFile()) hash.update(readFileSync(path));
  }
  return hash.digest("hex");
}

/** Keeps what commands print and leave, for as long as the process runs. */
function openKept() {
  const kept = new Map();
  const folder = mkdtempSync(join(tmpdir(), "banyan-docs-kept-"));
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  return {
    /** Returns what a command does in a folder, and leaves there what it does; `run` does it where that is not known. */
    run(command, home, run) {
      const key = keyOf(command, home);
      const known = kept.get(key);
      if (known === undefined) {
        const ran = run();
        if (ran.seconds < WORTH_KEEPING) return ran;
        cpSync(home, join(folder, key), { recursive: true });
        kept.set(key, ran);
        return ran;
      }
      rmSync(home, { recursive: true });
      cpSync(join(folder, key), home, { recursive: true });
      return { ...known, seconds: 0 };
    },
  };
}

/** Makes a folder as a reader has it: examples/, and `banyan`, `npm start` and `nvidia-smi` on the path. */
function openFolder(kept) {
  const folder = mkdtempSync(join(tmpdir(), "banyan-docs-"));
  const home = join(folder, "here");
  cpSync(at("examples"), join(home, "examples"), { recursive: true });
  const bin = join(folder, "bin");
  mkdirSync(bin);
  const main = `"${process.execPath}" "${at("dist/cli/main.js")}"`;
  const programs = {
    banyan: `exec ${main} "$@"`,
    npm: `[ "$1" = start ] || exit 1; shift; [ "$1" != -- ] || shift; [ $# -gt 0 ] || set -- ${MAIN_JOB}; exec ${main} "$@"`,
    "nvidia-smi": `cat "${at("examples/nvidia-smi-h100.txt")}"`,
  };
  for (const [name, line] of Object.entries(programs)) {
    writeFileSync(join(bin, name), `#!/bin/sh\n${line}\n`);
    chmodSync(join(bin, name), 0o755);
  }
  const env = {
    ...process.env,
    PATH: `${bin}${delimiter}${process.env.PATH}`,
    BANYAN_CACHE_DIR: join(folder, "cache"),
    HOME: home,
    LC_ALL: "C.UTF-8",
  };
  return {
    /** Returns { status, out, err, seconds } of a command line of a shell. */
    run: (command) =>
      kept.run(command, home, () => {
        const start = performance.now();
        const { status, stdout, stderr } = spawnSync("bash", ["-o", "pipefail", "-c", command], {
          cwd: home,
          env,
          encoding: "utf8",
          input: "",
          maxBuffer: 2 ** 28,
        });
        return { status, out: stdout, err: stderr, seconds: (performance.now() - start) / 1000 };
      }),
    close: () => rmSync(folder, { recursive: true, force: true }),
  };
}

let kept;

/**
 * Runs the commands of a page, in order, in one folder. Returns what happened to each: { page, line, command, seconds, out, err,
 * problem, block, expected, got } with problem undefined where all is as it stands there.
 */
export function runPage(page, heard = () => {}) {
  const text = textOfPage(page);
  kept ??= openKept();
  const folder = openFolder(kept);
  const results = [];
  const note = (result) => {
    results.push(result);
    heard(result);
  };
  try {
    for (const command of preparationsOf(text)) {
      const ran = folder.run(command);
      note({
        page,
        line: 0,
        command,
        ...ran,
        problem: ran.status === 0 ? undefined : `ended with status ${ran.status}`,
      });
    }
    for (const block of blocksOf(text)) {
      if (!["sh", "console"].includes(block.lang) || block.notRun !== undefined) continue;
      for (const { command, expected, line, from, end } of commandsOf(block)) {
        const ran = folder.run(command);
        const refusal = ran.err.split("\n").filter((said) => said.startsWith("banyan: "));
        const isRefused = expected?.some((said) => said.startsWith("banyan: ")) ?? false;
        const got = trimmed([...ran.out.split("\n").map((said) => said.trimEnd()), ...(isRefused ? refusal : [])]);
        const problem =
          (ran.status === 0) === isRefused
            ? `ended with status ${ran.status}: ${ran.err.trim()}`
            : expected === null || isAsExpected(expected, got)
              ? undefined
              : "prints something else";
        note({
          page,
          line: block.line + line + 1,
          command,
          ...ran,
          expected,
          got,
          problem,
          place: [block.line + from, block.line + end],
        });
      }
    }
  } finally {
    folder.close();
  }
  return results;
}

/** Writes what was printed into a page, for commands that print something else and whose block has no "...". */
function update(page, results) {
  const lines = textOfPage(page).split("\n");
  const wrong = results.filter(
    ({ problem, expected }) => problem === "prints something else" && !expected.includes("..."),
  );
  for (const { got, place } of wrong.reverse())
    lines.splice(place[0], place[1] - place[0], "", ...got, ...(lines[place[1]]?.startsWith("$ ") ? [""] : []));
  if (wrong.length > 0) writeFileSync(at(page), lines.join("\n"));
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const args = process.argv.slice(2);
  const isUpdate = args.includes("--update");
  const logFile = args.includes("--log") ? args[args.indexOf("--log") + 1] : undefined;
  const asked = args.filter((arg) => arg.endsWith(".md"));
  const keep = (text) => {
    if (logFile !== undefined) appendFileSync(logFile, text);
  };
  if (logFile !== undefined) writeFileSync(logFile, "");
  let [count, wrong] = [0, 0];
  for (const page of asked.length > 0 ? asked : runPages()) {
    const results = runPage(page, ({ line, command, seconds, problem, got, out, err }) => {
      count++;
      console.log(
        `${problem === undefined ? "ok  " : "FAIL"} ${seconds.toFixed(1).padStart(6)} s  ${page}:${line}  ${command}`,
      );
      keep(
        `# ${page}:${line}  ${seconds.toFixed(1)} s\n$ ${command}\n${out}${err}${problem === undefined ? "" : `FAIL: ${problem}\n`}\n`,
      );
      if (problem === undefined) return;
      wrong++;
      console.log(`     ${problem}`);
      for (const said of (got ?? []).slice(0, 60)) console.log(`     | ${said}`);
    });
    if (isUpdate) update(page, results);
  }
  console.log(`${count} commands, ${wrong} wrong`);
  keep(`${count} commands, ${wrong} wrong\n`);
  process.exitCode = wrong > 0 ? 1 : 0;
}
