// Every synthesizer, collective, number of GPUs and runtime: is its program written, and is it right? node bench/programs.mjs [algorithm ...]
// Each file is read again, held against the runtime's limits, judged by the program verifier and executed on real buffers. Prints
// a table by collective and algorithm, every reason for which a file was refused, and ends with status 1 where one is wrong.
import { fileURLToPath } from "node:url";
import { runnerImport } from "vite";
import { progress, progressDone, table } from "./support.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const { module } = await runnerImport(`${root}bench/lowering-matrix.ts`, {
  root,
  configFile: false,
  logLevel: "error",
});

const tallies = new Map();
const refusals = new Map();
const wrong = [];
const start = performance.now();
let done = 0;
for await (const {
  topology,
  collective,
  algorithm,
  runtime,
  placement,
  outcome,
  reason,
  blocks,
  steps,
} of module.outcomes(process.argv.slice(2))) {
  const key = `${algorithm}\t${collective}`;
  const tally = tallies.get(key) ?? { exported: 0, refused: 0, wrong: 0, blocks: 0, steps: 0 };
  tally[outcome]++;
  tally.blocks = Math.max(tally.blocks, blocks);
  tally.steps = Math.max(tally.steps, steps);
  tallies.set(key, tally);
  const where = `${algorithm} ${collective} ${topology} ${runtime} ${placement}`;
  if (outcome === "wrong") {
    wrong.push(`${where}: ${reason}`);
    console.error(`WRONG: ${wrong.at(-1)}`);
  }
  if (outcome === "refused") refusals.set(where, reason);
  if (++done % 100 === 0) progress(`${done} programs`);
}
progressDone();
const rows = [...tallies].map(([key, { exported, refused, wrong: bad, blocks, steps }]) => [
  ...key.split("\t"),
  exported,
  refused,
  bad,
  blocks,
  steps,
]);
console.log(table(["algorithm", "collective", "written", "refused", "WRONG", "blocks", "steps"], rows));
for (const [where, reason] of refusals) console.log(`refused: ${where}: ${reason}`);
const written = rows.reduce((sum, row) => sum + row[2], 0);
console.log(
  `${done} programs, ${written} written and right, ${refusals.size} refused, ${wrong.length} wrong, ${Math.round((performance.now() - start) / 1000)} s`,
);
process.exitCode = wrong.length > 0 ? 1 : 0;
