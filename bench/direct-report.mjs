// The Markdown of `npm run bench -- direct`.
import { reportHead, table } from "./support.mjs";

const verdict = ({ missed }) => (missed.length === 0 ? "yes" : `NO: ${missed.join(", ")}`);
const both = (ours, theirs) => (ours === undefined || ours === null ? "" : `${ours} (${theirs})`);
const seconds = (ms) => (ms === undefined ? "" : (ms / 1000).toFixed(2));

/** Returns columns of what both have; the paper's figures are in brackets. */
function comparison(rows, extra) {
  return table(
    [
      "N",
      "network",
      "T_L",
      "T_B, M/B",
      "exactly",
      "diameter",
      "MCF f",
      "at most",
      ...extra.titles,
      "seconds",
      "reached",
    ],
    rows.map((row) => {
      const { nodes, network, found } = row;
      if (found === null)
        return [nodes, network ?? "bound", ...Array(6 + extra.titles.length).fill(""), "", verdict(row)];
      const ms = found.ms === undefined ? undefined : found.ms + found.flowMs;
      return [
        nodes,
        network ?? "bound",
        both(found.steps, row.steps),
        both(found.bandwidthValue.toFixed(4), row.tb),
        found.bandwidth,
        both(found.diameter, row.diameter),
        row.rate === undefined ? found.rate.toExponential(3) : both(found.rate.toExponential(3), row.rate),
        found.bound.toExponential(3),
        ...extra.of(row),
        seconds(ms),
        verdict(row),
      ];
    }),
  );
}

const NO_EXTRA = { titles: [], of: () => [] };

export function directReport(where, tables, { allReduceUs, allToAllUs }) {
  const rows = Object.values(tables).flat();
  const missed = rows.filter((row) => row.missed.length > 0);
  const tried = rows.filter((row) => row.tried !== undefined);
  const withTimes = {
    titles: ["all-reduce us", "all-to-all us"],
    of: ({ nodes, found, allReduceUs: reduce, allToAllUs: all }) => [
      both(allReduceUs(found.steps, found.bandwidthValue).toFixed(1), reduce),
      both(allToAllUs(found.rate, nodes).toFixed(1), all),
    ],
  };
  const steps = ({ found, allReduceSteps, steps: wanted }) =>
    found === null
      ? ["", "", ""]
      : [
          both(found.steps * (allReduceSteps === undefined ? 1 : 2), allReduceSteps ?? wanted),
          found.bandwidth,
          found.policy,
        ];
  return [
    ...reportHead(
      "direct",
      "Direct-connect networks beside the tables of Zhao 2026",
      [
        "The dissertation's figures in brackets. T_L in hops and T_B of an all-gather made by `--algorithm expand` and judged; MCF f is",
        "the rate of an all-to-all in units of a link, with the bound that no flow beats, both proved by exact arithmetic. Up to",
        "N = 128 both have to round to the printed digits; above, they are within 1 % of each other with the printed value between.",
      ],
      where,
    ),
    "## Table 3.4: N = 1,024, d = 4; 10 us, 1 MiB, 100 Gb/s a node",
    "",
    comparison(tables["3.4"], withTimes),
    "",
    "## Table 3.5: steps of an all-reduce, all bandwidth-optimal",
    "",
    table(
      ["N", "network", "T_L", "T_B, M/B", "schedule", "reached"],
      tables["3.5"].map((row) => [row.nodes, row.network, ...steps(row), verdict(row)]),
    ),
    "",
    "## Table A.1: d = 4",
    "",
    comparison(tables["A.1"], NO_EXTRA),
    "",
    "## Table A.2: distance-regular graphs, d = 4, all bandwidth-optimal",
    "",
    table(
      ["graph", "N", "T_L", "T_B, M/B", "schedule", "T_L*", "T_L**", "reached"],
      tables["A.2"].map((row) => [row.name, row.nodes, ...steps(row), row.moore, row.bidirectionalMoore, verdict(row)]),
    ),
    "",
    ...(tried.length === 0 ? [] : ["## Rows not reached", ""]),
    ...tried.flatMap(({ network, nodes, tried: { reason, flows } }) => [
      `* ${network}, N = ${nodes}: ${reason}. Tried: ${flows
        .map((flow) => `${flow.network} f ${flow.rate.toExponential(3)} to ${flow.bound.toExponential(3)}`)
        .join("; ")}.`,
    ]),
    ...(tried.length === 0 ? [] : [""]),
    `${rows.length - missed.length} of ${rows.length} rows reached.`,
  ].join("\n");
}
