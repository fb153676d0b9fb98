// Steps of training as the papers have them, and what is left of an iteration besides computing.
import { acceleratorNamed, customAccelerator } from "../dist/model/workload/accelerators.js";
import { modelNamed, tableStep } from "../dist/model/workload/models.js";
import { ALONE, npusOf } from "../dist/model/workload/parallelism.js";
import { placedStep } from "../dist/model/workload/placed-tasks.js";
import { computationPs, DEFAULT_EFFICIENCIES } from "../dist/model/workload/roofline.js";
import { defaultOptions } from "../dist/model/workload/transformer/options.js";
import { transformerStep } from "../dist/model/workload/transformer.js";
import { simulateTraining } from "../dist/run/training/train.js";

const PEAKS = { matmul: 1, matmulHalfSize: 0, sizeGrowth: 0, attention: 1, memory: 1, launchPs: 0 };
const A100 = acceleratorNamed("a100");
const FLOPS_ONLY = { ...A100, memoryBandwidth: Number.POSITIVE_INFINITY };

/** Where the time of computations comes from: each takes a computation and returns picoseconds. */
export const CLOCKS = {
  "312 TFLOP/s and 2,039 GB/s at their peaks": (one) => computationPs(A100, "fp16", one, PEAKS),
  "312 TFLOP/s, memory for nothing": (one) => computationPs(FLOPS_ONLY, "fp16", one, PEAKS),
  "our efficiencies of an A100": (one) => computationPs(A100, "fp16", one, DEFAULT_EFFICIENCIES),
  // what the matrices of LIBRA's public tables (MSFT_1T, Turing_NLG, GPT_3) are worked at: 60 x 2^40 operations a second
  "66 TFLOP/s, as in LIBRA's tables": (one) =>
    computationPs(customAccelerator({ peak: 60 * 2 ** 40 }, "fp16", A100), "fp16", one, PEAKS),
};

/** Returns a clock that takes what LIBRA's DLRM.txt has for the rows of tables: a sum of rows in 419,431 ns, gradients in 310. */
export const withTableLookups = (clock) => (one) =>
  one.name === "rows of tables" ? 419_431_000 : one.name === "update of rows" ? 310_000 : clock(one);

/** Returns a model of the catalogue with some of its sizes replaced. */
export function modelWith(name, sizes) {
  const { sizes: own, ...model } = modelNamed(name);
  const key = own.kind === "transformer" ? "config" : own.kind;
  return { ...model, sizes: { ...own, [key]: { ...own[key], ...sizes } } };
}

/** Returns a step of a model that is trained in copies; `each`: samples of one. Sums of gradients wait for all of them unless told. */
export function copiesStep(model, npus, each, { bucketBytes = Number.POSITIVE_INFINITY, ...more } = {}) {
  const parallelism = { ...ALONE, data: npus };
  const batch = npus * each;
  if (model.sizes.kind !== "transformer") {
    const options = { parallelism, batch, precision: "fp16", optimizer: "none", gradientBytes: 2, bucketBytes };
    return tableStep(model.sizes, { ...options, ...more });
  }
  const { config } = model.sizes;
  const options = { ...defaultOptions(config), precision: "fp16", optimizer: "none", gradientBytes: 2 };
  return transformerStep(config, { ...options, parallelism, batch, microBatch: each, bucketBytes, ...more });
}

/** Returns a step in which every computation of a pass waits for the communications of some groups that come before it. */
export function blockingStep(step, groups) {
  const known = new Map();
  const pass = (one) => {
    if (known.has(one)) return known.get(one);
    const blocks = (part) => part?.communication !== undefined && groups.includes(part.communication.group);
    const parts = one.parts.map((part, i) => {
      const before = one.parts.findLastIndex((other, k) => k < i && blocks(other));
      return before < 0 || part.after.includes(before) ? part : { ...part, after: [...part.after, before] };
    });
    const last = one.parts.findLastIndex(blocks);
    const outputs = last < 0 || one.outputs.includes(last) ? one.outputs : [...one.outputs, last];
    const made = { parts, outputs };
    known.set(one, made);
    return made;
  };
  const layers = new Map();
  const layer = (one) => {
    if (!layers.has(one)) layers.set(one, { ...one, forward: pass(one.forward), backward: pass(one.backward) });
    return layers.get(one);
  };
  return {
    ...step,
    stages: step.stages.map((runs) => runs.map(({ layer: one, count }) => ({ layer: layer(one), count }))),
  };
}

/** Returns how long a step takes, and of it computing and waiting, by who communicates; microseconds. */
export async function iteration(topology, step, costOf, clock, oneStream = false) {
  if (npusOf(step.parallelism) > topology.npuCount)
    throw new Error(`${step.name}: more NPUs than ${topology.name} has`);
  const { times, actors, tasks } = await simulateTraining(topology, placedStep(step), {
    costOf,
    computationPs: clock,
    oneStream,
  });
  const [{ computePs, exposedPs }] = actors;
  const exposed = Object.fromEntries([...exposedPs].map(([group, ps]) => [group, ps / 1e6]));
  return {
    us: times.ps / 1e6,
    computeUs: computePs / 1e6,
    exposedUs: (times.ps - computePs) / 1e6,
    exposed,
    times,
    tasks,
  };
}
