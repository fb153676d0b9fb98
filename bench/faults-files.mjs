// Commands whose n-th call of the system on their files fails, for every n; and commands that are killed.
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { KINDS, WAYS } from "./faults-page.mjs";

const MAIN = fileURLToPath(new URL("../dist/cli/main.js", import.meta.url));
/** A command that takes longer hangs. */
const MOST_MS = 60_000;
const FOREVER = 2 ** 40;

/** Returns what became of a command: its exit code or signal, its texts, and whether it had to be ended. */
export function ran(args, { env = {}, killAfterMs, mostMs = MOST_MS } = {}) {
  const { BANYAN_BACKEND: _, ...clean } = process.env;
  return new Promise((resolve, reject) => {
    const start = performance.now();
    const child = spawn(process.execPath, [MAIN, ...args], {
      env: { ...clean, ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const texts = { out: "", err: "" };
    for (const [name, stream] of [
      ["out", child.stdout],
      ["err", child.stderr],
    ])
      stream.setEncoding("utf8").on("data", (text) => {
        texts[name] += text;
      });
    let hung = false;
    const limit = setTimeout(() => {
      hung = true;
      child.kill("SIGKILL");
    }, mostMs);
    const kill = killAfterMs === undefined ? undefined : setTimeout(() => child.kill("SIGKILL"), killAfterMs);
    child.on("error", reject);
    child.on("close", (code, signal) => {
      clearTimeout(limit);
      clearTimeout(kill);
      resolve({ code, signal, hung, ms: performance.now() - start, ...texts });
    });
  });
}

/** Returns everything below a folder: for each path the hash of a file, or "folder". */
export function snapshot(folder) {
  const found = new Map();
  const walk = (path) => {
    for (const name of readdirSync(path)) {
      const at = join(path, name);
      const stats = lstatSync(at);
      const content = stats.isDirectory()
        ? "folder"
        : `${(stats.mode & 0o777).toString(8)} ${createHash("sha256").update(readFileSync(at)).digest("hex")}`;
      found.set(relative(folder, at), content);
      if (stats.isDirectory()) walk(at);
    }
  };
  walk(folder);
  return found;
}

const SYNTH = (at, out, ...more) => ["synth", at("net.json"), "--collective", "allgather", "-o", at(out), ...more];
const CACHED = (at) => ({ BANYAN_CACHE_DIR: at("cache") });
const SEARCH = () => ["search", "--nodes", "6", "--degree", "2", "--threads", "0"];

/**
 * Commands on a folder that holds what `before` makes there. `writes` are the files or folders that may change. A command
 * that only keeps something for later (`keeps`) succeeds where that fails.
 */
export const COMMANDS = [
  {
    name: "synth over json",
    before: ["old.json"],
    args: (at) => SYNTH(at, "old.json", "--chunks", "2"),
    writes: ["old.json"],
  },
  { name: "synth to json", before: [], args: (at) => SYNTH(at, "new.json"), writes: ["new.json"] },
  {
    name: "synth over bys",
    before: ["old.bys"],
    args: (at) => SYNTH(at, "old.bys", "--chunks", "2"),
    writes: ["old.bys"],
  },
  { name: "synth to bys", before: [], args: (at) => SYNTH(at, "new.bys"), writes: ["new.bys"] },
  {
    name: "export to a folder",
    before: ["old.json"],
    args: (at) => ["export", at("old.json"), "--to", "astra-sim", "-o", at("traces")],
    writes: ["traces"],
  },
  {
    name: "export to an empty folder",
    before: ["old.bys", "empty/"],
    args: (at) => ["export", at("old.bys"), "--to", "chakra", "-o", at("empty")],
    writes: ["empty"],
  },
  {
    name: "export over a file",
    before: ["old.json", "old.svg"],
    args: (at) => ["export", at("old.json"), "--to", "perfetto", "-o", at("old.svg")],
    writes: ["old.svg"],
  },
  { name: "search, a new cache", before: [], args: SEARCH, env: CACHED, writes: ["cache"], keeps: true },
  { name: "search, an old cache", before: ["cache/"], args: SEARCH, env: CACHED, writes: ["cache"], keeps: true },
  { name: "verify json", before: ["old.json"], args: (at) => ["verify", at("old.json")], writes: [] },
  { name: "verify bys", before: ["old.bys"], args: (at) => ["verify", at("old.bys")], writes: [] },
];

const isOf = (path, writes) => writes.some((name) => path === name || path.startsWith(`${name}/`));
const isSame = (a, b, paths) => paths.every((path) => a.get(path) === b.get(path));
const ERROR = /^banyan: (?!interrupted)/;

/**
 * Returns the folder of a command below `root`, and what the command made of it where nothing failed. `run` runs command
 * lines as ran() does.
 */
export async function prepared({ before, args, env }, root, run = ran) {
  const [template, folder] = ["template", "work"].map((name) => join(root, name));
  for (const path of [template, folder]) rmSync(path, { recursive: true, force: true });
  mkdirSync(template);
  const made = (...parts) => join(template, ...parts);
  await run(["topology", "ring:3", "-o", made("net.json")]);
  for (const name of before) {
    if (name === "cache/") await run(["search", "--nodes", "5", "--degree", "2"], { env: CACHED(made) });
    else if (name.endsWith("/")) mkdirSync(made(name));
    else if (name.endsWith(".svg")) writeFileSync(made(name), "old\n");
    else await run(SYNTH(made, name));
  }
  const at = (...parts) => join(folder, ...parts);
  const again = () => {
    rmSync(folder, { recursive: true, force: true });
    cpSync(template, folder, { recursive: true });
  };
  const command = { args: args(at), env: env?.(at) ?? {} };
  again();
  const old = snapshot(folder);
  const { code, err } = await run(command.args, { env: command.env });
  if (code !== 0) throw new Error(`${command.args.join(" ")} ends with ${code}: ${err}`);
  return { folder, command, again, old, after: snapshot(folder) };
}

/** Returns what is wrong with the files that a command left, null where nothing is: each is the old one, or the new one. */
export function filesFault({ old, after }, { writes, keeps }, now, { mayLeave }) {
  for (const path of new Set([...old.keys(), ...now.keys()])) {
    if (isOf(path, writes)) continue;
    if (!now.has(path)) return `${path} is gone`;
    if (!old.has(path) && !(mayLeave && /(?:^|\/)\.[^/]*/.test(path))) return `${path} is left behind`;
    if (old.has(path) && old.get(path) !== now.get(path)) return `${path} is changed`;
  }
  for (const name of writes) {
    const own = [...new Set([...old.keys(), ...after.keys(), ...now.keys()])].filter((path) => isOf(path, [name]));
    const settled = own.filter((path) => !(mayLeave && !old.has(path) && !after.has(path) && /\/\.[^/]*$/.test(path)));
    // A folder for what is kept may be made and stay empty.
    if (keeps && settled.every((path) => now.get(path) === undefined || path === name)) continue;
    if (!isSame(now, old, settled) && !isSame(now, after, settled)) {
      const odd = settled.filter((path) => now.get(path) !== old.get(path) && now.get(path) !== after.get(path));
      return `${name} is neither old nor new${odd.length > 0 ? `: ${odd.join(", ")}` : ""}`;
    }
  }
  return null;
}

/** Returns what is wrong with how a command ended, null where nothing is. */
function endFault({ code, signal, hung, err }, keeps) {
  if (hung) return `runs for more than ${MOST_MS / 1000} s`;
  if (code === null) return `ends by ${signal}`;
  const lines = err.split("\n").filter((line) => line !== "");
  if (lines.some((line) => !line.startsWith("banyan: "))) return `says ${JSON.stringify(err.slice(0, 300))}`;
  if (code === 0) return null;
  if (keeps) return `ends with ${code}: ${err}`;
  if (![1, 2].includes(code)) return `ends with ${code}: ${err}`;
  if (lines.filter((line) => ERROR.test(line)).length !== 1) return `ends with ${code} and says ${JSON.stringify(err)}`;
  if (/internal error/.test(err) || code === 1) return `ends with ${code} and says ${JSON.stringify(err)}`;
  return null;
}

/** How calls fail, and whether all behind the n-th do as well. */
export const ERRORS = [
  ...["EIO", "ENOSPC", "EINTR", "EMFILE", "ENOMEM", "short"].map((way) => ({ way, isForever: false })),
  ...["EIO", "ENOSPC", "EMFILE"].map((way) => ({ way, isForever: true })),
];
export const KILLS = ["killBefore", "killAfter"].map((way) => ({ way, isForever: false }));

/**
 * Runs a command with the n-th of its calls failing, for every n that `picks` wants, in each of `ways`; gives each run that
 * is not as it should be to `onFault`. Returns how many runs there were, and how many calls one run makes. The page steers
 * faults in the process of `run`, on files below `root`/work; `calm` runs commands without faults.
 */
export async function failFiles(command, { root, page, run, calm = run, ways, picks = () => true, onFault }) {
  const place = await prepared(command, root, calm);
  let [runs, calls, killed] = [0, 0, 0];
  for (const { way, isForever } of ways) {
    for (let n = 1; ; n++) {
      if (!picks(n, way)) continue;
      place.again();
      page.arm(KINDS.files, { first: n, last: isForever ? FOREVER : n, how: WAYS[way] });
      const result = await run(place.command.args, { env: place.command.env });
      page.disarm();
      const { fired, calls: made, what } = page.read();
      runs++;
      calls = Math.max(calls, made);
      const which = `call ${n} (${what}) and ${isForever ? "all behind it" : "no other"} by ${way}`;
      const say = (why) => onFault(`${command.name}, ${which}: ${why}`);
      const isKilled = way.startsWith("kill") && fired > 0;
      const now = snapshot(place.folder);
      const files = filesFault(place, command, now, { mayLeave: isKilled || isForever });
      const end = isKilled ? null : endFault(result, command.keeps);
      if (end !== null) say(end);
      if (files !== null) say(files);
      const isDone = isSame(now, place.after, [...place.after.keys()]);
      if (result.code === 0 && !isDone && !(command.keeps && /cache|kept/.test(result.err)))
        say("ends with 0 without its files");
      if (isKilled) {
        killed++;
        await runNext(place, calm, say);
      }
      if (fired === 0) break;
    }
  }
  return { runs, calls, killed };
}

/**
 * Says what is wrong with the run behind one that was killed: it gives what it should, and files left behind stop nobody. Where
 * the killed one had done its work there is none: a folder that is full is refused.
 */
async function runNext(place, calm, say) {
  const isDone = () => isSame(snapshot(place.folder), place.after, [...place.after.keys()]);
  if (isDone()) return;
  const { code, err } = await calm(place.command.args, { env: place.command.env });
  if (code !== 0) say(`the next run ends with ${code}: ${err}`);
  else if (!isDone()) say("the next run gives something else");
}

/** Kills a command `times` times at random moments; `draw` gives random numbers in [0, 1). Returns how many were killed. */
export async function killAtRandom(command, { root, calm, times, draw, onFault }) {
  const place = await prepared(command, root, calm);
  place.again();
  const { ms } = await ran(place.command.args, { env: place.command.env });
  let killed = 0;
  for (let i = 0; i < times; i++) {
    place.again();
    const killAfterMs = draw() * ms;
    const { signal } = await ran(place.command.args, { env: place.command.env, killAfterMs });
    if (signal === "SIGKILL") killed++;
    const say = (why) =>
      onFault(`${command.name}, killed after ${killAfterMs.toFixed(0)} of ${ms.toFixed(0)} ms: ${why}`);
    const files = filesFault(place, command, snapshot(place.folder), { mayLeave: true });
    if (files !== null) say(files);
    await runNext(place, calm, say);
  }
  return { times, killed };
}
