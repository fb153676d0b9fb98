// The quality tables of the TACOS papers with our figures beside theirs.
import { ALGORITHMS, InputError, openEngine, synthesize, synthesizeJoint, topology, without } from "../dist/index.js";
import { RIVALS, rowOf, TABLES } from "./papers-cases.mjs";
import { report } from "./papers-report.mjs";
import { asPlanned, machine, median, progress, progressDone, publish } from "./support.mjs";

/** An efficiency counts as reached from here on: the papers print two digits. */
const SHORT = 0.005;
const SEEDS = [2, 3];
/** Tried only where a run is quick. */
const MORE_TRIALS = 256;
/** Rows that took less are timed three times. */
const QUICK_MS = 2000;
const MOST_RIVAL_NPUS = 512;
/** Rivals that solve integer programs: up to so many NPUs, one chunk each, and so long. */
const MOST_SOLVED_NPUS = 64;
const SOLVED_MS = 30_000;
/** Themis is also shown with the chunks of its paper, where that many are not too many transfers. */
const THEMIS_CHUNKS = 64;
const MOST_THEMIS_NPUS = 64;

const chunksOf = (n) => (n === 1 ? "1 chunk" : `${n} chunks`);

/** Returns what a run found, remembered: several tables ask for the same. Every schedule was verified before it is reported. */
function measurer(engine) {
  const known = new Map();
  return async (row, options, repeat = 0) => {
    const { collective, sizeBytes, together } = row;
    const key = JSON.stringify([row.network, row.without, collective, sizeBytes, together, options, repeat]);
    if (!known.has(key)) {
      const network = row.without.length === 0 ? topology(row.network) : without(topology(row.network), row.without);
      const { chunks, ...others } = options;
      const { report: r } =
        together === undefined
          ? await synthesize({ engine, topology: network, collective, sizeBytes, ...options })
          : await synthesizeJoint({ engine, topology: network, collectives: together, ...others });
      const { us: timeUs, bound } = asPlanned(r);
      known.set(key, {
        npus: r.topology.npus,
        chunks,
        timeUs,
        simulatedUs: r.time.us,
        boundUs: bound.us,
        because: bound.because,
        limitUs: r.limit.us,
        limitBecause: r.limit.because,
        idealUs: r.details.reference?.us ?? null,
        policy: r.synthesis.policy,
        trials: r.synthesis.trials,
        ms: r.synthesis.ms,
        verified: r.verified,
      });
    }
    return known.get(key);
  };
}

const shortest = (runs, by) => runs.reduce((best, run) => (by(run) < by(best) ? run : best));

/** Returns the row's runs, one per number of chunks, and the best of them. */
async function ours(measure, row) {
  const runs = [];
  for (const chunks of row.chunks) runs.push(await measure(row, { chunks }));
  const best = shortest(runs, (run) => run.timeUs);
  const again = [best.ms];
  for (let i = 0; i < 2 && best.ms < QUICK_MS; i++) {
    again.push((await measure(row, { chunks: best.chunks }, i + 1)).ms);
  }
  const once = await measure(row, { chunks: best.chunks, trials: 1 });
  return { runs, best, ms: median(again), once };
}

/** Returns the chunks with which a rival is tried: what it finds best by itself (null), and for steps one per NPU and ours. */
function chunksTried({ makes, ownChunks, traits }, best) {
  if (traits?.solves) return [1];
  if (makes === "trees") return [null];
  if (makes === "phases") return [null, ...(best.npus > MOST_THEMIS_NPUS ? [] : [THEMIS_CHUNKS])];
  const fixed = best.npus > 128 ? [1] : [1, best.chunks];
  return [...new Set([...(ownChunks === undefined ? [] : [null]), ...fixed])];
}

/** Returns the rivals' times over ours, both simulated, each with the number of chunks that suits it best. */
async function rivals(measure, row, best) {
  const ratios = {};
  if (best.npus > MOST_RIVAL_NPUS || row.together !== undefined) return ratios;
  for (const { key, algorithm, policy } of RIVALS) {
    const known = ALGORITHMS.find(({ name }) => name === algorithm);
    if (!known?.collectives.includes(row.collective)) continue;
    const solves = known.traits?.solves === true;
    if (solves && best.npus > MOST_SOLVED_NPUS) continue;
    const asked = { algorithm, ...(policy && { policy }), ...(solves && { timeLimitMs: SOLVED_MS }) };
    const times = [];
    for (const chunks of chunksTried(known, best)) {
      try {
        times.push((await measure(row, { ...(chunks === null ? {} : { chunks }), ...asked })).simulatedUs);
      } catch (error) {
        // not for this network, or the rings need another number of chunks
        if (!(error instanceof InputError)) throw error;
      }
    }
    if (times.length > 0) ratios[key] = Math.min(...times) / best.simulatedUs;
  }
  return ratios;
}

/** Returns what the row reached in the paper's terms, or null where the paper gives nothing of that kind. */
function reached({ paper }, best) {
  if (paper.efficiency !== undefined) {
    const efficiency = best.idealUs / best.timeUs;
    return {
      kind: "efficiency",
      ours: efficiency,
      paper: paper.efficiency,
      short: efficiency < paper.efficiency - SHORT,
    };
  }
  if (paper.ofOptimum !== undefined) {
    // Not above the optimum by more than this; the optimum is at least the bound for as many chunks.
    const above = best.timeUs / best.boundUs;
    return { kind: "optimum", ours: above, paper: paper.ofOptimum, short: above > paper.ofOptimum + SHORT };
  }
  return null;
}

/** Returns why a row stays below the paper's figure, as far as that is proved. */
function reason({ paper }, best) {
  const theirUs = paper.efficiency === undefined ? paper.ofOptimum * best.boundUs : best.idealUs / paper.efficiency;
  const share = (us) => `${((100 * us) / best.timeUs).toFixed(1)} %`;
  if (best.limitUs > theirUs) {
    return `no algorithm can reach it on this network: ${best.limitBecause}, ${best.limitUs.toFixed(2)} us; ours is at ${share(best.limitUs)} of that limit`;
  }
  if (best.boundUs > theirUs) {
    return `no schedule of ${chunksOf(best.chunks)} per NPU can reach it when a link is busy for its latency too (the matching's model): bound ${best.boundUs.toFixed(2)} us, ours is at ${share(best.boundUs)} of it; simulated without that, ${best.simulatedUs.toFixed(2)} us`;
  }
  return `not proved: the bound for ${chunksOf(best.chunks)} per NPU (${best.boundUs.toFixed(2)} us: ${best.because}) leaves room, ours is at ${share(best.boundUs)} of it`;
}

/** Returns what else was tried on a row below the paper's figure: other numbers of chunks, seeds, more trials, degrees. */
async function attempts(measure, row, { runs, best }) {
  const list = runs.filter((run) => run !== best).map((run) => ({ what: chunksOf(run.chunks), timeUs: run.timeUs }));
  const others = [
    ...SEEDS.map((seed) => ({ what: `seed ${seed}`, options: { seed } })),
    ...(best.ms < QUICK_MS ? [{ what: `${MORE_TRIALS} trials`, options: { trials: MORE_TRIALS } }] : []),
    { what: "policy newest", options: { policy: "newest" } },
    ...(row.network.includes("switch")
      ? ["ports", 1, 2].map((d) => ({ what: `degree ${d}`, options: { switchDegree: d } }))
      : []),
  ];
  for (const { what, options } of others) {
    const { timeUs } = await measure(row, { chunks: best.chunks, ...options });
    list.push({ what: `${chunksOf(best.chunks)}, ${what}`, timeUs });
  }
  return list;
}

async function measured(measure, table) {
  const rows = [];
  for (const [i, entry] of table.rows.entries()) {
    const row = rowOf(entry);
    progress(`papers: ${table.id}, ${i + 1} of ${table.rows.length}, ${row.network}`);
    try {
      const found = await ours(measure, row);
      const { runs, best, once, ms } = found;
      const judged = reached(row, best);
      const ratios = await rivals(measure, row, best);
      const below = judged?.short ? { reason: reason(row, best), attempts: await attempts(measure, row, found) } : null;
      rows.push({ ...row, ...best, ms, runs, once, judged, ratios, below });
    } catch (error) {
      rows.push({ ...row, error: error.message, verified: false });
    }
  }
  return { ...table, rows };
}

/** Measures, prints and writes; returns the number of rows that failed or were not verified. */
export async function run() {
  const where = machine();
  const started = performance.now();
  const engine = await openEngine();
  const measure = measurer(engine);
  const tables = [];
  try {
    for (const table of TABLES) tables.push(await measured(measure, table));
  } finally {
    await engine.close();
    progressDone();
  }
  const seconds = Math.round((performance.now() - started) / 1000);
  const data = { machine: where, backend: engine.backend, seconds, tables };
  publish("papers", data, report(data));
  return tables.flatMap(({ rows }) => rows).filter(({ error, verified }) => error !== undefined || !verified).length;
}
