// Mutants of programs, judged twice: node bench/mutants.mjs [count [interleavings [seed [processes]]]], 1,000, 24, 1 and as many
// as there are cores where nothing is given. Each mutant has one change or two. It is judged by the program verifier, and run on
// real buffers under so many interleavings (8 times as many where the verifier accepts it), plain random ones and adversarial
// ones: a block or a rank that goes on only when nothing else can, newest or oldest first, priorities. Prints what became of them
// by runtime and kind of mutation, and ends with status 1 where a mutant that goes wrong under some interleaving was accepted, one
// breaks a judge, or a program is wrong before any mutation. The mutants of a seed are the same for any number of processes.
// Programs: the real files of ../shared/data where they are there, the small ones of the tests, and those that we lower ourselves.
import { fork } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { loaded } from "./sources.mjs";
import { progress, progressDone, table } from "./support.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));

const arguments_ = process.argv.slice(2).map(Number);
const [count = 1000, interleavings = 24, seed = 1, processes = Math.min(8, availableParallelism())] = arguments_;
/** Mutants that a process is handed at once. */
const AT_ONCE = 100;

/** Plans that go wrong as they are (races, found by both judges), and those that nobody runs any more. */
const NOT_VALID = new Set(["test-reduce_tbg.json", "legacy-allreduce.json"]);

async function allPrograms() {
  const { smallPrograms } = await loaded("test/support/executable-programs.ts");
  const { readProgram } = await loaded("src/import/programs/program.ts");
  const { programs: lowered } = await loaded("bench/lowered-programs.ts");
  const real = ["msccl-xml", "mscclpp-json"].flatMap((folder) => {
    const path = `${root}../shared/data/${folder}/`;
    if (!existsSync(path)) return [];
    const files = readdirSync(path).filter((name) => /\.(xml|json)$/.test(name) && !/^MANIFEST/.test(name));
    return files
      .filter((name) => !NOT_VALID.has(name))
      .map((name) => ({ name, program: readProgram(readFileSync(path + name, "utf8"), name) }));
  });
  return [...smallPrograms(), ...lowered, ...real];
}

/** One of several processes: judges the mutants that it is handed. */
async function judgeHanded() {
  const { campaign, wrongUnder } = await loaded("test/support/program-campaign.ts");
  const { verifyProgram } = await loaded("src/verify/program/program.ts");
  const all = await allPrograms();
  const wrong = all.flatMap(({ name, program }) => {
    const { violationCount, violations, facts } = verifyProgram(program, { limit: 1 });
    const how = wrongUnder(program, 4, seed, { messages: facts.capacity, chunks: facts.messageChunks });
    return violationCount > 0 || how !== null ? [{ name, how: `${violations[0]?.message}; ${how}` }] : [];
  });
  const programs = all.filter(({ name }) => !wrong.some((of) => of.name === name));
  process.on("message", ({ from, count }) => {
    const { kinds, missed } = campaign(programs, { from, count, interleavings, seed });
    process.send({ kinds: [...kinds], missed });
  });
  process.send({ programs: programs.length, wrong });
}

if (process.send !== undefined) await judgeHanded();
else {
  const start = performance.now();
  const kinds = new Map();
  const total = { mutants: 0, changed: 0, rejected: 0, conservative: 0, missed: 0 };
  const [missed, broken] = [[], []];
  let begun;
  let next = 0;
  const added = (tally, more) => {
    for (const key of Object.keys(total)) tally[key] += more[key];
  };
  const one = () =>
    new Promise((resolve) => {
      const child = fork(fileURLToPath(import.meta.url), process.argv.slice(2));
      let handed = null;
      child.on("exit", (status) => {
        if (status !== 0 && status !== null)
          broken.push(`a process ended with status ${status}, mutants from ${handed} on`);
        resolve();
      });
      child.on("message", (told) => {
        if (told.programs !== undefined) begun = told;
        for (const [kind, tally] of told.kinds ?? []) {
          if (!kinds.has(kind))
            kinds.set(kind, { ...total, mutants: 0, changed: 0, rejected: 0, conservative: 0, missed: 0 });
          added(kinds.get(kind), tally);
          added(total, tally);
        }
        missed.push(...(told.missed ?? []));
        if (total.mutants % 1000 === 0) progress(`${total.mutants} of ${count} mutants, ${missed.length} missed`);
        if (next >= count) return child.disconnect();
        handed = next;
        next += AT_ONCE;
        child.send({ from: handed, count: Math.min(AT_ONCE, count - handed) });
      });
    });
  await Promise.all(Array.from({ length: processes }, one));
  progressDone();
  const row = (name, k) => [name, k.mutants, k.changed, k.rejected, k.conservative, k.missed];
  console.log(
    table(
      ["mutation", "mutants", "go wrong", "rejected", "rejected, though never seen wrong", "MISSED"],
      [...[...kinds].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, k]) => row(name, k)), row("all", total)],
    ),
  );
  const wrong = begun?.wrong ?? [];
  for (const { name, how } of wrong) console.log(`WRONG before any mutation: ${name}: ${how}`);
  for (const { name, what, mutant, how } of missed.sort((a, b) => a.mutant - b.mutant))
    console.log(`MISSED: mutant ${mutant}, ${what} in ${name}: ${how}`);
  for (const how of broken) console.log(`BROKEN: ${how}`);
  const seconds = ((performance.now() - start) / 1000).toFixed(0);
  const facts = `${interleavings} interleavings of each mutant, seed ${seed}, ${processes} processes, ${seconds} s`;
  console.log(`${begun?.programs} programs, ${facts}`);
  process.exitCode = missed.length + wrong.length + broken.length > 0 ? 1 : 0;
}
