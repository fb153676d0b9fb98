// Figure 4.13 of Zhao's dissertation (2026): fully sharded training of six models on two DGX A100, with NCCL's collectives and ForestColl's.
import { acceleratorNamed } from "../dist/model/workload/accelerators.js";
import { greatestMemory } from "../dist/model/workload/memory.js";
import { ALONE } from "../dist/model/workload/parallelism.js";
import { computationPs } from "../dist/model/workload/roofline.js";
import { defaultOptions } from "../dist/model/workload/transformer/options.js";
import { transformerStep } from "../dist/model/workload/transformer.js";
import { communicationCosts } from "../dist/run/training/costs.js";
import { network } from "./themis-trials.mjs";
import { iteration, modelWith } from "./training-steps.mjs";
import { sentUs } from "./training-testbed.mjs";

const NETWORK = "dgx-a100:2";
const NPUS = 16;
const A100 = acceleratorNamed("a100");

/** Share of computing in an iteration with NCCL, and how much shorter it is with ForestColl, percent; "more": more than, "less": less. */
export const FIGURE_4_13 = [
  { model: "gemma2-2b", sequence: 2048, share: 88, gain: 5, small: true },
  { model: "llama2-7b", sequence: 1024, share: 88, gain: 5, small: true },
  { model: "llama3-8b", sequence: 1024, batch: 8, share: 88, gain: 5, small: true },
  { model: "gemma2-27b", sequence: 2048, share: 65, gain: 14 },
  { model: "llama2-70b", sequence: 1024, batch: 1, share: 50, gain: 20 },
  { model: "llama3-119b", sequence: 1024, batch: 1, share: 43, gain: 20 },
];

/** What ForestColl measures beyond NCCL at 1 GB (figure 4.11). */
const MEASURED = { allgather: 1.32, reducescatter: 1.3 };

/** Weights, gradients and two moments of 2 bytes each, in parts. */
const STATES = 8;

function fsdpStep(config, sequence, each) {
  const options = { ...defaultOptions(config), sequence, batch: NPUS * each, microBatch: each, optimizer: "none" };
  return transformerStep(config, { ...options, parallelism: { ...ALONE, data: NPUS, zero: 3 } });
}

/** The largest power of two of sequences that fits beside weights, gradients and moments of 2 bytes. */
function largest(config, sequence) {
  const fits = (each) => {
    const step = fsdpStep(config, sequence, each);
    const { total, parameters, gradients } = greatestMemory(step);
    // weights take 2 bytes of the states, and so do gradients
    return total - gradients + (parameters / 2) * (STATES - 2) <= A100.memoryBytes;
  };
  let each = 1;
  while (each < 64 && fits(2 * each)) each *= 2;
  return each;
}

export async function figure413(engine, progress) {
  const topology = network(NETWORK);
  const table = communicationCosts(engine, topology);
  const [library, forest] = ["library", "forestcoll"].map((algorithm) => table.by({ algorithm }));
  const measured = async (kind, groups, bytes) => {
    const cost = await forest(kind, groups, bytes);
    return { ...cost, ps: Math.ceil(cost.ps * (MEASURED[kind] ?? 1)) };
  };
  const clock = (computation) => computationPs(A100, "bf16", computation);
  const rows = [];
  for (const { model, sequence, batch, ...printed } of FIGURE_4_13) {
    const { config } = modelWith(model).sizes;
    const most = batch ?? largest(config, sequence);
    for (const each of new Set(batch === undefined ? [most, most / 2] : [most])) {
      progress(`ForestColl: ${model}, ${each} x ${sequence}`);
      const step = fsdpStep(config, sequence, each);
      const theirs = await iteration(topology, step, forest, clock);
      const ways = {};
      for (const [what, costOf] of Object.entries({ library, measured })) {
        const ours = await iteration(topology, step, costOf, clock);
        const sum = (one) => one.computeUs + sentUs(one);
        ways[what] = {
          overlapped: comparison(ours.computeUs, ours.us, theirs.us),
          inTurn: comparison(ours.computeUs, sum(ours), sum(theirs)),
        };
      }
      rows.push({ model, each, sequence, ...printed, ways });
    }
  }
  return { network: NETWORK, rows };
}

const comparison = (computeUs, us, forestUs) => ({
  us,
  share: (100 * computeUs) / us,
  gain: 100 * (1 - forestUs / us),
});
