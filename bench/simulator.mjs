// Simulator and verifier: transfers per second on schedules of 1e5 and 1e6 transfers.
import { CASES } from "./simulator-cases.mjs";
import { figure, machine, median, progress, publish, reportHead, table, trialProcess } from "./support.mjs";

const ABOUT = [
  "Each schedule in a process of its own; one call of every verb that is not timed. JavaScript, one thread.",
];

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
  const parts = [...reportHead("simulator", "Simulator and verifier", ABOUT, where), table(headings, rows)];
  publish("simulator", { machine: where, cases }, parts.join("\n"));
  return 0;
}
