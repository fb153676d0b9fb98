// The golden run: node bench/golden.mjs OLD [pattern of command lines]. Every command line of golden-cases.mjs, by the build of
// another checkout (OLD, a folder with dist/) and by this one, each in a folder of its own: exit codes, standard output, standard
// error and all files must be the same, but for what clocks say; JSON on standard output may have new fields. Prints every
// difference and a line of counts; ends with status 1 where anything differs.
import { spawn } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { CASES, CHANGED, FILES } from "./golden-cases.mjs";
import { progress, progressDone } from "./support.mjs";

const HERE = fileURLToPath(new URL("..", import.meta.url));
const [old, pattern = ""] = process.argv.slice(2);
if (old === undefined || !existsSync(join(old, "dist/cli/main.js")))
  throw new Error("which other checkout? node bench/golden.mjs FOLDER, which holds dist/");

const root = mkdtempSync(join(tmpdir(), "banyan-golden-"));
const MOST_SHOWN = 400;
const MOST_MS = 300_000;

/** Returns a folder for a side, with the files that are there before the first command line. */
function sideOf(name, checkout) {
  const folder = join(root, name);
  mkdirSync(join(folder, "out"), { recursive: true });
  cpSync(join(HERE, "test/fixtures"), join(folder, "fixtures"), {
    recursive: true,
    filter: (path) => !path.endsWith("corpus"),
  });
  for (const [file, text] of Object.entries(FILES)) writeFileSync(join(folder, file), text);
  return { folder, main: join(resolve(checkout), "dist/cli/main.js") };
}

const sides = [sideOf("old", old), sideOf("new", HERE)];

/** Returns what a command line ended with. */
function ran({ folder, main }, line) {
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
  [/(%\s+)[\d.]+ (?:ms|s)$/gm, "$1TIME"],
  [/(between GPUs, )[\d.]+ (?:ms|s)$/gm, "$1TIME"],
  [/^(\d+,[a-z-]+(?:,[\d.]+){4}),[\d.]+/gm, "$1,TIME"],
  [/"(\w*(?:Ms|ms|Seconds))": [\d.e+-]+/g, '"$1": 0'],
  [/"us": [\d.]+(?=,\n\s*"outcome")/g, '"us": 0'],
  [/(<script(?! type="application\/json")[^>]*>).*?<\/script>/gs, "$1CODE"],
];

/** Returns a text without what clocks and the folder of a side say. */
const timeless = (text, folder) =>
  CLOCKS.reduce((rest, [what, instead]) => rest.replace(what, instead), text.replaceAll(folder, "HERE"));

/** Lines of progress are written where work lasts. */
const withoutProgress = (text) =>
  text.replace(/^.*\b(?:s|ms) left$|^synthesizing.*$|^verifying.*$|^simulating.*$/gm, "").replace(/\n+/g, "\n");

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

let [count, differing] = [0, 0];
const say = (line, what) => {
  differing++;
  progressDone();
  console.log(`DIFFERS banyan ${line}\n  ${what}`);
};

async function runAll(lines) {
  for (const line of lines) {
    progress(`${count} command lines, ${line}`);
    const [before, now] = await Promise.all(sides.map((side) => ran(side, line)));
    count++;
    const [outs, errs] = ["out", "err"].map((stream) =>
      [before, now].map((end, i) => withoutProgress(timeless(end[stream], sides[i].folder))),
    );
    if (before.code !== now.code) say(line, `exit code ${before.code} -> ${now.code}: ${now.err}`);
    const [json, nowJson] = outs.map(jsonOf);
    const places =
      json !== null && nowJson !== null
        ? differences(json, nowJson)
        : outs[0] === outs[1]
          ? []
          : [lineDifference(...outs)];
    if (places.length > 0) say(line, places.slice(0, 5).join("\n  "));
    if (errs[0] !== errs[1]) say(line, `standard error: ${lineDifference(...errs)}`);
  }
}

const wanted = (lines) => lines.filter((line) => line.includes(pattern));
await runAll(
  pattern === "" ? CASES.first : CASES.first.filter((line) => line.includes(pattern) || line.startsWith("synth")),
);
for (const { folder } of sides)
  for (const [from, to, change] of CHANGED) {
    if (!existsSync(join(folder, from))) throw new Error(`${from} was not written`);
    const value = JSON.parse(readFileSync(join(folder, from), "utf8"));
    change(value);
    writeFileSync(join(folder, to), JSON.stringify(value));
  }
await runAll(wanted(CASES.changes));
progressDone();
const [before, now] = sides.map(({ folder }) => filesOf(folder));
for (const name of new Set([...before.keys(), ...now.keys()])) {
  const [a, b] = [before.get(name), now.get(name)];
  if (a === undefined || b === undefined) say(name, a === undefined ? "a file that was not there" : "no file any more");
  else if (!a.equals(b)) {
    const texts = [a, b].map((bytes, i) => timeless(String(bytes), sides[i].folder));
    if (texts[0] !== texts[1]) say(name, `the file: ${lineDifference(...texts)}`);
  }
}
rmSync(root, { recursive: true, force: true });
console.log(`${count} command lines, ${now.size} files, ${differing} differences`);
process.exitCode = differing === 0 ? 0 : 1;
