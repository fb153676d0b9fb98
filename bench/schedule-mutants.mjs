// Mutants of schedules of every kind, judged by the verifier and by brute force: node bench/schedule-mutants.mjs [count [seed]],
// 5,000 of each kind and 1 where nothing is given. Step schedules, arrival logs and trees with one change are judged by both; a
// certificate drawn at random must not prove that a sound flow is faster than it can be; a .bys file with a changed byte is refused,
// and once its checksums are made right read and judged alike. Prints what became of them, and ends with status 1 at any disagreement.
import { loaded } from "./sources.mjs";
import { progress, progressDone, table } from "./support.mjs";

const module = await loaded("test/support/schedule-campaign.ts");
const [count = 5000, seed = 1] = process.argv.slice(2).map(Number);
const AT_ONCE = 250;
const start = performance.now();
const rows = [];
const faults = [];
for (const [name, trial] of Object.entries(module.scheduleTrials())) {
  const row = { right: 0, wrong: 0 };
  for (let from = 0; from < count; from += AT_ONCE) {
    const told = module.judgeMutants(name, trial, seed, from, Math.min(AT_ONCE, count - from));
    row.right += told.right;
    row.wrong += told.wrong;
    faults.push(...told.faults);
    progress(`${name}: ${from} of ${count}, ${faults.length} faults`);
  }
  rows.push([name, count, row.right, row.wrong, count - row.right - row.wrong]);
}
progressDone();
console.log(table(["mutants of", "count", "right", "wrong or refused", "FAULTS"], rows));
for (const fault of faults) console.log(`FAULT: ${fault}`);
console.log(`seed ${seed}, ${((performance.now() - start) / 1000).toFixed(0)} s`);
process.exitCode = faults.length === 0 ? 0 : 1;
