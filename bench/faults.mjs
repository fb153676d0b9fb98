// Faults on purpose: node bench/faults.mjs [part [share [seed]]], all parts, 1 and 1 where nothing is given; a share of 0.1 is a
// tenth of the runs. Linux with glibc and a C++ compiler for kernels, files, kills and serve.
//   kernels  the n-th allocation, and the n-th thread, of every native kernel fails, for every n
//   wasm     the memory of WebAssembly cannot grow beyond n pages, for every n that is too few
//   files    the n-th call of the system on the files of eleven commands fails, for every n, in nine ways
//   kills    commands that write are killed (SIGKILL) before and behind their n-th call, and at random moments
//   serve    the n-th call of the system on the files that `banyan serve` serves fails, for every n, in five ways
//   cancel   fourteen kinds of work are cancelled at random moments, 1,000 times, on threads and on the calling one
//   threads  workers are ended and engines closed in the middle of native calls
//   cache    several searches work on one cache, one of them killed
// Prints a table for each part, and every fault; ends with status 1 where there is one.
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { random } from "../dist/base/random.js";
import { shareCache } from "./faults-cache.mjs";
import { cancelAll } from "./faults-cancel.mjs";
import { FaultPage, faultLibrary } from "./faults-page.mjs";
import { serveWithFaults } from "./faults-serve.mjs";
import { closeEngines, endWorkers } from "./faults-threads.mjs";
import { growMemory } from "./faults-wasm.mjs";
import { table } from "./support.mjs";

const MOST_OUTPUT = 2 ** 26;

/** Runs a script of this folder with the library of faults; returns the object that it prints. */
export async function withFaults(library, root, script, args) {
  const page = join(root, "page");
  new FaultPage(page).close();
  const env = { ...process.env, LD_PRELOAD: library, BANYAN_FAULTS: page, BANYAN_FAULTS_PATHS: join(root, "work") };
  const file = fileURLToPath(new URL(script, import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [file, ...args], { env, maxBuffer: MOST_OUTPUT });
  return JSON.parse(stdout);
}

/** The parts: each returns { rows, faults }. */
const PARTS = {
  kernels: ({ library, root, share }) =>
    withFaults(library, root, "faults-kernels.mjs", [String(Math.ceil(4 * share))]),
  async wasm({ share }) {
    const faults = [];
    return { rows: await growMemory({ share, onFault: (what) => faults.push(what) }), faults };
  },
  files: ({ library, root, share, seed }) =>
    withFaults(library, root, "faults-here.mjs", ["files", root, ".", share, seed]),
  kills: ({ library, root, share, seed }) =>
    withFaults(library, root, "faults-here.mjs", ["kills", root, ".", share, seed]),
  async serve({ library, root, share }) {
    const faults = [];
    const rows = [await serveWithFaults({ library, root, share, onFault: (what) => faults.push(what) })];
    return { rows, faults };
  },
  async cancel({ share, draw }) {
    const faults = [];
    const onFault = (what) => faults.push(what);
    const rows = [];
    for (const threads of [2, 0])
      for (const row of await cancelAll({ times: Math.ceil(36 * share), threads, draw, onFault }))
        rows.push({ threads, ...row, wholeMs: row.wholeMs.toFixed(0), latestMs: row.latestMs.toFixed(0) });
    return { rows, faults };
  },
  async threads({ share, draw }) {
    const faults = [];
    const options = { times: Math.ceil(50 * share), draw, onFault: (what) => faults.push(what) };
    return { rows: [{ ...(await endWorkers(options)), ...(await closeEngines(options)) }], faults };
  },
  async cache({ root, share, draw }) {
    const faults = [];
    const rows = [
      await shareCache({ root, rounds: Math.ceil(25 * share), draw, onFault: (what) => faults.push(what) }),
    ];
    return { rows, faults };
  },
};
const NEED_LIBRARY = ["kernels", "files", "kills", "serve"];

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [part = "all", share = "1", seed = "1"] = process.argv.slice(2);
  const { file: library, why } = faultLibrary();
  let count = 0;
  for (const name of Object.keys(PARTS).filter((one) => part === "all" || part === one)) {
    if (library === undefined && NEED_LIBRARY.includes(name)) {
      console.log(`${name}: left out, ${why}`);
      continue;
    }
    const root = mkdtempSync(join(tmpdir(), "banyan-faults-"));
    const start = performance.now();
    const draws = random(Number(seed), 23);
    const draw = () => draws.below(1e6) / 1e6;
    const { rows, faults } = await PARTS[name]({ library, root, share: Number(share), seed, draw });
    rmSync(root, { recursive: true, force: true });
    const heads = Object.keys(rows[0]);
    console.log(
      table(
        heads,
        rows.map((row) => heads.map((head) => row[head])),
      ),
    );
    for (const what of faults) console.log(`FAULT: ${what}`);
    console.log(
      `${name}, seed ${seed}: ${faults.length} faults, ${((performance.now() - start) / 1000).toFixed(0)} s\n`,
    );
    count += faults.length;
  }
  process.exitCode = count === 0 ? 0 : 1;
}
