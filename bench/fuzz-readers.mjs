// Mutants of texts, read: node bench/fuzz-readers.mjs [count [seed [first]]], 20,000, 1 and 0 where nothing is given. Each is a
// good file with one to four random mutations, read by the reader of its format (one in twenty by another); what is read and
// small is judged as well: networks are written and read again, programs held against every runtime and verified, schedules
// verified. Prints what became of them by format with the slowest mutant, and ends with status 1 where anything but one
// sentence to the user came, or a mutant took more than MOST_MS.
// Files: the real ones of ../shared/data where they are there, and our own.
import { fileURLToPath } from "node:url";
import { runnerImport } from "vite";
import { progress, progressDone, table } from "./support.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const source = async (path) =>
  (await runnerImport(`${root}${path}`, { root, configFile: false, logLevel: "error" })).module;
const { fuzzReaders } = await source("test/support/reader-fuzz.ts");
const { ownSources, realSources } = await source("test/support/reader-sources.ts");

const MOST_MS = 10_000;
const [count = 20_000, seed = 1, from = 0] = process.argv.slice(2).map(Number);
const start = performance.now();
const { rows, faults } = fuzzReaders([...ownSources(), ...realSources()], { count, seed, from }, (mutant) => {
  if (mutant % 50 === 0) progress(`mutant ${mutant}, ${from + count - mutant} to go`);
});
progressDone();
const row = ([format, { mutants, read, refused, judged, slowestMs, slowest }]) => [
  format,
  mutants,
  read,
  refused,
  judged,
  slowestMs.toFixed(0),
  slowest,
];
const sorted = [...rows].sort(([a], [b]) => (a < b ? -1 : 1));
console.log(table(["format", "mutants", "read", "refused", "judged", "slowest ms", "mutant"], sorted.map(row)));
for (const { mutant, name, what } of faults) console.log(`FAULT: mutant ${mutant} of ${name}: ${what}`);
const slow = sorted.filter(([, { slowestMs }]) => slowestMs > MOST_MS);
for (const [format, { slowest, slowestMs }] of slow)
  console.log(`SLOW: mutant ${slowest} of ${format}: ${(slowestMs / 1000).toFixed(1)} s`);
const seconds = ((performance.now() - start) / 1000).toFixed(0);
const memory = (process.resourceUsage().maxRSS / 1024).toFixed(0);
console.log(`${count} mutants, seed ${seed}: ${faults.length} faults; ${seconds} s, at most ${memory} MiB of memory`);
process.exitCode = faults.length + slow.length === 0 ? 0 : 1;
