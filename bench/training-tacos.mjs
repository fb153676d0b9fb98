// Figures 20 and 21 of TACOS (Won et al., MICRO 2024): iterations of four models with its schedules, rings and Themis.
import { ALONE } from "../dist/model/workload/parallelism.js";
import { defaultOptions } from "../dist/model/workload/transformer/options.js";
import { transformerStep } from "../dist/model/workload/transformer.js";
import { communicationCosts } from "../dist/run/training/costs.js";
import { groupedBy } from "./support.mjs";
import { network } from "./themis-trials.mjs";
import { blockingStep, CLOCKS, copiesStep, iteration, modelWith } from "./training-steps.mjs";
import { costsBy } from "./training-themis.mjs";

const HALF = "0.25us";
/** 2 x 4 x nodes (VI-B.1), bandwidths of a link, or of an NPU in a dimension, all its links together. */
const rfs = (nodes, isShared) =>
  `ring:2*fc:4*switch:${nodes}@${isShared ? "100,33.333" : "200,100"},50GB/s,0.5us,0.5us,${HALF}`;
/** 1,024 NPUs; the shape is not printed, this one has the 128 of MSFT-1T in two whole dimensions. */
const TORUS = "torus:16x8x8@50GB/s,0.5us";

/** Printed: shares of the ideal, percent; speed-ups of TACOS "across all workloads". */
export const PRINTED = {
  figure20: { communication: 82.38, iteration: 93.61 },
  figure21: { communication: 93.17, iteration: 97.32 },
  overRing: 1.58,
  overThemis: 1.21,
};

/** MSFT-1T as LIBRA has it: products split among 128, 16 sequences of 1,024 a copy. */
export function msft1t(npus) {
  const { config } = modelWith("msft-1t").sizes;
  const parallelism = { ...ALONE, tensor: 128, data: npus / 128, zero: 0 };
  const sizes = { parallelism, batch: 16 * parallelism.data, microBatch: 16, sequence: 1024 };
  const options = { ...defaultOptions(config), ...sizes, precision: "fp16", optimizer: "none" };
  return blockingStep(transformerStep(config, { ...options, bucketBytes: Number.POSITIVE_INFINITY }), ["tensor"]);
}

const SHARED = "per NPU and dimension";
const PER_LINK = "per link";

/** Batches: Themis' for GNMT, 32 images as its ResNet's, 32 sequences of 256 as LIBRA's Turing-NLG. */
const CASES = [
  ...[true, false].flatMap((isShared) => {
    const of = (nodes) => ({ figure: 20, reading: isShared ? SHARED : PER_LINK, network: rfs(nodes, isShared) });
    const [few, many] = [of(8), of(32)];
    const nlg = () => copiesStep(modelWith("turing-nlg-17b"), 256, 32, { sequence: 256 });
    return [
      { ...few, model: "GNMT", chunks: 4, make: () => copiesStep(modelWith("gnmt"), 64, 128) },
      { ...many, model: "ResNet-50", chunks: 2, make: () => copiesStep(modelWith("resnet-50"), 256, 32) },
      { ...many, model: "Turing-NLG", chunks: 2, make: nlg },
    ];
  }),
  {
    ...{ figure: 21, reading: null, model: "ResNet-50", network: TORUS, chunks: 1 },
    make: () => copiesStep(modelWith("resnet-50"), 1024, 32),
  },
  { figure: 21, reading: null, model: "MSFT-1T", network: TORUS, chunks: 1, make: () => msft1t(1024) },
];

/** TACOS' ideal of a group: what each NPU sends at the sum of its bandwidths in the dimensions that the group has, and no latency. */
const idealCosts = (topology) => {
  const everyone = topology.npuCount;
  return async (kind, groups, bytes) => {
    const { ps } = await costsBy(topology, "ideal", new Map())(kind, groups, bytes);
    return { algorithm: "ideal", ps, use: new Float64Array(everyone) };
  };
};

/** Groups of so few get more chunks: on a ring of 8, one goes one way only. */
const FEW = 8;
const FEW_CHUNKS = 4;
const SMALL = 2 ** 20;

/** Returns what gives the costs of each method. */
function methodsOn(table, chunks) {
  const [tacos, ofFew] = [chunks, FEW_CHUNKS].map((count) => table.by({ algorithm: "tacos", chunks: count }));
  const themis = table.by({ algorithm: "themis", chunks: 64 });
  return {
    // the head's sums of 197 kB in groups of 128 would be searched for minutes, and are 0.001 % of a step
    tacos: (kind, groups, bytes) => (bytes < SMALL ? themis : groups.size <= FEW ? ofFew : tacos)(kind, groups, bytes),
    ring: table.by({ algorithm: "ring", policy: "bidirectional" }),
    themis,
  };
}

export async function figures20And21(engine, progress) {
  const rows = [];
  for (const { figure, reading, model, network: name, chunks, make } of CASES) {
    const topology = network(name);
    const table = communicationCosts(engine, topology);
    const step = make();
    const costs = methodsOn(table, chunks);
    for (const [clockName, clock] of Object.entries(CLOCKS)) {
      const row = { figure, reading, model, network: name, clock: clockName };
      for (const [key, costOf] of Object.entries({ ...costs, ideal: idealCosts(topology) })) {
        progress(`TACOS: ${model} on ${name}, ${key}`);
        const { us, computeUs, exposedUs } = await iteration(topology, step, costOf, clock);
        row[key] = { us, exposedUs };
        row.computeUs = computeUs;
      }
      row.communication = (100 * row.ideal.exposedUs) / row.tacos.exposedUs;
      row.iteration = (100 * row.ideal.us) / row.tacos.us;
      row.overRing = row.ring.us / row.tacos.us;
      row.overThemis = row.themis.us / row.tacos.us;
      rows.push(row);
    }
  }
  return { rows, means: meansOf(rows), implied: impliedOf(rows) };
}

const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;

/** Means by reading and by where the time of computing comes from. */
function meansOf(rows) {
  return [SHARED, PER_LINK].flatMap((reading) => {
    const read = rows.filter((row) => row.reading === reading || row.reading === null);
    return [...groupedBy(read, ({ clock }) => clock)].map(([clock, own]) => {
      const over = (figure, key) => mean(own.filter((row) => row.figure === figure).map((row) => row[key]));
      return {
        ...{ reading, clock },
        communication: [20, 21].map((figure) => over(figure, "communication")),
        iteration: [20, 21].map((figure) => over(figure, "iteration")),
        overRing: mean(own.map((row) => row.overRing)),
        overThemis: mean(own.map((row) => row.overThemis)),
      };
    });
  });
}

/** Both printed shares tell how long computing takes, by the ideal communication: (c + 1) / (c + 1 / communication) = iteration. */
const IMPLIED = [PRINTED.figure20, PRINTED.figure21].map(({ communication, iteration: whole }) => {
  const [part, all] = [communication / 100, whole / 100];
  return (all / part - 1) / (1 - all);
});

/** Returns the speed-ups of our communications with computing of that length. */
function impliedOf(rows) {
  const own = rows.filter(({ clock }) => clock === rows[0].clock);
  const speedUps = own.map((row) => {
    const computeUs = IMPLIED[row.figure - 20] * row.ideal.exposedUs;
    const over = (key) => (computeUs + row[key].exposedUs) / (computeUs + row.tacos.exposedUs);
    return { reading: row.reading, overRing: over("ring"), overThemis: over("themis") };
  });
  return {
    computing: IMPLIED,
    means: [SHARED, PER_LINK].map((reading) => {
      const read = speedUps.filter((one) => one.reading === reading || one.reading === null);
      const over = (key) => mean(read.map((one) => one[key]));
      return { reading, overRing: over("overRing"), overThemis: over("overThemis") };
    }),
  };
}
