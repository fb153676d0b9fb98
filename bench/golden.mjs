// The golden run: every command line of golden-cases.mjs, by another build and by this one: exit codes, standard output, standard
// error and all files must be the same, but for what clocks say; JSON on standard output may have new fields.
//   node bench/golden.mjs record CHECKOUT FOLDER   runs them by the build of a checkout (which has dist/), into a new folder
//   node bench/golden.mjs compare FOLDER           runs them by this build, and prints every difference and a line of counts;
//                                                  ends with status 1 where anything differs
import { spawn } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { CASES, CHANGED, FILES } from "./golden-cases.mjs";
import { progress, progressDone } from "./support.mjs";

const HERE = fileURLToPath(new URL("..", import.meta.url));
const MOST_SHOWN = 400;
const MOST_MS = 300_000;
const RESULTS = "golden.json";

/** Makes a folder with the files that are there before the first command line. */
function prepare(folder) {
  mkdirSync(join(folder, "out"), { recursive: true });
  cpSync(join(HERE, "test/fixtures"), join(folder, "fixtures"), {
    recursive: true,
    filter: (path) => !path.endsWith("corpus"),
  });
  for (const [file, text] of Object.entries(FILES)) writeFileSync(join(folder, file), text);
}

/** Returns what a command line ended with. */
function ran(folder, main, line) {
  const env = { PATH: process.env.PATH, HOME: folder, BANYAN_CACHE_DIR: join(folder, "cache") };
  const words = line.split(" ").filter((word) => word !== "");
  const child = spawn(process.execPath, [main, ...words], { cwd: folder, env, timeout: MOST_MS });
  const [out, err] = [[], []];
  child.stdout.on("data", (part) => out.push(part));
  child.stderr.on("data", (part) => err.push(part));
  child.stdin.end();
  return new Promise((done) =>
    child.on("close", (code) => done({ code, out: String(Buffer.concat(out)), err: String(Buffer.concat(err)) })),
  );
}

/** What clocks say, and the code of the app inside of a page. */
const CLOCKS = [
  [/[\d.]+ (?:us|ms|s|min)(?= on (?:native|wasm|js))/g, "TIME"],
  [/(%)\s+[\d.]+ (?:ms|s)$/gm, "$1 TIME"],
  [/(between GPUs, )[\d.]+ (?:ms|s)$/gm, "$1TIME"],
  [/^(\d+,[a-z-]+(?:,[\d.]+){4}),[\d.]+/gm, "$1,TIME"],
  [/"(\w*(?:Ms|ms|Seconds))": [\d.e+-]+/g, '"$1": 0'],
  [/"us": [\d.]+(?=,\n\s*"outcome")/g, '"us": 0'],
  [/(<script(?! type="application\/json")[^>]*>).*?<\/script>/gs, "$1CODE"],
  [/(<style>\.).*?<\/style>/gs, "$1CODE"],
];

/** Returns a text without what clocks and the folder of a side say. */
const timeless = (text, folder) =>
  CLOCKS.reduce((rest, [what, instead]) => rest.replace(what, instead), text.replaceAll(folder, "HERE"));

/** Lines of progress are written where work lasts. */
const withoutProgress = (text) =>
  text
    .replace(/^.*\b(?:s|ms) left$|^.* {2}[\d.]+ (?:ms|s)$|^synthesizing.*$|^verifying.*$|^simulating.*$/gm, "")
    .replace(/\n+/g, "\n");

/** Returns the places where `now` is not what `before` is; fields that are only in `now` are none. */
function differences(before, now, path = "") {
  if (typeof before !== "object" || before === null || typeof now !== "object" || now === null)
    return Object.is(before, now) ? [] : [`${path}: ${JSON.stringify(before)} -> ${JSON.stringify(now)}`];
  if (Array.isArray(before) && before.length !== now.length)
    return [`${path}: ${before.length} -> ${now.length} entries`];
  return Object.keys(before).flatMap((key) => differences(before[key], now[key], `${path}.${key}`));
}

function jsonOf(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Returns the first lines in which two texts differ. */
function lineDifference(before, now) {
  const [a, b] = [before.split("\n"), now.split("\n")];
  const at = a.findIndex((line, i) => line !== b[i]);
  const i = at < 0 ? a.length : at;
  return `line ${i + 1}: ${JSON.stringify(a[i] ?? null)} -> ${JSON.stringify(b[i] ?? null)}`.slice(0, MOST_SHOWN);
}

/** Returns the files of a folder with their bytes. */
function filesOf(folder) {
  return new Map(
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
      .filter((path) => !path.startsWith(join(folder, "cache")))
      .map((path) => [path.slice(folder.length + 1), readFileSync(path)]),
  );
}

/** Runs all command lines in a new folder; returns each with its end, without what clocks and the folder say. */
async function runAll(checkout, folder) {
  const main = join(resolve(checkout), "dist/cli/main.js");
  if (!existsSync(main)) throw new Error(`${main} is not there: build it first`);
  const results = [];
  const run = async (lines) => {
    for (const line of lines) {
      progress(`${results.length} command lines, ${line}`);
      const { code, out, err } = await ran(folder, main, line);
      results.push({ line, code, out: timeless(out, folder), err: withoutProgress(timeless(err, folder)) });
    }
  };
  prepare(folder);
  await run(CASES.first);
  for (const [from, to, change] of CHANGED) {
    const value = JSON.parse(readFileSync(join(folder, from), "utf8"));
    change(value);
    writeFileSync(join(folder, to), JSON.stringify(value));
  }
  await run(CASES.changes);
  progressDone();
  return results;
}

async function record(checkout, folder) {
  mkdirSync(folder);
  const results = await runAll(checkout, join(resolve(folder), "files"));
  writeFileSync(join(folder, RESULTS), JSON.stringify(results));
  console.log(`${results.length} command lines, ${filesOf(join(folder, "files")).size} files`);
}

async function compare(folder) {
  const root = mkdtempSync(join(tmpdir(), "banyan-golden-"));
  const own = join(root, "files");
  const recorded = new Map(JSON.parse(readFileSync(join(folder, RESULTS), "utf8")).map((one) => [one.line, one]));
  let differing = 0;
  const say = (line, what) => {
    differing++;
    console.log(`DIFFERS ${line}\n  ${what}`);
  };
  const results = await runAll(HERE, own);
  for (const { line, code, out, err } of results) {
    const before = recorded.get(line);
    if (before === undefined) continue;
    if (before.code !== code) say(`banyan ${line}`, `exit code ${before.code} -> ${code}: ${err}`);
    const [json, ownJson] = [before.out, out].map(jsonOf);
    const unequal = before.out === out ? [] : [lineDifference(before.out, out)];
    const places = json !== null && ownJson !== null ? differences(json, ownJson) : unequal;
    if (places.length > 0) say(`banyan ${line}`, places.slice(0, 5).join("\n  "));
    if (before.err !== err) say(`banyan ${line}`, `standard error: ${lineDifference(before.err, err)}`);
  }
  const theirs = join(resolve(folder), "files");
  const [before, now] = [filesOf(theirs), filesOf(own)];
  for (const name of new Set([...before.keys(), ...now.keys()])) {
    const [a, b] = [before.get(name), now.get(name)];
    if (a === undefined || b === undefined)
      say(name, a === undefined ? "a file that was not there" : "no file any more");
    else if (!a.equals(b)) {
      const [text, ownText] = [timeless(String(a), theirs), timeless(String(b), own)];
      if (text !== ownText) say(name, `the file: ${lineDifference(text, ownText)}`);
    }
  }
  rmSync(root, { recursive: true, force: true });
  console.log(`${results.length} command lines, ${now.size} files, ${differing} differences`);
  process.exitCode = differing === 0 ? 0 : 1;
}

const [verb, ...places] = process.argv.slice(2);
if (verb === "record" && places.length === 2) await record(...places);
else if (verb === "compare" && places.length === 1) await compare(...places);
else throw new Error("node bench/golden.mjs record CHECKOUT FOLDER, or compare FOLDER");
