// Training in Zhao's dissertation (2026): figure 3.9, Switch Transformers on direct-connect networks, as A.1.4 simulates them.
import { allToAll, synthesize } from "../dist/index.js";
import { acceleratorNamed } from "../dist/model/workload/accelerators.js";
import { ALONE } from "../dist/model/workload/parallelism.js";
import { computationPs } from "../dist/model/workload/roofline.js";
import { defaultOptions } from "../dist/model/workload/transformer/options.js";
import { transformerStep } from "../dist/model/workload/transformer.js";
import { TABLE_A_1 } from "./direct-cases.mjs";
import { iteration, modelWith } from "./training-steps.mjs";

const DEGREE = 4;
const ALPHA_US = 10;
const BYTES_PER_SECOND = 100e9 / 8;
const FIGURES = "@25Gbps,10us";
const LINK = BYTES_PER_SECOND / DEGREE;
const MOST_TOKENS = 2 ** 20;
const BUCKETS = [1e6, 1e7, 1e8, 1e9];

/** Printed: shifted rings and torus over the best network, of the all-to-alls' and of the iteration's time; shares of all-to-alls. */
export const FIGURE_3_9 = [
  { model: "switch-base-256", nodes: 256, torus: "16x16", printed: { rings: [8, 4], torus: [2, 1.5] } },
  {
    model: "switch-c-2048",
    nodes: 1024,
    torus: "32x32",
    printed: { rings: [27, 9], torus: [3.3, 1.7], shares: { rings: 91, torus: 58, best: 30 } },
  },
];

const decimal = ({ num, den }) => Number(num) / Number(den);

/** What the table's first candidate at 1,024 nodes is by its figures (`npm run bench -- direct`). */
const MEANT = { "L3(C(16,{3,4}))": "L3(DBJMod(4,2))" };

/** The rate of an all-to-all in units of a link, by our flow within 0.1 %, and what no flow beats. */
async function flowOf(engine, topology) {
  const { rate, bound } = await allToAll({ engine, topology: topology + FIGURES, gap: 0.001 });
  return { rate: decimal(rate) / LINK, bound: decimal(bound) / LINK };
}

/** Steps and bandwidth of an all-gather. */
async function gatherOf(engine, topology, algorithm) {
  const asked = { engine, topology: topology + FIGURES, collective: "allgather", algorithm, sizeBytes: 2 ** 30 };
  const { report } = await synthesize({ ...asked, simulate: false });
  return { steps: report.direct.steps, tb: report.direct.bandwidthValue };
}

/** Returns networks of a size: what their all-gathers and all-to-alls take. */
async function networksOf(engine, { nodes, torus }, progress) {
  const of = async (name, network, gather) => {
    progress(`Zhao: ${network} of ${nodes}`);
    return { name, network, ...(await flowOf(engine, network)), ...(await gather()) };
  };
  const rings = { steps: nodes - 1, tb: (nodes - 1) / nodes };
  const [least] = TABLE_A_1.find((one) => one.nodes === nodes).rows.filter(({ network }) => network === null);
  const candidates = TABLE_A_1.find((one) => one.nodes === nodes).rows.filter(({ network }) => network !== null);
  const found = [
    await of("rings", `shifted-ring:${nodes}`, () => rings),
    await of("torus", `torus:${torus}`, () => gatherOf(engine, `torus:${torus}`, "bfb")),
  ];
  for (const { network, steps, tb } of candidates) {
    // steps and bandwidths of these are held against our schedules in `npm run bench -- direct`
    found.push(await of("best", MEANT[network] ?? network, () => ({ steps, tb: Number(tb) })));
  }
  const rate = Number(least.rate);
  return [...found, { name: "bound", network: "bound", rate, steps: least.steps, tb: Number(least.tb) }];
}

/** All-reduces in alpha and beta, all-to-alls at the rate of the flow. */
function costsOn({ rate, steps, tb }, nodes) {
  return async (kind, _groups, bytes) => {
    const us =
      kind === "alltoall"
        ? (bytes / nodes / (rate * LINK)) * 1e6
        : (kind === "allreduce" ? 2 : 1) * (steps * ALPHA_US + ((tb * bytes) / BYTES_PER_SECOND) * 1e6);
    return { algorithm: "given", ps: Math.ceil(us * 1e6), use: new Float64Array(1) };
  };
}

/** A Switch Transformer in copies, experts dealt among all of them; 2^20 tokens in sequences of 512. */
function switchStep(model, nodes, bucketBytes, { gradientBytes, precision, flash }) {
  const { config } = modelWith(model).sizes;
  const each = MOST_TOKENS / 512 / nodes;
  return transformerStep(config, {
    ...defaultOptions(config),
    ...{ parallelism: { ...ALONE, data: nodes, expert: nodes }, batch: each * nodes, microBatch: each },
    ...{ precision, gradientBytes, bucketBytes, flash, optimizer: "none" },
  });
}

/** What the text leaves open. */
const OPEN = [
  { what: "activations and gradients of 2 bytes", precision: "bf16", gradientBytes: 2, flash: false },
  { what: "gradients of 4 bytes", precision: "bf16", gradientBytes: 4, flash: false },
  { what: "both of 4 bytes", precision: "tf32", gradientBytes: 4, flash: false },
];

export async function figure39(engine, progress) {
  const rows = [];
  for (const one of FIGURE_3_9) {
    const networks = await networksOf(engine, one, progress);
    for (const { what, ...open } of OPEN) {
      const found = [];
      for (const network of networks) {
        let best = null;
        for (const bucketBytes of BUCKETS) {
          const step = switchStep(one.model, one.nodes, bucketBytes, open);
          const clock = (computation) => accelerated(computation, open.precision);
          const times = await iteration({ npuCount: one.nodes }, step, costsOn(network, one.nodes), clock, true);
          const { us, computeUs, exposed } = times;
          if (best === null || us < best.us)
            best = { us, computeUs, allToAllUs: allToAllUs(times), exposed, bucketBytes };
        }
        found.push({ ...network, ...best });
      }
      const least = (list) => list.reduce((a, b) => (b.us < a.us ? b : a));
      const by = (name) => least(found.filter((row) => row.name === name));
      const [rings, torus, best, bound] = ["rings", "torus", "best", "bound"].map(by);
      const over = (row) => [row.allToAllUs / best.allToAllUs, row.us / best.us];
      const share = (row) => (100 * row.allToAllUs) / row.us;
      rows.push({
        ...{ model: one.model, nodes: one.nodes, what, printed: one.printed },
        ...{ rings: over(rings), torus: over(torus), overBound: best.us / bound.us - 1 },
        shares: { rings: share(rings), torus: share(torus), best: share(best) },
        found,
        bestNetwork: best.network,
      });
    }
  }
  return rows;
}

/** Time of all-to-alls, which block: the whole of each. */
function allToAllUs({ tasks, times }) {
  let ps = 0;
  tasks.work.forEach((w, t) => {
    const work = tasks.works[w];
    const isOne = work.kind === "communication" && work.communication.collective === "alltoall";
    if (isOne) ps += times.endPs[t] - times.startPs[t];
  });
  return ps / 1e6;
}

const A100 = acceleratorNamed("a100");
const accelerated = (computation, precision) => computationPs(A100, precision, computation);
