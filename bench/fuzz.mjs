// Searches for inputs that break a reader: node bench/fuzz.mjs [--seconds N] [--seed N] [--keep] [--shared] [target ...]; 20
// seconds of a processor a target, seed 1 and all targets (test/support/fuzz/) where nothing is given. Guided by coverage: each branch of src/ is
// counted (fuzz-loader.mjs), and an input that takes one that none before took, or more often, is changed further. Inputs begin
// with those that are kept in test/fixtures/corpus and our own good ones; with --shared also with the real files of
// ../shared/data. --keep writes the fewest and shortest inputs that reach as much to test/fixtures/corpus (not with --shared:
// files of others are not kept). Prints for each target how many inputs ran, how many were read, the branches reached of those in
// the files reached, and what broke the law (law.ts), took more than MOST_MS of a processor or MOST_BYTES of memory, did not
// return, or ended the process. Ends with status 1 where anything did.
import { fork } from "node:child_process";
import { closeSync, openSync, readFileSync, rmSync, writeSync } from "node:fs";
import { register } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { progress, progressDone, table } from "./support.mjs";

const MOST_MS = 5_000;
const MOST_BYTES = 2 ** 29;
/** A process that says nothing for so long, once it has begun, is ended. */
const MOST_SILENCE_MS = 300_000;
const TICK_MS = 500;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seconds: { type: "string", default: "20" },
    seed: { type: "string", default: "1" },
    keep: { type: "boolean", default: false },
    shared: { type: "boolean", default: false },
  },
});
if (values.keep && values.shared) throw new Error("--keep beside --shared: files of others are not kept");

/** Returns what counts branches: every file of src/ that is loaded asks for its counters. */
function counting() {
  const counters = new Uint8Array(2 ** 17);
  const files = [];
  let used = 0;
  globalThis.banyanCounters = (_name, count, words) => {
    files.push({ from: used, to: used + count, words: words.filter((word) => !/\s/.test(word)) });
    used += count;
    return counters.subarray(used - count, used);
  };
  const reachedFiles = new Set();
  let words = [];
  return {
    clear: () => void counters.fill(0, 0, used),
    reached() {
      const found = [];
      for (let branch = 0; branch < used; branch++)
        if (counters[branch] > 0) found.push(branch * 8 + 31 - Math.clz32(counters[branch]));
      return found;
    },
    words: () => words,
    /** Remembers which files were reached, for their words. */
    learn(features) {
      const before = reachedFiles.size;
      let at = 0;
      for (const feature of features) {
        while (files[at].to <= feature >> 3) at++;
        reachedFiles.add(at);
      }
      if (reachedFiles.size > before) words = [...new Set([...reachedFiles].flatMap((file) => files[file].words))];
    },
    forget() {
      reachedFiles.clear();
      words = [];
    },
    /** Branches in the files that were reached. */
    total: () => [...reachedFiles].reduce((sum, file) => sum + files[file].to - files[file].from, 0),
  };
}

/** The process that runs inputs. Each stands in a file before it runs, so that one that ends the process is known. */
async function runTargets(last) {
  const coverage = counting();
  register("./fuzz-loader.mjs", import.meta.url);
  const { fuzzTargets } = await import("../test/support/fuzz/targets.ts");
  const { outcomeOf } = await import("../test/support/fuzz/law.ts");
  const { fewest, search } = await import("../test/support/fuzz/fuzzer.ts");
  const { keepInputs, keptInputs } = await import("../test/support/fuzz/corpus.ts");
  const { realSources } = await import("../test/support/reader-sources.ts");
  const real = values.shared ? realSources().map(({ text }) => text) : [];
  const targets = fuzzTargets();
  const noted = openSync(last, "w");

  const measured = (target) => async (input) => {
    const bytes = Buffer.from(input, "utf16le");
    writeSync(noted, bytes, 0, bytes.length, 8);
    writeSync(noted, BigUint64Array.of(BigInt(bytes.length)), 0, 8, 0);
    const cpu = process.cpuUsage();
    const before = process.resourceUsage().maxRSS;
    const outcome = await outcomeOf(target, input);
    if (outcome.breach !== null) return outcome;
    const { user, system } = process.cpuUsage(cpu);
    const ms = (user + system) / 1000;
    if (ms > MOST_MS) return { ...outcome, breach: { kind: "slow", what: `${(ms / 1000).toFixed(1)} s` } };
    const grown = (process.resourceUsage().maxRSS - before) * 1024;
    if (grown <= MOST_BYTES) return outcome;
    return { ...outcome, breach: { kind: "memory", what: `${Math.round(grown / 2 ** 20)} MiB more` } };
  };

  process.on("message", async ({ name }) => {
    const target = targets.find((one) => one.name === name);
    const run = measured(target);
    coverage.forget();
    const spentMs = () => {
      const { user, system } = process.cpuUsage();
      return (user + system) / 1000;
    };
    const start = spentMs();
    let told = performance.now();
    const given = [...new Set([...target.seeds(), ...keptInputs(name), ...real])];
    const learning = {
      ...coverage,
      reached() {
        const features = coverage.reached();
        coverage.learn(features);
        return features;
      },
    };
    let runs = 0;
    const goesOn = (so) => {
      runs = so;
      const now = performance.now();
      if (now - told > TICK_MS) {
        told = now;
        process.send({ runs });
      }
      return spentMs() - start < Number(values.seconds) * 1000;
    };
    const heard = async (input) => {
      goesOn(runs);
      return run(input);
    };
    const found = await search(learning, { given, seed: Number(values.seed), goesOn, run: heard });
    const kept = values.keep ? await fewest(coverage, found.corpus, heard) : [];
    if (values.keep) keepInputs(name, kept);
    process.send({
      done: {
        runs: found.runs,
        read: found.read,
        corpus: found.corpus.length,
        kept: kept.length,
        reached: found.branches.size,
        branches: coverage.total(),
        findings: found.findings,
      },
    });
  });
  process.on("disconnect", () => {
    closeSync(noted);
    process.exit();
  });
  process.send({ names: targets.map(({ name }) => name) });
}

/** Returns the input that stands in the file of a process that was ended. */
function lastInput(path) {
  const bytes = readFileSync(path);
  return bytes.toString("utf16le", 8, 8 + Number(bytes.readBigUInt64LE(0)));
}

/** Returns the targets that were asked for; all where none was. */
function chosen(all) {
  const unknown = positionals.find((name) => !all.includes(name));
  if (unknown !== undefined) throw new Error(`no target is called ${unknown}, but ${all.join(", ")}`);
  return positionals.length > 0 ? positionals : all;
}

/** Hands the targets to one process after another: one that ends or falls silent loses its target only. */
async function campaign() {
  const last = join(tmpdir(), `banyan-fuzz-${process.pid}`);
  const done = new Map();
  let names;
  const start = () =>
    new Promise((resolve) => {
      const child = fork(fileURLToPath(import.meta.url), [...process.argv.slice(2)], {
        env: { ...process.env, BANYAN_FUZZ_LAST: last },
        execArgv: ["--max-old-space-size=2048", "--no-warnings"],
      });
      let name;
      let silence;
      const listen = () => {
        clearTimeout(silence);
        silence = setTimeout(() => child.kill("SIGKILL"), MOST_SILENCE_MS);
      };
      child.on("message", (told) => {
        listen();
        if (told.names !== undefined) names ??= chosen(told.names);
        if (told.runs !== undefined) return;
        if (told.done !== undefined) {
          done.set(name, told.done);
          const { runs, findings } = told.done;
          progress(`${name}: ${runs} runs, ${findings.length} findings`);
        }
        name = names.find((one) => !done.has(one));
        if (name === undefined) child.disconnect();
        else child.send({ name });
      });
      child.on("exit", (code, signal) => {
        clearTimeout(silence);
        if (name !== undefined) {
          const kind = signal === "SIGKILL" ? "does not return" : `ends the process (${signal ?? code})`;
          const finding = { kind, what: "", input: lastInput(last) };
          done.set(name, { runs: 0, read: 0, corpus: 0, kept: 0, reached: 0, branches: 0, findings: [finding] });
        }
        resolve();
      });
    });
  do {
    await start();
    if (names === undefined) throw new Error("the targets cannot be loaded");
  } while (names.some((name) => !done.has(name)));
  rmSync(last, { force: true });
  progressDone();
  return done;
}

if (process.env.BANYAN_FUZZ_LAST !== undefined && process.send !== undefined)
  await runTargets(process.env.BANYAN_FUZZ_LAST);
else {
  const begun = performance.now();
  const done = await campaign();
  const row = ([name, { runs, read, corpus, kept, reached, branches, findings }]) => [
    name,
    runs,
    read,
    corpus,
    ...(values.keep ? [kept] : []),
    reached,
    branches,
    findings.length,
  ];
  const heads = ["target", "runs", "read", "corpus", ...(values.keep ? ["kept"] : []), "branches", "of", "findings"];
  const all = [...done.values()];
  const sum = (of) => all.reduce((total, one) => total + of(one), 0);
  console.log(table(heads, [...done].map(row)));
  for (const [name, { findings }] of done)
    for (const { kind, what, input } of findings)
      console.log(`\nFINDING: ${name}: ${kind}\n${what}\n${JSON.stringify(input).slice(0, 2000)}`);
  const findings = sum((one) => one.findings.length);
  const seconds = ((performance.now() - begun) / 1000).toFixed(0);
  console.log(
    `\n${done.size} targets, ${sum(({ runs }) => runs)} runs, seed ${values.seed}: ${findings} findings; ${seconds} s`,
  );
  process.exitCode = findings === 0 ? 0 : 1;
}
