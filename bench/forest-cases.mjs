// What `npm run bench -- forest` measures: whole commands, and the kernels on the problems that ForestColl hands to its runner.

import { presetTopology } from "../dist/model/presets/preset.js";
import { without } from "../dist/model/topology/modify.js";
import { nodeCount } from "../dist/model/topology/topology.js";
import { problemOf as requested } from "../dist/request/problem.js";
import { forestcoll } from "../dist/synthesize/forestcoll/forestcoll.js";
import { optimumOf, packable } from "../dist/synthesize/forestcoll/optimum.js";
import { packingNetwork } from "../dist/synthesize/forestcoll/packing.js";

const TREES = "--collective allgather --algorithm forestcoll";
const SUMS = "--collective allreduce --algorithm forestcoll";
const fabric = (form) => `${form}@450,50GB/s`;

/**
 * Whole commands, start of Node included; all must be verified and, but for `least`, exactly optimal. Targets: `seconds`,
 * `synthesisSeconds`, `height` (most edges from a root). `least`: the least optimality that is enough. `exact`: the throughput in
 * GB/s, as published. `published`: how long ForestColl itself took. `extra`: for information. FILE is a file in a temporary
 * folder, kept until the group ends.
 */
export const COMMANDS = [
  [{ line: `synth dgx-a100:128 ${TREES}`, seconds: 2, height: 2, published: "36.5 min" }],
  [{ line: `synth dgx-h100:128 ${TREES}`, seconds: 2, height: 2 }],
  [{ line: `synth dgx-h100:128 --without 0-rail0 ${TREES}`, seconds: 4 }],
  [{ line: `synth mi250:64 ${TREES}`, seconds: 3, published: "37.7 min" }],
  ...[
    ["leaf=32,tiers=2,oversub=1", 2],
    ["leaf=32,tiers=2,oversub=2", 11],
    ["leaf=16,tiers=3,oversub=1", 2],
    ["leaf=16,tiers=3,oversub=2", 11],
  ].map(([form, height]) => [{ line: `synth ${fabric(`fat-tree:128x8,${form}`)} ${TREES}`, seconds: 5, height }]),
  [
    {
      line: `synth ${fabric("fat-tree:128x8,leaf=32,tiers=2,oversub=2")} --without 0-leaf0 ${TREES}`,
      seconds: 10,
      extra: true,
    },
  ],
  [{ line: `synth dgx-h100:512 ${TREES}`, seconds: 30 }],
  [{ line: `synth ${fabric("fat-tree:512x8,leaf=32,tiers=2,oversub=2")} ${TREES}`, seconds: 120 }],
  [{ line: `synth torus:128x128 ${TREES}`, seconds: 2 }],
  [{ line: `synth torus:8x8 ${TREES}`, height: 10 }],
  [{ line: `synth torus:16x16 ${TREES}`, height: 24 }],
  [{ line: `synth mi250:1 ${TREES}`, height: 6 }],
  [{ line: `synth mi250:2 ${TREES}`, exact: "5312/15" }],
  [{ line: `synth dgx-h100:5000 ${TREES}`, seconds: 120, height: 2, extra: true }],
  [{ line: `synth dgx-h100:512 --without 0-rail0 ${TREES}`, seconds: 120, extra: true }],
  // buffer/time at link rate 1: 3/2, 8/5, 5/3
  ...[
    ["3x3", "75"],
    ["4x4", "80"],
    ["5x5", "250/3"],
  ].map(([sides, exact]) => [{ line: `synth mesh:${sides} ${SUMS}`, exact }]),
  [{ line: `synth mesh:32x32 ${SUMS}`, seconds: 30, extra: true }],
  [
    { line: `synth dgx-h100:128 ${TREES} -o FILE.json` },
    {
      line: `synth dgx-h100:128 --without 0-rail0 ${TREES} --repair FILE.json`,
      synthesisSeconds: 1,
      least: 0.99,
    },
  ],
];

/** The optimum alone: commands, and the native kernel. */
export const OPTIMA = [
  { topology: "torus:128x128", seconds: 1 },
  { topology: "dgx-h100:2048", seconds: 1 },
  { topology: "dgx-h100:5000", seconds: 120 },
];

/** Networks on which simulated times of 1 GiB and 1 MiB are held against the bound of throughput. */
export const SIZED = [
  "dgx-a100:2",
  "mi250:2",
  "torus:8x8",
  "dgx-a100:128",
  fabric("fat-tree:16x8,leaf=4,tiers=2,oversub=2"),
];
/** Least share of that bound at 1 GiB. */
export const LARGE_SHARE = 0.95;
/** Further options, tried for the smaller size beside what synth does by itself. */
export const WAYS = ["--policy shallow", "--policy even", "--k auto"];

const A100 = "dgx-a100:128";
const packing = (topology, native, gone) => ({
  name: topology,
  kernel: "pack",
  gone,
  rounds: 1,
  runs: 2,
  targets: { native, wasm: 3 },
});

/** Kernels: as in kernel-cases.mjs. `gone`: what has failed. `native`: on this backend only. */
export const CASES = [
  { name: A100, kernel: "rate", rounds: 2, runs: 20, targets: { wasm: 3 } },
  { name: A100, kernel: "sweep", sinks: "all", rounds: 2, runs: 20, targets: { wasm: 3 } },
  { name: A100, kernel: "sweep", sinks: "one", rounds: 2, runs: 200, targets: { native: 0.00013, wasm: 3 } },
  packing(A100, 0.5),
  packing("dgx-h100:128", 1.5, "0-rail0"),
  packing("mi250:64", 1.5),
  { name: "fc:1024", kernel: "arborescence", rounds: 1, runs: 3, targets: { wasm: 3 } },
  ...OPTIMA.map(({ topology, seconds }) => ({
    name: topology,
    kernel: "rate",
    native: true,
    rounds: 1,
    runs: 1,
    targets: { native: seconds },
  })),
];

/** Returns the kernel problem of a case. */
export async function problemOf({ name, kernel, gone, sinks }, kernels) {
  const whole = presetTopology(name);
  const topology = gone === undefined ? whole : without(whole, [gone]);
  if (kernel === "arborescence") return spanned(topology);
  const { collective } = requested(topology, { collective: "allgather", sizeBytes: 2 ** 30, chunks: 1 });
  if (kernel === "pack") return packed(topology, collective, kernels);
  const network = packingNetwork(topology, collective.groupMembers, topology.linkBytesPerSecond, "out");
  const weight = new Float64Array(network.npuCount).fill(1);
  const columns = {
    nodeCount: network.nodeCount,
    linkSource: network.linkSource,
    linkTarget: network.linkTarget,
  };
  if (kernel === "rate") return { ...columns, npuCount: network.npuCount, capacity: network.bandwidth, weight };
  const { capacity, copies } = packable(await optimumOf(network, weight, (problem) => kernels.rate(problem)));
  const supply = new Float64Array(network.nodeCount);
  supply.set(copies);
  const all = Int32Array.from(copies.keys());
  return { ...columns, capacity, supply, sinks: sinks === "one" ? all.slice(-1) : all };
}

/** The network's own links at costs that look random, from node 0. */
function spanned(topology) {
  const { linkSource, linkTarget } = topology;
  return {
    nodeCount: nodeCount(topology),
    root: 0,
    arcSource: linkSource,
    arcTarget: linkTarget,
    cost: Float64Array.from(linkSource, (_, link) => (Math.imul(link + 1, 0x9e3779b1) >>> 0) % 1000),
  };
}

/** The first packing that the synthesizer wants where it may not use symmetry. */
async function packed(topology, collective, kernels) {
  let first = null;
  const stop = new Error("the problem is known");
  const request = {
    topology,
    collective,
    usable: topology.linkBytesPerSecond,
    copiesPerRoot: null,
    seed: 1,
    policy: "shallow",
    repair: null,
  };
  const runner = {
    rate: async (problem) => kernels.rate(problem),
    width: () => 1,
    pack: async (problem) => {
      first = problem;
      throw stop;
    },
  };
  try {
    await forestcoll.make(request, { kernels: runner });
  } catch (error) {
    if (error !== stop) throw error;
  }
  return first;
}
