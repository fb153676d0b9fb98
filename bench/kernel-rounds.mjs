// Kernels side by side on the backends that load here: every answer is compared bit for bit before anything is timed.
import { figure, median, progress, trialProcess } from "./support.mjs";

const BACKENDS = ["native", "wasm", "js"];

/** Returns the backends that load here; says for the bench of that name which do not, and why. */
export async function backendsHere(bench) {
  const { loadKernels } = await import("../dist/engine/kernels/load.js");
  const here = [];
  for (const backend of BACKENDS) {
    try {
      await loadKernels(backend);
      here.push(backend);
    } catch (error) {
      console.error(`${bench}: without ${backend}: ${error.message}`);
    }
  }
  return here;
}

/** Runs one round of a case: one process per backend, all answers equal, then each timed while the others wait. */
async function round({ file, index, trial, title }, backends, first) {
  const order = backends.map((_, i) => backends[(i + first) % backends.length]);
  const processes = new Map();
  try {
    let reference = null;
    for (const backend of order) {
      const process_ = trialProcess("kernel-trial.mjs", [file, String(index), backend]);
      processes.set(backend, process_);
      const answer = await process_.ask({ runs: 0 });
      reference ??= { backend, ...answer };
      if (answer.digest !== reference.digest) {
        throw new Error(`${title}: ${backend} gives another answer than ${reference.backend}`);
      }
    }
    const seconds = {};
    for (const backend of order) {
      const answer = await processes.get(backend).ask({ runs: trial.runs });
      if (answer.digest !== reference.digest) throw new Error(`${title}: ${backend} does not repeat itself`);
      seconds[backend] = answer;
    }
    return { digest: reference.digest, transfers: reference.transfers, seconds };
  } finally {
    for (const process_ of processes.values()) process_.end();
  }
}

const secondsText = (seconds) => (seconds < 0.01 ? `${figure(seconds * 1000, 2)} ms` : `${seconds} s`);

/**
 * Measures case `index` of the table of trials in `file`, for the bench of that name, on every backend: `trial.rounds` rounds of `trial.runs` calls.
 * `trial.targets`: most seconds of the native backend, most times native for the others; `trial.without`: a backend that has no answer.
 */
export async function measure({ bench, file, index, trial, title }, allBackends) {
  const backends = allBackends.filter((backend) => backend !== trial.without);
  const all = Object.fromEntries(backends.map((backend) => [backend, { wall: [], processor: [] }]));
  let last;
  for (let r = 0; r < trial.rounds; r++) {
    progress(`${bench}: ${title}, round ${r + 1} of ${trial.rounds}`);
    last = await round({ file, index, trial, title }, backends, r);
    for (const backend of backends) {
      all[backend].wall.push(...last.seconds[backend].seconds);
      all[backend].processor.push(...last.seconds[backend].processorSeconds);
    }
  }
  const base = all.native === undefined ? null : median(all.native.wall);
  const results = backends.map((backend) => {
    const seconds = all[backend].wall;
    const middle = median(seconds);
    const ratio = base === null ? null : middle / base;
    const limit = trial.targets?.[backend];
    const target =
      limit === undefined
        ? null
        : backend === "native"
          ? { text: `<= ${secondsText(limit)}`, reached: middle <= limit }
          : { text: `<= ${limit} x native`, reached: ratio === null ? null : ratio <= limit };
    return {
      backend,
      medianSeconds: middle,
      minSeconds: Math.min(...seconds),
      medianProcessorSeconds: median(all[backend].processor),
      runs: seconds.length,
      nsPerTransfer: (middle * 1e9) / last.transfers,
      ratioToNative: ratio,
      target,
    };
  });
  return { case: title, kernel: trial.kernel, transfers: last.transfers, answer: last.digest, results };
}

/** Returns the cells that say what the target was and whether it was reached. */
export const verdictOf = (target) =>
  target === null ? ["", ""] : [target.text, target.reached === null ? "" : target.reached ? "reached" : "MISSED"];
