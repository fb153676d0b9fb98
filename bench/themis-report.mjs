// The Markdown of `npm run bench -- themis`.
import { figure, reportHead, table } from "./support.mjs";
import { ACTIVITY, BEST, EXAMPLE, GRANULARITY, LEVELS, SWEEP } from "./themis-cases.mjs";

const verdict = ({ missed }) => (missed ? "NO" : "yes");
const percent = (value) => value.toFixed(2);
const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
const mb = (bytes) => `${bytes / 1e6} MB`;
const mib = (bytes) => `${bytes / 2 ** 20} MiB`;

const means = (rows) =>
  table(
    ["figure", "printed", "may differ by", "reached", "within"],
    rows.map((row) => [
      row.figure,
      row.printed,
      figure(row.within, 2),
      row.reached.toFixed(row.printed > 10 ? 2 : 3),
      verdict(row),
    ]),
  );

const attempts = (rows) =>
  table(
    ["method", "tried", "utilisation", "speed-up"],
    rows.map(({ method, what, utilisation, speedUp }) => [
      `Themis+${method.toUpperCase()}`,
      what,
      percent(utilisation),
      speedUp.toFixed(3),
    ]),
  );

const times = (rows) =>
  table(
    ["network", "all-reduce", "baseline us", "FIFO us", "SCF us", "speed-up", "baseline %", "FIFO %", "SCF %"],
    rows.map(({ network, sizeBytes, baseline, fifo, scf }) => [
      network,
      mb(sizeBytes),
      figure(baseline.us, 5),
      figure(fifo.us, 5),
      figure(scf.us, 5),
      (baseline.us / scf.us).toFixed(2),
      ...[baseline, fifo, scf].map(({ utilisation }) => utilisation.toFixed(1)),
    ]),
  );

function granularity({ rows, printed }) {
  const [low, high] = [rows[0].chunks, rows[rows.length - 1].chunks];
  const ours = (key, { chunks }) => {
    const theirs = chunks === low ? printed[key][0] : chunks === high ? printed[key][1] : null;
    return (row) => (theirs === null ? percent(mean(row)) : `${percent(mean(row))} (${theirs})`);
  };
  return table(
    [
      "chunks",
      "baseline",
      "FIFO",
      "SCF",
      "FIFO, loads from 0",
      "SCF, loads from 0",
      ...GRANULARITY.networks.map((name) => `SCF on ${name}`),
    ],
    rows.map((row) => [
      row.chunks,
      percent(mean(row.baseline)),
      ours("fifo", row)(row.fifo),
      ours("scf", row)(row.scf),
      percent(mean(row.fifoWithoutLatency)),
      percent(mean(row.scfWithoutLatency)),
      ...row.scf.map(percent),
    ]),
  );
}

const activity = (rows) =>
  table(
    ["method", "dimension", "mean %", "least %", `windows of ${ACTIVITY.windowUs} us`, "below 50 %"],
    rows.flatMap(({ method, dimensions }) =>
      dimensions.map((windows, d) => [
        method,
        d + 1,
        mean(windows).toFixed(1),
        Math.min(...windows).toFixed(1),
        windows.length,
        windows.filter((value) => value < 50).length,
      ]),
    ),
  );

const offload = (rows) =>
  table(
    ["network", "baseline us", "Themis us", "gain", "offloaded: baseline us", "Themis us", "gain"],
    rows.map(({ network, plain, offload: summed }) => [
      network,
      ...[plain, summed].flatMap(({ baseline, scf }) => [
        figure(baseline, 5),
        figure(scf, 5),
        (baseline / scf).toFixed(2),
      ]),
    ]),
  );

const policies = (rows) =>
  table(
    ["chunks", "baseline", "fifo", "scf", "best"],
    rows.map(({ chunks, ...of }) => [chunks, ...[of.baseline, of.fifo, of.scf, of.best].map(percent)]),
  );

const sweep = (rows) =>
  table(
    [
      "network",
      "cases",
      "as published: slower",
      "worst",
      "as shipped: slower",
      "worst",
      "mean gain",
      "greatest",
      "never slower",
    ],
    rows.map((row) => [
      row.network,
      row.cases,
      row.publishedSlower,
      row.publishedWorst.toFixed(2),
      row.slower,
      row.worst.toFixed(2),
      row.gain.toFixed(3),
      row.best.toFixed(2),
      verdict(row),
    ]),
  );

const levels = (rows) =>
  table(
    ["network", "all-reduce", "chunks", "algorithm", "steps us", "phases us", "steps / phases", "verified", "within"],
    rows.map((row) => [
      row.network,
      mib(row.sizeBytes),
      row.chunks,
      row.algorithm,
      figure(row.stepsPs / 1e6, 5),
      figure(row.phasesPs / 1e6, 5),
      (row.stepsPs / row.phasesPs).toFixed(4),
      row.verified ? "yes" : "NO",
      verdict(row),
    ]),
  );

const scale = (rows) =>
  table(
    ["network", "NPUs", "links", "all-reduce us", "ms"],
    rows.map(({ network, npus, links, us, ms }) => [network, npus, links, figure(us, 6), ms.toFixed(0)]),
  );

/** Returns the whole report. */
export function themisReport(where, data) {
  const { loads, units } = data.example;
  const totals = data.sweep.reduce(
    ({ cases, published, shipped }, row) => ({
      cases: cases + row.cases,
      published: published + row.publishedSlower,
      shipped: shipped + row.slower,
    }),
    { cases: 0, published: 0, shipped: 0 },
  );
  return [
    ...reportHead(
      "themis",
      "Themis and its baseline beside section 6.1 of Rashidi et al., ISCA 2022",
      [
        "Printed figures in brackets. All-reduces in 64 chunks on the six networks of 1,024 NPUs of",
        "table 2, simulated dimension by dimension: one phase serialises in a dimension at a time, the latencies of its steps follow.",
        "Utilisation is bytes sent / (time x sum of the dimensions' bandwidths), MB = 1e6. Baseline: BlueConnect's order.",
      ],
      where,
    ),
    "## Means over table 2 and 100, 250, 500, 1000 MB",
    "",
    means(data.asked),
    "",
    "First come, first served is left with less than printed. Two ways that the text leaves open come closer: loads that start at 0,",
    "not at A_K (4.4), and several chunks at once in a dimension (4.3), as the paper's simulator can. With loads from 0 the first",
    "points of figure 10 are also the printed ones, so the paper's figures seem to be made without the latency term; it is kept here",
    "because it helps where chunks are few. 'Smallest' goes by what a phase moves (before a reduce-scatter, after an all-gather),",
    "which gives figure 5 its 7 units; by what an NPU holds before the phase the example takes 8.",
    "",
    attempts(data.attempts),
    "",
    "## Figures 5 and 7: the example, in units of a chunk's reduce-scatter in dimension 1",
    "",
    `Loads after each chunk ${JSON.stringify(loads)} (asked ${JSON.stringify(EXAMPLE.loads)}). Baseline ${units.baseline} units ` +
      `(${EXAMPLE.units.baseline}), Themis+SCF ${units.scf} (${EXAMPLE.units.scf}: all that dimension 2 has to do), Themis+FIFO ` +
      `${units.fifo}: ${verdict(data.example)}.`,
    "",
    "## Figures 8 and 11: times and utilisation",
    "",
    times(data.times),
    "",
    "## Figure 10: utilisation in % by the number of chunks, 100 MB, mean of both networks",
    "",
    granularity(data.granularity),
    "",
    `Same shape: ${verdict(data.granularity)} (rising from 4 to 512 chunks, ends within 10 points of the printed ones, SCF above FIFO`,
    "at both ends, the baseline level). At 512 chunks no packet headers and no cost of a message are charged here, which the paper's",
    "simulator does.",
    "",
    "## Figure 9: share of time with a chunk in the dimension, 1 GB on 3d-sw-sw-sw-homo",
    "",
    activity(data.activity),
    "",
    "## Switches that sum (4.5): 1 GB, all switch dimensions offloaded",
    "",
    offload(data.offload),
    "",
    "An offloaded reduce-scatter sends everything up and receives 1/P; an all-gather the other way round; both may run at once.",
    "",
    `## Policies as shipped: mean utilisation in % of table 2, ${mb(BEST.sizeBytes)}`,
    "",
    "The baseline's order is kept where it ends first. `best` also balances the loads of all chunks together, where Algorithm 1 decides",
    "chunk by chunk, and keeps the fastest.",
    "",
    policies(data.policies),
    "",
    `## Never slower than the baseline by more than ${100 * SWEEP.share} %`,
    "",
    `Three collectives, 64 KiB to 16 GiB, 1 to 512 chunks, FIFO and SCF: ${totals.cases} cases. As published ${totals.published} are`,
    `slower (few chunks, or dimensions so unlike that any other order loads the slow one); as shipped ${totals.shipped}: both orders are`,
    "simulated and the baseline's is kept where it ends first.",
    "",
    sweep(data.sweep),
    "",
    "## Both levels: steps in the network (cut-through) beside phases dimension by dimension",
    "",
    `At most ${100 * LEVELS.share} % slower asked. Steps may be faster: a block goes on to the next step or phase as soon as it is there, not when the`,
    "whole message is; and on a line reduce-scatters and all-gathers load opposite links most, so that several chunks overlap.",
    "",
    levels(data.levels),
    "",
    "## Large networks, 64 chunks: dimensions found, Themis and its baseline scheduled, replayed",
    "",
    scale(data.scale),
  ].join("\n");
}
