// npm run bench -- NAME ...: sets everything up, measures, prints tables and writes them to bench/results/NAME.json and NAME.md. Ends with status 1 when a requirement is missed or a bench fails.
import { setup } from "../scripts/setup.mjs";

const BENCHES = [
  "kernels",
  "quality",
  "papers",
  "simulator",
  "scale",
  "tori",
  "failures",
  "forest",
  "programs",
  "program-matrix",
  "direct",
  "direct-scale",
  "conjecture",
  "generation",
  "themis",
  "training",
  "optima",
  "limits",
  "frontier",
  "taccl",
  "ilp",
  "web",
  "training-published",
  "sweeps",
  "lab",
  "probe-labs",
  "plan",
  "measured",
  "gains",
];

const names = process.argv.slice(2);
if (names.length === 0 || names.some((name) => !BENCHES.includes(name))) {
  console.error(`expected some of ${BENCHES.join(", ")} but received ${names.join(" ") || "nothing"}`);
  process.exit(2);
}
// As for the tests: the WebAssembly module is measured even where the add-on works.
if (!(await setup({ forTests: true }))) process.exit(1);
let missed = 0;
for (const name of names) {
  try {
    const { run } = await import(`./${name}.mjs`);
    missed += await run();
  } catch (error) {
    console.error(`bench ${name}: ${error instanceof Error ? error.message : error}`);
    missed++;
  }
}
process.exitCode = missed > 0 ? 1 : 0;
