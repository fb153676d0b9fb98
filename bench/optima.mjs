// How far from optimal each algorithm is at small scale: whole chunks against the integer program's proved optimum, schedules in parts of their own against the limit.
import { COLLECTIVES, EXACT, NETWORKS, OWN_PARTS, SAME_MODEL, SIZE } from "./optima-cases.mjs";
import { asPlanned, figure, machine, progress, publish, reportHead, table, verifiedCommand } from "./support.mjs";

const ABOUT = [
  `Collectives of ${SIZE}; every schedule is verified. First table: one chunk per NPU, each transfer occupies its link for latency`,
  `and serialisation. "optimum": the best found by the integer program and the greedy search it starts from, proved where it`,
  `equals "bound"; others: their planned time over it (below 1 where merged sends pay a latency once). Second table: every algorithm with as many parts as it likes, simulated`,
  `time over the limit of any algorithm. Empty: the algorithm does not make the collective there.`,
];

/** Of one command. */
const MOST_SECONDS = 300;

/** Returns what one algorithm makes, or null where it does not apply. */
function made({ name, algorithm, options }, network, collective) {
  progress(`optima: ${collective} on ${network} by ${name}`);
  const line = ["synth", network, "--collective", collective, "--size", SIZE, "--algorithm", algorithm, ...options];
  return verifiedCommand(line, MOST_SECONDS);
}

const share = (value) => (value === undefined ? "" : value.toFixed(3));

async function measured(network, collective) {
  const exact = await made(EXACT, network, collective);
  const { us: optimumUs, bound, share: ofBound } = asPlanned(exact.report);
  const row = {
    network,
    collective,
    optimumUs,
    boundUs: bound.us,
    why: bound.kind,
    seconds: exact.seconds,
    proved: ofBound > 1 - 1e-9,
    planned: {},
    simulated: {},
  };
  for (const one of SAME_MODEL) {
    const found = await made(one, network, collective);
    if (found !== null) row.planned[one.name] = asPlanned(found.report).us / row.optimumUs;
  }
  for (const one of OWN_PARTS) {
    const found = await made(one, network, collective);
    if (found !== null) row.simulated[one.name] = 1 / found.report.ofLimit;
  }
  return row;
}

function report({ machine: where, rows }) {
  const lines = reportHead("optima", "How far from optimal at small scale", ABOUT, where);
  lines.push(
    table(
      ["network", "collective", "optimum us", "bound us", "by", "proved", "s", ...SAME_MODEL.map(({ name }) => name)],
      rows.map((row) => [
        row.network,
        row.collective,
        figure(row.optimumUs),
        figure(row.boundUs),
        row.why,
        row.proved ? "yes" : "no",
        figure(row.seconds, 2),
        ...SAME_MODEL.map(({ name }) => share(row.planned[name])),
      ]),
    ),
    "",
    "## In parts of their own: simulated time over the limit",
    "",
    table(
      ["network", "collective", ...OWN_PARTS.map(({ name }) => name)],
      rows.map((row) => [row.network, row.collective, ...OWN_PARTS.map(({ name }) => share(row.simulated[name]))]),
    ),
  );
  return lines.join("\n");
}

/** Those whose chunks travel one by one, as the optimum's do; merged sends pay a latency once and may be faster. */
const ONE_BY_ONE = ["TACOS greedy", "Ring", "Direct"];

/** Measures, prints and writes; returns how many schedules of whole chunks were faster than a proved optimum. */
export async function run() {
  const where = machine();
  const rows = [];
  for (const network of NETWORKS) {
    for (const collective of COLLECTIVES) rows.push(await measured(network, collective));
  }
  const data = { machine: where, rows };
  publish("optima", data, report(data));
  const beaten = ({ proved, planned }) => proved && ONE_BY_ONE.some((name) => planned[name] < 1 - 1e-9);
  return rows.filter(beaten).length;
}
