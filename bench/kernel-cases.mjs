// The problems on which kernels are measured: those that the TACOS synthesizer hands to its runner.
import { balanceRows } from "../dist/engine/contract/kernels.js";
import { openEngine } from "../dist/engine/engine.js";
import { graphOf } from "../dist/model/direct/construction.js";
import { transpose } from "../dist/model/direct/digraph.js";
import { parseConstruction } from "../dist/model/direct/parse.js";
import { presetTopology } from "../dist/model/presets/preset.js";
import { without } from "../dist/model/topology/modify.js";
import { KERNEL_CASES, kernelProblem } from "../dist/run/kernel-problems.js";
import { allToAllFlow } from "../dist/synthesize/alltoall/flow.js";

/**
 * The table of trials. `targets`: most seconds of the native backend; most times native for the other two. `rounds`
 * processes per backend, each timing `runs` calls after some that are not timed.
 */
export const CASES = [
  { name: "mesh:16x16", kernel: "spread", collective: "allgather", policy: "oldest", rounds: 5, runs: 20 },
  {
    name: "mesh:32x32",
    kernel: "spread",
    collective: "allgather",
    policy: "oldest",
    rounds: 5,
    runs: 5,
    targets: { native: 0.1, wasm: 2.5, js: 10 },
  },
  {
    name: "mesh:64x64",
    kernel: "spread",
    collective: "allgather",
    policy: "oldest",
    rounds: 5,
    runs: 1,
    targets: { native: 1.5, wasm: 2.5, js: 10 },
  },
  {
    name: "mesh:32x32@50,75GiB/s,0.5us",
    kernel: "match",
    collective: "allgather",
    policy: "oldest",
    rounds: 5,
    runs: 5,
  },
  {
    name: "mesh:40x40@50,75GB/s",
    kernel: "match",
    collective: "allgather",
    policy: "oldest",
    rounds: 5,
    runs: 3,
    targets: { native: 0.4, wasm: 2.5, js: 10 },
  },
  { name: "torus:32x32", kernel: "spread", collective: "allgather", policy: "neighbour-late", rounds: 5, runs: 5 },
  {
    name: "switch:64",
    kernel: "match",
    collective: "allgather",
    policy: "oldest",
    degree: "ports",
    rounds: 5,
    runs: 10,
  },
  { name: "mesh:16x16", kernel: "relay", collective: "alltoall", policy: "farthest", rounds: 5, runs: 1 },
  { name: "mesh:10x10", kernel: "place", collective: "allreduce", policy: "oldest", chunks: 8, rounds: 5, runs: 5 },
  { name: "Q(10)", kernel: "balance", rounds: 3, runs: 3, targets: { native: 0.1, wasm: 2.5, js: 20 } },
  { name: "Q(10)", kernel: "balance", parts: 2520, rounds: 3, runs: 3, targets: { native: 0.5, wasm: 2.5, js: 20 } },
  { name: "Torus(50,50)", kernel: "balance", rounds: 3, runs: 3, targets: { native: 0.1, wasm: 2.5, js: 20 } },
  {
    name: "Torus(50,50)",
    kernel: "balance",
    parts: 12,
    rounds: 3,
    runs: 1,
    targets: { native: 0.5, wasm: 2.5, js: 20 },
  },
  { name: "Pi(4,10000)", kernel: "balance", rounds: 3, runs: 1, targets: { native: 2, wasm: 2.5, js: 60 } },
  { name: "dbt:384", kernel: "concurrent", rounds: 3, runs: 1, targets: { native: 0.5, wasm: 2.5, js: 20 } },
  {
    name: "dgx-h100:128",
    kernel: "concurrent",
    gone: ["0-rail0", "9-rail1", "26-rail2"],
    rounds: 3,
    runs: 1,
    targets: { native: 4, wasm: 2.5, js: 20 },
  },
  { name: "Pi(16,2000)", kernel: "balance", rounds: 3, runs: 3, targets: { native: 0.1, wasm: 2.5, js: 60 } },
];

/** Kernels that are not in the table yet, one problem each. */
CASES.push(
  ...KERNEL_CASES.filter(({ kernel }) => CASES.every((trial) => trial.kernel !== kernel)).map((trial) => ({
    ...trial,
    name: `${trial.network} ${trial.algorithm}`,
    rounds: 3,
    runs: 5,
  })),
);

/** Most steps of the graphs above. */
const MAX_STEPS = 64;

/** Returns the balance of all nodes of a graph; with parts the shares too. */
function balanceProblem({ name, parts = 0 }) {
  const { nodes, offset, target } = transpose(graphOf(parseConstruction(name)));
  const columns = { inOffset: offset, inSource: target, targets: Int32Array.from({ length: nodes }, (_, v) => v) };
  const settings = { parts, wantsShares: Math.min(parts, 1), threads: 1, maxSteps: MAX_STEPS };
  const problem = { nodeCount: nodes, ...columns, ...settings };
  return { ...problem, maxRows: balanceRows(problem) };
}

/** Returns the flow of an all-to-all on a network without some of its parts, to 0.5 %. */
async function flowProblem({ name, gone = [] }) {
  let problem = null;
  const runner = {
    concurrent: async (task) => {
      problem = task;
      throw new Error("the problem is known");
    },
  };
  await allToAllFlow(without(presetTopology(name), gone), null, 0.005, runner, null).catch((error) => {
    if (problem === null) throw error;
  });
  return problem;
}

/** Returns the kernel problem of a case: the first of its kernel that making the schedule wants solved. */
export async function problemOf(trial, kernels) {
  const { name, kernel, collective, algorithm = "tacos", policy, degree: switchDegree, chunks } = trial;
  if (kernel === "balance") return balanceProblem(trial);
  if (kernel === "concurrent") return flowProblem(trial);
  const engine = await openEngine({ backend: kernels.backend, threads: 0 });
  const options = { collective, algorithm, policy, switchDegree, chunks };
  return kernelProblem(engine, { kernel, network: trial.network ?? name, ...options });
}
