// Figures 4 and 12 of Themis (Rashidi et al., ISCA 2022): iterations of four models on the networks of table 2.
import { collective } from "../dist/model/collective/collective.js";
import { dimensionsOf, wiringOf } from "../dist/model/dimensions/dimensions.js";
import { groupDimensions } from "../dist/model/dimensions/group-dimensions.js";
import { toNumber } from "../dist/model/numbers/rational.js";
import { ALONE } from "../dist/model/workload/parallelism.js";
import { defaultOptions } from "../dist/model/workload/transformer/options.js";
import { transformerStep } from "../dist/model/workload/transformer.js";
import { simulatePhases } from "../dist/simulate/phases/phases.js";
import { baselineOrders, executed, problemOf, themisOrders } from "../dist/synthesize/themis/orders.js";
import { NETWORKS } from "./themis-cases.mjs";
import { network } from "./themis-trials.mjs";
import { blockingStep, CLOCKS, copiesStep, iteration, modelWith, withTableLookups } from "./training-steps.mjs";

/** Themis, 6.2 and 3.2: mean and greatest of six networks. */
export const PRINTED = [
  { model: "ResNet-152", scf: [1.49, 2.25], ideal: [1.54, 2.34] },
  { model: "GNMT", scf: [1.3, 1.78], ideal: [1.32, 1.81] },
  { model: "DLRM", scf: [1.3, 1.77], ideal: [1.33, null] },
  { model: "Transformer-1T", scf: [1.25, 1.53], ideal: [1.26, 1.54] },
];
export const PRINTED_EXPOSED = { scf: 1.65, ideal: 1.72 };

const METHODS = ["baseline", "scf", "ideal", "whole"];
const CHUNKS = 64;
const NPUS = 1024;

/** Returns the bytes that an NPU sends in each dimension, one after the other. */
function bytesOf(kind, bytes, dimensions) {
  let held = bytes;
  return dimensions.map(({ size }) => {
    const sent = (held * (size - 1)) / size;
    // of an all-to-all every NPU still has as much afterwards as before
    if (kind !== "alltoall") held /= size;
    return (kind === "allreduce" ? 2 : 1) * sent;
  });
}

/**
 * An all-to-all dimension by dimension in chunks, one at a time in each: the same for all orders, for what a chunk weighs stays as it
 * is. Its latency is left out.
 */
function allToAllCost(bytes, dimensions) {
  const each = bytesOf("alltoall", bytes / CHUNKS, dimensions).map(
    (sent, d) => (sent * 1e12) / dimensions[d].bytesPerSecond,
  );
  const ps = each.reduce((sum, one) => sum + one, 0) + (CHUNKS - 1) * Math.max(...each);
  return { algorithm: "alltoall", ps: Math.ceil(ps), use: Float64Array.from(each, (one) => (CHUNKS * one) / ps) };
}

/** Returns the dimensions that groups are made of, and which of the network's each is. */
function linesOf(topology, { members, size }) {
  if (size === topology.npuCount) return dimensionsOf(topology).map((dimension, at) => ({ dimension, at }));
  const wiring = wiringOf(topology);
  const groups = { groupCount: members.length / size, groupSize: size, groupMembers: members };
  const lines = groupDimensions(wiring, groups);
  if (typeof lines === "string") throw new Error(`${topology.name}: groups that are no ${lines}`);
  return lines.map((dimension) => ({ dimension, at: wiring.indexOf(dimension.of) }));
}

/**
 * Returns what gives costs: "baseline", "scf" (both simulated phase by phase, 64 chunks) or "ideal", bytes over the bandwidth of the
 * dimensions that a group has; "whole" of all dimensions.
 */
export function costsBy(topology, method, known) {
  const whole = dimensionsOf(topology);
  return async (kind, groups, bytes) => {
    const key = `${topology.name} ${method} ${kind} ${groups.size} ${groups.members[1]} ${bytes}`;
    if (known.has(key)) return known.get(key);
    const lines = linesOf(topology, groups);
    const dimensions = lines.map(({ dimension }) => dimension);
    const spread = (use) => {
      const all = new Float64Array(whole.length);
      lines.forEach(({ at }, d) => {
        all[at] = use[d];
      });
      return all;
    };
    let cost;
    if (method === "ideal" || method === "whole") {
      const sent = bytesOf(kind, bytes, dimensions).reduce((sum, one) => sum + one, 0);
      const rate = (method === "whole" ? whole : dimensions).reduce((sum, one) => sum + one.bytesPerSecond, 0);
      cost = { algorithm: method, ps: Math.ceil((sent * 1e12) / rate), use: spread(dimensions.map(() => 1)) };
    } else if (kind === "alltoall") {
      const { ps, use } = allToAllCost(bytes, dimensions);
      cost = { algorithm: method, ps, use: spread(use) };
    } else {
      const list = [];
      for (let at = 0; at < groups.members.length; at += groups.size)
        list.push(groups.members.subarray(at, at + groups.size));
      const sizeBytes = Math.ceil(bytes / groups.size) * groups.size;
      const of = collective({ kind, groups: list, sizeBytes, chunksPerNpu: CHUNKS, rootRank: 0 });
      const problem = problemOf(topology, of, dimensions, false);
      const orders = method === "scf" ? themisOrders(problem) : baselineOrders(problem);
      const { ps, dimensions: uses } = simulatePhases(executed(problem, orders, method === "scf" ? "scf" : "fifo"));
      cost = {
        algorithm: method,
        ps: Math.ceil(ps),
        use: spread(uses.map(({ utilisation }) => toNumber(utilisation))),
      };
    }
    known.set(key, cost);
    return cost;
  };
}

/** Transformer-1T: products split among 128, 8 copies, ZeRO 2, sequences of 1,024, 16 of them a copy at a time. */
function transformer1t({ layers = 138, blocking = true, recompute = "full" } = {}) {
  const { config } = modelWith("msft-1t", { layers }).sizes;
  const parallelism = { ...ALONE, tensor: 128, data: NPUS / 128, zero: 2 };
  const sizes = { parallelism, batch: 16 * parallelism.data, microBatch: 16, sequence: 1024 };
  const step = transformerStep(config, { ...defaultOptions(config), ...sizes, precision: "fp16", recompute });
  return blocking ? blockingStep(step, ["tensor"]) : step;
}

const LOOKUPS = "rows of tables in 419 us, as in LIBRA's table";

/** Steps by model, the first of each as the paper has it, as far as it says. */
const STEPS = {
  "ResNet-152": {
    "one sum at the end": () => copiesStep(modelWith("resnet-152"), NPUS, 32),
    "sums of 25 MiB as they are ready": () =>
      copiesStep(modelWith("resnet-152"), NPUS, 32, { bucketBytes: 25 * 2 ** 20 }),
  },
  GNMT: {
    "4 + 4 layers, sentences of 30 tokens": () => copiesStep(modelWith("gnmt"), NPUS, 128),
    "8 + 8 layers": () => copiesStep(modelWith("gnmt-16"), NPUS, 128),
    "4 + 4 layers, sentences of 10 tokens": () => copiesStep(modelWith("gnmt", { sentence: 10 }), NPUS, 128),
    "8 + 8 layers, sentences of 10 tokens": () => copiesStep(modelWith("gnmt-16", { sentence: 10 }), NPUS, 128),
    "4 + 4 layers, sums of 25 MiB as they are ready": () =>
      copiesStep(modelWith("gnmt"), NPUS, 128, { bucketBytes: 25 * 2 ** 20 }),
  },
  DLRM: {
    [LOOKUPS]: () => copiesStep(modelWith("dlrm"), NPUS, 512),
    "rows of tables at the memory's bandwidth": () => copiesStep(modelWith("dlrm"), NPUS, 512),
  },
  "Transformer-1T": {
    "138 layers, products wait for sums": () => transformer1t(),
    "128 layers": () => transformer1t({ layers: 128 }),
    "sums beside gradients of weights": () => transformer1t({ blocking: false }),
    "nothing computed again": () => transformer1t({ recompute: "none" }),
  },
};

export const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;

/** Returns a model's step on all networks by all methods. */
async function onNetworks(step, clock, methods, known) {
  const rows = [];
  for (const name of NETWORKS) {
    const topology = network(name);
    const row = { network: name };
    for (const method of methods) {
      const { us, exposedUs, computeUs } = await iteration(topology, step, costsBy(topology, method, known), clock);
      row[method] = { us, exposedUs };
      row.computeUs = computeUs;
    }
    rows.push(row);
  }
  return rows;
}

/** Returns the mean and the greatest of the speed-ups over the baseline; with `computeUs`, were computing to take that. */
function speedUps(rows, method, computeUs = null) {
  const us = (one) => (computeUs === null ? one.us : computeUs + one.exposedUs);
  const each = rows.map((row) => us(row.baseline) / us(row[method]));
  return { mean: mean(each), greatest: Math.max(...each) };
}

/** Returns the time of computing with which the greatest speed-up is the printed one; less of it, and it is greater. */
function computeFor(rows, printed) {
  let [low, high] = [0, 1e9];
  for (let i = 0; i < 200; i++) {
    const middle = (low + high) / 2;
    if (speedUps(rows, "scf", middle).greatest > printed) low = middle;
    else high = middle;
  }
  return high;
}

/**
 * Figure 12, over what the text leaves open; and for each model the time of computing with which Themis' greatest speed-up is the
 * printed one, and what the other figures are then.
 */
export async function figure12(progress) {
  const known = new Map();
  const trials = [];
  for (const [model, steps] of Object.entries(STEPS)) {
    for (const [what, make] of Object.entries(steps)) {
      const step = make();
      for (const [clockName, clock] of Object.entries(CLOCKS)) {
        progress(`Themis: ${model}, ${what}, ${clockName}`);
        const own = what === LOOKUPS ? withTableLookups(clock) : clock;
        const rows = await onNetworks(step, own, METHODS, known);
        const found = Object.fromEntries(METHODS.slice(1).map((method) => [method, speedUps(rows, method)]));
        trials.push({ model, what, clock: clockName, computeUs: rows[0].computeUs, rows, ...found });
      }
    }
  }
  const inverted = PRINTED.map(({ model, scf }) => {
    const { rows, what } = trials.find((trial) => trial.model === model);
    const computeUs = computeFor(rows, scf[1]);
    const found = Object.fromEntries(METHODS.slice(1).map((method) => [method, speedUps(rows, method, computeUs)]));
    return { model, what, computeUs, ...found };
  });
  return { trials, inverted, exposed: exposedRatios(trials) };
}

/** Returns how many times less exposed communication there is, the mean over all networks of the first step of each model. */
function exposedRatios(trials) {
  const first = PRINTED.map(({ model }) => trials.find((trial) => trial.model === model));
  const over = (method) =>
    mean(first.flatMap(({ rows }) => rows.map((row) => row.baseline.exposedUs / row[method].exposedUs)));
  return { scf: over("scf"), ideal: over("ideal") };
}

/** Figure 4: what part of the bandwidth exposed communications of the baseline use, that of all dimensions or of those that a group has. */
export const FIGURE_4 = { mean: 59.7, least: 35.1, current: 97.7 };
/** A platform like DGX-2's: 1,200 and 100 Gb/s. */
const CURRENT = "switch:16*switch:64@150,12.5GB/s,0.7,1.7us";

export async function figure4({ trials }) {
  const models = ["ResNet-152", "GNMT", "Transformer-1T"];
  const first = models.map((model) => trials.find((trial) => trial.model === model));
  const use = (method) =>
    first.flatMap(({ rows }) => rows.map((row) => (100 * row[method].exposedUs) / row.baseline.exposedUs));
  const [whole, own] = [use("whole"), use("ideal")];
  const topology = network(CURRENT);
  const everyone = { members: Int32Array.from({ length: topology.npuCount }, (_, i) => i), size: topology.npuCount };
  const known = new Map();
  const [ideal, baseline] = await Promise.all(
    ["whole", "baseline"].map((method) => costsBy(topology, method, known)("allreduce", everyone, 120e6)),
  );
  return {
    network: CURRENT,
    whole: { mean: mean(whole), least: Math.min(...whole) },
    own: { mean: mean(own), least: Math.min(...own) },
    current: (100 * ideal.ps) / baseline.ps,
  };
}
