// Tables 3.4, 3.5, A.1 and A.2 of Zhao 2026 with our figures beside theirs. Every schedule is made and judged.
import {
  allToAll,
  bidirectionalMooreSteps,
  diameter,
  graphOf,
  greatestAllToAllRate,
  leastBandwidthTime,
  mooreSteps,
  openEngine,
  parseConstruction,
  synthesize,
} from "../dist/index.js";
import { TABLE_3_4, TABLE_3_5, TABLE_A_1, TABLE_A_2, TRIED } from "./direct-cases.mjs";
import { directReport } from "./direct-report.mjs";
import { machine, progress, publish } from "./support.mjs";

/** Figures of table 3.4: links of 25 Gb/s, 10 us. */
const LINK_BYTES_PER_SECOND = 25e9 / 8;
const ALPHA_US = 10;
const BUFFER_BYTES = 2 ** 20;
const FIGURES = "@25Gbps,10us";
/** Up to so many nodes the flow has to match in all digits that are printed, above it is certified within 1 %. */
const EXACT_FLOWS = 128;
const EXACT_GAP = 1e-6;
const GAP = 0.01;
const DEGREE = 4;

const decimal = ({ num, den }) => Number(num) / Number(den);

/** Returns the all-gather's steps and T_B, the diameter and the rate of the all-to-all of a network, remembered. */
function measurer(engine) {
  const known = new Map();
  const once = async (key, make) => {
    if (!known.has(key)) known.set(key, await make());
    return known.get(key);
  };
  return {
    /** By default the schedule that is faster at this size, of the expansions or a breadth-first broadcast. */
    gather: (network, policy) =>
      once(`gather ${network} ${policy}`, async () => {
        const started = performance.now();
        const topology = network + FIGURES;
        const { report } = await synthesize({
          engine,
          topology,
          collective: "allgather",
          algorithm: "expand",
          ...(policy === undefined ? {} : { policy }),
          sizeBytes: BUFFER_BYTES,
          simulate: false,
        });
        const { steps, bandwidth, bandwidthValue, bandwidthOptimal } = report.direct;
        return {
          steps,
          bandwidth,
          bandwidthValue,
          bandwidthOptimal,
          verified: report.verified,
          policy: report.synthesis.policy,
          diameter: diameter(graphOf(parseConstruction(network))),
          ms: performance.now() - started,
        };
      }),
    flow: (network, nodes) =>
      once(`flow ${network}`, async () => {
        const started = performance.now();
        const gap = nodes <= EXACT_FLOWS ? EXACT_GAP : GAP;
        const { rate, bound, method } = await allToAll({ engine, topology: network + FIGURES, gap });
        const ofLink = (value) => decimal(value) / LINK_BYTES_PER_SECOND;
        return { rate: ofLink(rate), bound: ofLink(bound), method, ms: performance.now() - started };
      }),
  };
}

/** The time of an all-reduce of 1 MiB, twice T_L + T_B, and of an all-to-all of 1 MiB a node. */
const allReduceUs = (steps, tb) =>
  2 * (steps * ALPHA_US + tb * (BUFFER_BYTES / (DEGREE * LINK_BYTES_PER_SECOND)) * 1e6);
const allToAllUs = (rate, nodes) => (BUFFER_BYTES / nodes / (rate * LINK_BYTES_PER_SECOND)) * 1e6;

/** Half a unit of the last digit that a table prints; some of its values are cut off there, others rounded. */
const halfDigit = (printed) => {
  const [digits, exponent = "0"] = printed.split("e");
  return 0.5 * 10 ** (Number(exponent) - (digits.split(".")[1]?.length ?? 0));
};
const isNear = (value, printed) => Math.abs(value - Number(printed)) <= halfDigit(printed) + EXACT_GAP * value;

/** Returns what a row of table 3.4 or A.1 misses, in words. */
function missedBy(row, nodes, found) {
  const missed = [];
  if (found.verified === false) missed.push("not verified");
  if (found.steps > row.steps) missed.push(`T_L ${found.steps}`);
  if (found.bandwidthValue > Number(row.tb) && !isNear(found.bandwidthValue, row.tb)) missed.push("T_B");
  if (found.diameter !== row.diameter) missed.push(`diameter ${found.diameter}`);
  const times = [
    [row.allReduceUs, allReduceUs(found.steps, found.bandwidthValue)],
    [row.allToAllUs, allToAllUs(found.bound, nodes), allToAllUs(found.rate, nodes)],
  ];
  for (const [printed, least, most = least] of times) {
    if (printed === undefined) continue;
    const half = halfDigit(printed.toFixed(1));
    if (least > printed + half || most < printed - half) missed.push(`${most.toFixed(1)} us`);
  }
  if (found.bound > found.rate * (1 + GAP)) missed.push("flow not within 1 %");
  if (row.rate === undefined) return missed;
  const half = halfDigit(row.rate);
  const holds =
    nodes <= EXACT_FLOWS
      ? isNear(found.rate, row.rate) && isNear(found.bound, row.rate)
      : found.bound >= Number(row.rate) - half && found.rate <= Number(row.rate) + half;
  if (!holds) missed.push("MCF");
  return missed;
}

/** What no network of so many nodes beats: the rows "Theoretical Bound". */
function boundOf(nodes) {
  const rate = decimal(greatestAllToAllRate(nodes, DEGREE));
  const steps = mooreSteps(nodes, DEGREE);
  const least = leastBandwidthTime(nodes);
  const bandwidth = `${least.num}/${least.den}`;
  return { steps, diameter: steps, bandwidth, bandwidthValue: decimal(least), rate, bound: rate, verified: null };
}

async function measured(measure, row, nodes) {
  if (row.network === null) {
    const found = boundOf(nodes);
    return { ...row, nodes, found, missed: missedBy(row, nodes, found) };
  }
  progress(`direct: N = ${nodes}, ${row.network}`);
  try {
    const gathered = await measure.gather(row.network, "expansion");
    const { rate, bound, method, ms } = await measure.flow(row.network, nodes);
    const found = { ...gathered, rate, bound, method, flowMs: ms };
    return { ...row, nodes, found, missed: missedBy(row, nodes, found) };
  } catch (error) {
    return { ...row, nodes, found: null, missed: [error.message] };
  }
}

/** Returns what was tried for a row whose flow is not as printed. */
async function attempts(measure, row) {
  const tried = TRIED[row.network];
  if (tried === undefined || row.missed.length === 0) return row;
  const flows = [];
  for (const network of tried.networks) {
    progress(`direct: ${network} instead of ${row.network}`);
    flows.push({ network, ...(await measure.flow(network, row.nodes)) });
  }
  return { ...row, tried: { reason: tried.reason, flows } };
}

/** Table 3.5 and A.2: bandwidth-optimal, with these steps. */
async function optimal(measure, row, wantedSteps) {
  progress(`direct: ${row.network}`);
  try {
    const found = await measure.gather(row.network);
    const missed = [];
    if (!found.verified) missed.push("not verified");
    if (!found.bandwidthOptimal) missed.push(`T_B ${found.bandwidth}`);
    if (found.steps !== wantedSteps) missed.push(`T_L ${found.steps}`);
    if (row.moore !== undefined && mooreSteps(row.nodes, DEGREE) !== row.moore) missed.push("T_L*");
    if (row.bidirectionalMoore !== undefined && bidirectionalMooreSteps(row.nodes, DEGREE) !== row.bidirectionalMoore)
      missed.push("T_L**");
    return { ...row, found, missed };
  } catch (error) {
    return { ...row, found: null, missed: [error.message] };
  }
}

/** Measures, prints and writes; returns the number of rows that miss something. */
export async function run() {
  const where = machine();
  const engine = await openEngine();
  try {
    const measure = measurer(engine);
    const inTurn = async (rows, work) => {
      const done = [];
      for (const row of rows) done.push(await work(row));
      return done;
    };
    const { nodes } = TABLE_3_4;
    const tables = {
      3.4: await inTurn(TABLE_3_4.rows, async (row) => attempts(measure, await measured(measure, row, nodes))),
      3.5: await inTurn(TABLE_3_5, (row) => optimal(measure, row, row.allReduceSteps / 2)),
      "A.1": (
        await inTurn(TABLE_A_1, (block) =>
          inTurn(block.rows, async (row) => attempts(measure, await measured(measure, row, block.nodes))),
        )
      ).flat(),
      "A.2": await inTurn(TABLE_A_2, (row) => optimal(measure, row, row.steps)),
    };
    const missed = Object.values(tables)
      .flat()
      .filter((row) => row.missed.length > 0).length;
    const times = { allReduceUs, allToAllUs };
    publish("direct", { machine: where, backend: engine.backend, tables, missed }, directReport(where, tables, times));
    return missed;
  } finally {
    await engine.close();
  }
}
