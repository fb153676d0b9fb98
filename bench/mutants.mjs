// Mutants of programs, judged twice: node bench/mutants.mjs [count [interleavings [seed]]], 1,000, 24 and 1 where nothing is
// given. Each is judged by the program verifier, and run on real buffers under so many interleavings (8 times as many where the
// verifier accepts it), plain random ones and adversarial ones: a block or a rank that goes on only when nothing else can,
// newest or oldest first, priorities. Prints what became of them by kind of mutation, and ends with status 1 where a mutant that
// goes wrong under some interleaving was accepted, or a program is wrong before any mutation.
// Programs: the real files of ../shared/data where they are there, the small ones of the tests, and those that we lower ourselves.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { runnerImport } from "vite";
import { progress, progressDone, table } from "./support.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const source = async (path) =>
  (await runnerImport(`${root}${path}`, { root, configFile: false, logLevel: "error" })).module;
const { campaign, wrongUnder } = await source("test/support/program-campaign.ts");
const { smallPrograms } = await source("test/support/executable-programs.ts");
const { verifyProgram } = await source("src/verify/program.ts");
const { readProgram } = await source("src/import/program.ts");
const { programs: lowered } = await source("bench/lowered-programs.ts");

const [count = 1000, interleavings = 24, seed = 1] = process.argv.slice(2).map(Number);

/** Plans that go wrong as they are (races, found by both judges), and those that nobody runs any more. */
const NOT_VALID = new Set(["test-reduce_tbg.json", "legacy-allreduce.json"]);

function realPrograms() {
  return ["msccl-xml", "mscclpp-json"].flatMap((folder) => {
    const path = `${root}../shared/data/${folder}/`;
    if (!existsSync(path)) return [];
    const files = readdirSync(path).filter((name) => /\.(xml|json)$/.test(name) && !/^MANIFEST/.test(name));
    return files
      .filter((name) => !NOT_VALID.has(name))
      .map((name) => ({ name, program: readProgram(readFileSync(path + name, "utf8"), name) }));
  });
}

const start = performance.now();
const all = [...smallPrograms(), ...lowered, ...realPrograms()];
const wrong = all.flatMap(({ name, program }) => {
  const { violationCount, violations, facts } = verifyProgram(program, { limit: 1 });
  const how = wrongUnder(program, 4, seed, { messages: facts.capacity, chunks: facts.messageChunks });
  return violationCount > 0 || how !== null ? [{ name, how: `${violations[0]?.message}; ${how}` }] : [];
});
for (const { name, how } of wrong) console.log(`WRONG before any mutation: ${name}: ${how}`);
const programs = all.filter(({ name }) => !wrong.some((of) => of.name === name));
const { kinds, missed } = campaign(programs, { count, interleavings, seed }, (done) => {
  if (done % 20 === 0) progress(`${done} of ${count} mutants`);
});
progressDone();
const total = { mutants: 0, changed: 0, rejected: 0, conservative: 0, missed: 0 };
for (const kind of kinds.values()) for (const key of Object.keys(total)) total[key] += kind[key];
const row = (name, k) => [name, k.mutants, k.changed, k.rejected, k.conservative, k.missed];
console.log(
  table(
    ["mutation", "mutants", "go wrong", "rejected", "rejected, though never seen wrong", "MISSED"],
    [...[...kinds].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, k]) => row(name, k)), row("all", total)],
  ),
);
for (const { name, what, mutant, how } of missed) console.log(`MISSED: mutant ${mutant}, ${what} in ${name}: ${how}`);
const seconds = ((performance.now() - start) / 1000).toFixed(0);
console.log(`${programs.length} programs, ${interleavings} interleavings of each mutant, seed ${seed}, ${seconds} s`);
process.exitCode = missed.length + wrong.length > 0 ? 1 : 0;
