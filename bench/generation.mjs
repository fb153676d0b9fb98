// Generation of all-gathers at scale: theoretical algbw and seconds, one command for a figure of the dissertation.
import { ALGORITHMS } from "../dist/index.js";
import { CLAIMS, GENERATORS, LIMIT_SECONDS, PLATFORMS, SIZE } from "./generation-cases.mjs";
import { command, figure, machine, progress, publish, reportHead, table } from "./support.mjs";

const ABOUT = [
  `All-gather of ${SIZE}, so that latency does not count; whole commands, start of Node included, each verified. GB/s: the throughput`,
  `of trees, else size over planned time. "of optimum": of the proved limit of any algorithm. Stopped after ${LIMIT_SECONDS} s; empty: not tried.`,
];

/** Returns what one generator made of one network: figures, or in `failed` why there are none. */
async function generated({ name, algorithm, options }, topology) {
  progress(`generation: ${name}, ${topology}`);
  const line = ["synth", topology, "--collective", "allgather", "--size", SIZE, "--algorithm", algorithm, ...options];
  try {
    const { seconds, report } = await command(line, LIMIT_SECONDS);
    if (!report.verified) throw new Error(`${line.join(" ")}: not verified`);
    const algbwGBps = (report.throughput ?? report.details.planned ?? report.time).algbwGBps;
    return { seconds, algbwGBps, ofOptimum: algbwGBps / report.limit.algbwGBps };
  } catch (error) {
    return { failed: /stopped after/.test(error.message) ? `> ${LIMIT_SECONDS} s` : "fails", message: error.message };
  }
}

async function measuredPlatform({ name, topology, gpusPerBox, boxes }, generators) {
  const rows = [];
  const stopped = new Set();
  for (const count of boxes) {
    const gpus = count * gpusPerBox;
    const results = {};
    for (const generator of generators) {
      if (stopped.has(generator.name) || gpus > (generator.mostGpus ?? Number.POSITIVE_INFINITY)) continue;
      const found = await generated(generator, topology(count));
      if (found.failed !== undefined && found.failed !== "fails") stopped.add(generator.name);
      results[generator.name] = found;
    }
    rows.push({ network: topology(count), gpus, results });
  }
  return { name, rows };
}

const cellOf = (found) =>
  found === undefined ? "" : (found.failed ?? `${figure(found.algbwGBps)} (${(100 * found.ofOptimum).toFixed(1)} %)`);

function report({ machine: where, platforms, generators, absent }) {
  const lines = reportHead("generation", "Generation of all-gathers for 8 to 1,024 GPUs", ABOUT, where);
  lines.push("Zhao 2026, figure 4.14, says:", "", ...CLAIMS.map((claim) => `* ${claim}`), "");
  for (const { name, rows } of platforms) {
    const names = generators.map((generator) => generator.name);
    lines.push(`## ${name}: GB/s (of optimum)`, "");
    lines.push(
      table(
        ["network", "GPUs", ...names],
        rows.map(({ network, gpus, results }) => [network, gpus, ...names.map((n) => cellOf(results[n]))]),
      ),
      "",
      `## ${name}: seconds`,
      "",
      table(
        ["network", "GPUs", ...names],
        rows.map(({ network, gpus, results }) => [
          network,
          gpus,
          ...names.map((n) => results[n]?.failed ?? figure(results[n]?.seconds)),
        ]),
      ),
      "",
    );
  }
  if (absent.length > 0) lines.push(`Not in the catalog: ${absent.join(", ")}.`);
  return lines.join("\n");
}

/** Measures, prints and writes; returns how often ForestColl was not optimal or another beat the limit. */
export async function run() {
  const where = machine();
  const known = (algorithm) => ALGORITHMS.some(({ name }) => name === algorithm);
  const generators = GENERATORS.filter(({ algorithm }) => known(algorithm));
  const absent = GENERATORS.filter(({ algorithm }) => !known(algorithm)).map(({ name }) => name);
  const platforms = [];
  for (const platform of PLATFORMS) platforms.push(await measuredPlatform(platform, generators));
  const data = { machine: where, platforms, generators, absent };
  publish("generation", data, report(data));
  const results = platforms.flatMap(({ rows }) => rows.map(({ results }) => results));
  const wrong = (found) => found?.failed === undefined && found?.ofOptimum > 1 + 1e-9;
  return results.filter(
    (all) => !(all.ForestColl?.ofOptimum > 1 - 1e-9) || Object.values(all).some((found) => wrong(found)),
  ).length;
}
