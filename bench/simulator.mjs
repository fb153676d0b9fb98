// Simulator and verifier: transfers per second on schedules of 1e5 and 1e6 transfers.
import { verdictOf } from "./kernel-rounds.mjs";
import { CASES, TARGET } from "./simulator-cases.mjs";
import { figure, machine, median, progress, publish, reportHead, table, trialProcess } from "./support.mjs";

const ABOUT = [
  "Each schedule in a process of its own; one call of every verb that is not timed, one thread. Store-and-forward is the event queue:",
  "an event for each arrival and each freed link. Simulations are compared bit for bit with those in JavaScript before they are timed.",
];

/** Returns what was asked of a verb on a backend, or null. */
function targetOf({ verb, backend }, transfersPerSecond) {
  if (verb !== TARGET.verb || backend !== TARGET.backend) return null;
  const text = `>= ${TARGET.millionTransfersPerSecond} M/s`;
  return { text, reached: transfersPerSecond >= TARGET.millionTransfersPerSecond * 1e6 };
}

async function measure(index) {
  const trial = trialProcess("simulator-trial.mjs", [String(index)]);
  try {
    const { transfers, hops, results } = await trial.ask({});
    const measured = results.map(({ verb, backend, seconds }) => {
      const transfersPerSecond = transfers / median(seconds);
      return {
        verb,
        backend,
        medianSeconds: median(seconds),
        minSeconds: Math.min(...seconds),
        runs: seconds.length,
        transfersPerSecond,
        target: targetOf({ verb, backend }, transfersPerSecond),
      };
    });
    return { case: CASES[index].name, transfers, hops, results: measured };
  } finally {
    trial.end();
  }
}

/** Measures, prints and writes; returns the number of targets missed. */
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
      r.backend,
      c.transfers,
      c.hops,
      figure(r.medianSeconds * 1000),
      figure(r.minSeconds * 1000),
      figure(r.transfersPerSecond / 1e6, 3),
      r.runs,
      ...verdictOf(r.target),
    ]),
  );
  const times = ["median ms", "min ms", "million transfers/s", "runs", "target", ""];
  const headings = ["schedule", "verb", "backend", "transfers", "hops", ...times];
  const parts = [...reportHead("simulator", "Simulator and verifier", ABOUT, where), table(headings, rows)];
  publish("simulator", { machine: where, cases }, parts.join("\n"));
  return cases.flatMap(({ results }) => results).filter(({ target }) => target?.reached === false).length;
}
