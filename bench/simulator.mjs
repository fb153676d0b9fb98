// Simulator and verifier: transfers per second on schedules of 1e5 and 1e6 transfers.
import { CASES } from "./simulator-cases.mjs";
import {
  figure,
  machine,
  machineLine,
  median,
  progress,
  progressDone,
  publish,
  table,
  trialProcess,
} from "./support.mjs";

async function measure(index) {
  const trial = trialProcess("simulator-trial.mjs", [String(index)]);
  try {
    const { transfers, hops, seconds } = await trial.ask({});
    const results = Object.entries(seconds).map(([verb, list]) => ({
      verb,
      medianSeconds: median(list),
      minSeconds: Math.min(...list),
      runs: list.length,
      transfersPerSecond: transfers / median(list),
    }));
    return { case: CASES[index].name, transfers, hops, results };
  } finally {
    trial.end();
  }
}

/** Measures, prints and writes; there is nothing to miss. */
export async function run() {
  const where = machine();
  const cases = [];
  for (let index = 0; index < CASES.length; index++) {
    progress(`simulator: ${CASES[index].name}`);
    cases.push(await measure(index));
  }
  progressDone();
  const rows = cases.flatMap((c) =>
    c.results.map((r) => [
      c.case,
      r.verb,
      c.transfers,
      c.hops,
      figure(r.medianSeconds * 1000),
      figure(r.minSeconds * 1000),
      figure(r.transfersPerSecond / 1e6, 3),
      r.runs,
    ]),
  );
  const headings = ["schedule", "verb", "transfers", "hops", "median ms", "min ms", "million transfers/s", "runs"];
  const markdown = [
    "# Simulator and verifier",
    "",
    "`npm run bench -- simulator`. Each schedule in a process of its own; one call of every verb that is not timed. JavaScript, one thread.",
    "",
    machineLine(where),
    "",
    table(headings, rows),
  ].join("\n");
  publish("simulator", { machine: where, cases }, markdown);
  return 0;
}
