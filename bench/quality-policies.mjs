// Every policy of the matching alone, on a few networks that tell them apart: why the portfolio is what it is.
import { makespanPs, SYNTHESIZERS, synthesize } from "../dist/index.js";
import { POLICY_NETWORKS } from "./hard-cases.mjs";
import { asPlanned, progress, table } from "./support.mjs";

const SIZE = 2 ** 30;
const SEEDS = 8;
const PS_PER_US = 1e6;
/** The orders of relays are for collectives whose chunks have one target each. */
const RELAY_ORDERS = ["farthest", "nearest", "load"];

/** Returns for each network and policy how often one trial met the bound, and bound over time on average and at best. */
export async function policiesAlone(engine, networkOf) {
  const policies = SYNTHESIZERS.find(({ name }) => name === "tacos").policies.filter((p) => !RELAY_ORDERS.includes(p));
  const rows = [];
  for (const entry of POLICY_NETWORKS) {
    const topology = networkOf(entry);
    for (const policy of policies) {
      progress(`quality: policy ${policy} alone on ${entry.network}`);
      const found = [];
      for (let seed = 1; seed <= SEEDS; seed++) {
        const request = { engine, topology, collective: "allgather", sizeBytes: SIZE, policy, seed, trials: 1 };
        const { schedule, report } = await synthesize(request);
        const { bound, share } = asPlanned(report);
        const atBound = makespanPs(schedule) - bound.us * PS_PER_US < 1;
        found.push({ atBound, optimality: share });
      }
      rows.push({
        network: entry.network,
        policy,
        hits: found.filter(({ atBound }) => atBound).length,
        mean: found.reduce((sum, { optimality }) => sum + optimality, 0) / SEEDS,
        best: Math.max(...found.map(({ optimality }) => optimality)),
      });
    }
  }
  return rows;
}

/** Returns the lines of the report: a row per network, a column per policy. */
export function policyReport(rows) {
  const policies = [...new Set(rows.map(({ policy }) => policy))];
  const networks = [...new Set(rows.map(({ network }) => network))];
  const cell = (network, policy) => {
    const { hits, mean } = rows.find((row) => row.network === network && row.policy === policy);
    return hits === SEEDS ? "1" : `${mean.toFixed(4)} (${hits})`;
  };
  return [
    `## Policies alone, one trial, ${SEEDS} seeds: mean of bound / time (how many met the bound; 1: all)`,
    "",
    table(
      ["network", ...policies],
      networks.map((network) => [network, ...policies.map((policy) => cell(network, policy))]),
    ),
  ];
}
