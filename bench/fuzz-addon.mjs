// The native add-on called with hostile arguments: node bench/fuzz-addon.mjs [--sanitize] [calls [seed [first]]], 1,000,000, 1 and
// 0 where nothing is given. Arguments of good calls are changed: other types and lengths, outputs over inputs, shared, detached
// and resizable memory, extreme numbers, while another thread writes to what is shared. Calls run in processes of their own,
// so that a crash or a hang is caught and named; --sanitize takes the add-on that `npm run sanitize` builds. Prints what
// became of them and ends with status 1 where a call gave neither a status nor a TypeError or RangeError, or did not end.
import { fork } from "node:child_process";
import { openSync, writeSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { sanitizedAddon } from "../scripts/sanitized-addon.mjs";
import { loaded } from "./sources.mjs";
import { progress, progressDone, table } from "./support.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const BATCH = 50_000;
const LIMIT_MS = 60_000;
const DIGITS = 12;

async function runBatch([file, count, seed, from]) {
  const { fuzzAddon } = await loaded("test/support/addon-fuzz.ts");
  const addon = process.env.BANYAN_ADDON ?? `${root}native/build/Release/banyan.node`;
  const place = openSync(file, "r+");
  const begin = (call) => writeSync(place, String(call).padEnd(DIGITS), 0);
  const work = { count: Number(count), seed: Number(seed), from: Number(from) };
  const { rows, faults } = fuzzAddon(createRequire(import.meta.url)(addon), work, begin);
  process.send({ rows: [...rows], faults }, () => process.exit(0));
}

/** Runs calls in a process; returns what it found, and the call that ended it where it did not end by itself. */
function batch(file, env, work) {
  return new Promise((resolve) => {
    const child = fork(fileURLToPath(import.meta.url), ["--batch", file, ...work.map(String)], { env, silent: true });
    let [found, text, last, hung] = [{ rows: [], faults: [] }, "", "", false];
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (part) => (text += part));
    const watch = setInterval(async () => {
      const now = await readFile(file, "utf8");
      hung = now === last && now.trim() !== "";
      last = now;
      if (hung) child.kill("SIGKILL");
    }, LIMIT_MS);
    child.on("message", (message) => {
      found = message;
    });
    child.on("exit", async (code, signal) => {
      clearInterval(watch);
      const call = Number(await readFile(file, "utf8"));
      const why = hung ? "it did not end" : (signal ?? `exit ${code}`);
      resolve({ ...found, end: code === 0 ? null : { call, what: `${why}\n${text.slice(0, 4000)}` } });
    });
  });
}

async function campaign(args) {
  const sanitized = args[0] === "--sanitize";
  const [count = 1_000_000, seed = 1, first = 0] = args.slice(sanitized ? 1 : 0).map(Number);
  const env = sanitized ? sanitizedAddon() : process.env;
  const folder = await mkdtemp(join(tmpdir(), "banyan-fuzz-"));
  const file = join(folder, "call");
  const start = performance.now();
  const rows = new Map();
  const faults = [];
  for (let from = first; from < first + count; ) {
    progress(`call ${from}, ${first + count - from} to go, ${faults.length} faults`);
    writeSync(openSync(file, "w"), " ".repeat(DIGITS));
    const most = Math.min(BATCH, first + count - from);
    const found = await batch(file, env, [most, seed, from]);
    faults.push(...found.faults, ...(found.end === null ? [] : [found.end]));
    for (const [name, row] of found.rows) {
      const sum = rows.get(name) ?? { calls: 0, done: 0, otherStatus: 0, refused: 0, slowestMs: 0 };
      for (const key of Object.keys(sum))
        sum[key] = key === "slowestMs" ? Math.max(sum[key], row[key]) : sum[key] + row[key];
      rows.set(name, sum);
    }
    if (found.end !== null && !(found.end.call >= from)) break;
    from = found.end === null ? from + most : found.end.call + 1;
  }
  progressDone();
  await rm(folder, { recursive: true });
  const sorted = [...rows].sort(([a], [b]) => (a < b ? -1 : 1));
  const cells = ([name, row]) => [name, row.calls, row.done, row.otherStatus, row.refused, row.slowestMs.toFixed(0)];
  console.log(table(["function", "calls", "status 0", "other status", "refused", "slowest ms"], sorted.map(cells)));
  for (const { call, what } of faults) console.log(`FAULT: call ${call}: ${what}`);
  const seconds = ((performance.now() - start) / 1000).toFixed(0);
  console.log(`${count} calls, seed ${seed}${sanitized ? ", sanitized" : ""}: ${faults.length} faults; ${seconds} s`);
  process.exitCode = faults.length === 0 ? 0 : 1;
}

const [mode, ...rest] = process.argv.slice(2);
await (mode === "--batch" ? runBatch(rest) : campaign(process.argv.slice(2)));
