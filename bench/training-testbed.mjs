// Steps on testbeds whose figures are printed: figure 3.8 of Zhao's dissertation (2026), and the mixture of experts of TACCL (NSDI 2023), 7.
import { acceleratorNamed } from "../dist/model/workload/accelerators.js";
import { computationPs } from "../dist/model/workload/roofline.js";
import { communicationCosts } from "../dist/run/training/costs.js";
import { network } from "./themis-trials.mjs";
import { copiesStep, iteration, modelWith } from "./training-steps.mjs";

/** Fitted on the testbed (A.1.2): a step, a collective, and bytes a second of a node's four ports. */
const ALPHA_US = 13.33;
const EPSILON_US = 21.6;
const BYTES_PER_US = 1 / 1.018e-4;
const DEGREE = 4;
const A100 = acceleratorNamed("a100-40");

/** Printed means, percent: the sum of all-reduces, and iterations, less than with shifted rings and double binary trees. */
export const FIGURE_3_8 = {
  small: { nodes: 8, network: "K(4,4)", sums: [30, 50], iteration: [10, 25] },
  gpt2: { nodes: 12, network: "C(12,{2,3})", iteration: [7, 25] },
};

/** Models of 3.8a are named in the picture only: these are chosen. Batches of 3.8b are printed, sequences of 1,024 are chosen. */
const MODELS = {
  small: ["resnet-50", "resnet-101", "resnet-152"].map((name) => ({ name, each: 64 })),
  gpt2: [
    { name: "gpt2-small", each: 8 },
    { name: "gpt2-medium", each: 4 },
    { name: "gpt2-large", each: 1 },
  ],
};

/** Both networks are as good as any in steps and bandwidth: 2 steps an all-gather (table 3.5). */
const STEPS = 4;

const given = (us) => ({ algorithm: "given", ps: Math.ceil(us * 1e6), use: new Float64Array(1) });
const costs = (usOf) => async (_kind, _groups, bytes) => given(EPSILON_US + usOf(bytes));

/** Returns what all-reduces take on each network. */
function costsOf(engine, nodes) {
  const serial = (bytes) => (2 * (nodes - 1) * bytes) / nodes / BYTES_PER_US;
  const gbps = (BYTES_PER_US * 8e6) / DEGREE / 1e9;
  const trees = network(`dbt:${nodes}@${gbps.toFixed(4)}Gbps,${ALPHA_US}us`);
  const dbt = communicationCosts(engine, trees).by({ algorithm: "dbt" });
  return {
    ours: costs((bytes) => STEPS * ALPHA_US + serial(bytes)),
    rings: costs((bytes) => 2 * (nodes - 1) * ALPHA_US + serial(bytes)),
    // the simulation of our trees, both ways at once; and half the bandwidth, as measured at 1 GB (3.8.3)
    trees: async (...asked) => given(EPSILON_US + (await dbt(...asked)).ps / 1e6),
    "trees at half": costs((bytes) => STEPS * ALPHA_US + 2 * serial(bytes)),
  };
}

const OPEN = [
  { what: "tf32, gradients of 4 bytes", precision: "tf32", gradientBytes: 4 },
  { what: "16 bits, gradients of 2 bytes", precision: "fp16", gradientBytes: 2 },
];
/** DDP's buckets, and its first one. */
const BUCKETS = [25 * 2 ** 20, 2 ** 20];

const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;

export async function figure38(engine, progress) {
  const rows = [];
  for (const [key, printed] of Object.entries(FIGURE_3_8)) {
    const methods = costsOf(engine, printed.nodes);
    for (const { what, ...open } of OPEN) {
      for (const bucketBytes of BUCKETS) {
        const clock = (one) => computationPs(A100, open.precision, one);
        const found = [];
        for (const { name, each } of MODELS[key]) {
          progress(`Zhao: ${name} on ${printed.network}, ${what}`);
          const step = copiesStep(modelWith(name), printed.nodes, each, { bucketBytes, ...open });
          const row = { model: name };
          for (const [method, costOf] of Object.entries(methods)) {
            const one = await iteration({ npuCount: printed.nodes }, step, costOf, clock);
            row[method] = { us: one.us, computeUs: one.computeUs, sentUs: sentUs(one) };
          }
          found.push(row);
        }
        const less = (of) =>
          ["rings", "trees", "trees at half"].map((method) =>
            mean(found.map((row) => 100 * (1 - row.ours[of] / row[method][of]))),
          );
        rows.push({ key, what, bucketBytes, sums: less("sentUs"), iteration: less("us"), found });
      }
    }
  }
  return rows;
}

/** Returns how long communications take together. */
export function sentUs({ tasks, times }) {
  let ps = 0;
  tasks.work.forEach((w, t) => {
    if (tasks.works[w].kind === "communication") ps += times.endPs[t] - times.startPs[t];
  });
  return ps / 1e6;
}

/** TACCL, 7: an all-to-all of 6 MB and an all-reduce of 256 MB on two NDv2, 17 % more throughput. */
export const TACCL_MOE = { network: "ndv2:2", allToAllBytes: 6e6, allReduceBytes: 256e6, gain: 17 };

export async function mixtureOnNdv2(engine, progress) {
  const topology = network(TACCL_MOE.network);
  const table = communicationCosts(engine, topology);
  const everyone = { members: Int32Array.from({ length: topology.npuCount }, (_, i) => i), size: topology.npuCount };
  const costOf = async (algorithm, kind, bytes) => {
    progress(`TACCL: ${kind} on ${TACCL_MOE.network}, ${algorithm}`);
    const { algorithm: by, ps } = await table.by({ algorithm })(kind, everyone, bytes);
    return { by, us: ps / 1e6 };
  };
  const ways = [];
  for (const [what, reduces, exchanges] of [
    ["rings and direct sends", "ring", "direct"],
    ["the fastest of libraries", "library", "library"],
    ["the best of ours", "best", "best"],
    ["proved limits", "ideal", "ideal"],
  ]) {
    const sum = await costOf(reduces, "allreduce", TACCL_MOE.allReduceBytes);
    ways.push({ what, sum, exchange: await costOf(exchanges, "alltoall", TACCL_MOE.allToAllBytes) });
  }
  const [from, , best] = ways.map(({ sum, exchange }) => sum.us + exchange.us);
  // (rest + from) / (rest + best) = 1.17
  const restUs = (from - (1 + TACCL_MOE.gain / 100) * best) / (TACCL_MOE.gain / 100);
  return { ways, restUs };
}
