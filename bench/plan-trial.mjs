// A row of `bench -- plan` in a process of its own: plan-trial.mjs CASE. One message, answered by what was found.
import { openEngine, topology } from "../dist/index.js";
import { withGradients } from "../dist/model/tensor-graph/backward.js";
import { transformerGraph } from "../dist/model/tensor-graph/models/transformer.js";
import { meshOf } from "../dist/model/tensor-plan/mesh.js";
import { acceleratorNamed, customAccelerator } from "../dist/model/workload/accelerators.js";
import { modelNamed } from "../dist/model/workload/models.js";
import { optimizerBytes } from "../dist/model/workload/sharing.js";
import { planStep } from "../dist/run/plan/plan.js";
import { ROOM } from "../dist/run/training/training.js";
import { CASES, PASSES, SECONDS, SEQUENCE, STAGES } from "./plan-cases.mjs";
import { answerWith } from "./support.mjs";

const { model, network, axes, accelerator: given, batch } = CASES[Number(process.argv[2])];

const { config } = modelNamed(model).sizes;
const accelerator = typeof given === "string" ? acceleratorNamed(given) : customAccelerator(given, "bf16", null);

/** Costs by volume and bandwidth, axis after axis from the last, without latency (Zhao 2026, 5.4). */
const byVolume = (mesh) => ({
  movePs(kind, set, bytes) {
    let [ps, left] = [0, bytes];
    for (let j = mesh.axes.length - 1; j >= 0; j--) {
      if (((set >> j) & 1) === 0) continue;
      const [size, bytesPerSecond] = axes[j];
      ps += ((kind === "allreduce" ? 2 : 1) * ((left * (size - 1)) / size) * 1e12) / bytesPerSecond;
      if (kind !== "alltoall") left /= size;
    }
    return ps;
  },
  madeCount: () => 0,
  areMade: () => false,
  make: async () => 0,
});

const words = ({ stages }) => ({
  stages: stages.length,
  mesh: stages[0].plan.mesh.axes.map(({ size }) => size).join("x"),
  passes: stages[0].terms.microBatches,
});

/** What tells plans apart: where every tensor lies, in how many passes. */
const stateOf = ({ stages }) =>
  JSON.stringify(
    stages.map(({ plan, terms }) => [
      terms.microBatches,
      plan.nodes.map((node) => [node.pattern, node.retention, node.home, node.forwardCopies, node.backwardCopies]),
    ]),
  );

/** One stage of all NPUs, and as many stages as there are to be, cut along the first axis. */
const [first, ...inner] = axes.map(([size]) => size);
const shapes = STAGES.filter((stages) => first % stages === 0).map((stages) => ({
  stages,
  mesh: meshOf([first / stages, ...inner], ["A", "B", "C"]),
}));
const forwardOf = (samples) => transformerGraph(config, { batch: samples, sequence: SEQUENCE, precision: "bf16" });

answerWith(async () => {
  const on = topology(network);
  const engine = await openEngine();
  let collectives = 0;
  const request = {
    forwardOf,
    graphOf: (samples) => withGradients(forwardOf(samples)),
    batch,
    passes: PASSES,
    shapes,
    accelerator,
    precision: "bf16",
    memoryBytes: Math.floor(ROOM * accelerator.memoryBytes),
    optimizerBytes: optimizerBytes("adam", 2),
    gradientBytes: 2,
    algorithm: "library",
    timeLimitMs: 1000 * SECONDS,
    onProgress: (what) => {
      if (what === "collectives") collectives++;
    },
  };
  try {
    const began = performance.now();
    const found = await planStep(engine, on, request);
    const seconds = (performance.now() - began) / 1000;
    const made = collectives;
    const volume = await planStep(engine, on, { ...request, costsOf: byVolume });
    // what the search by volume takes for the best, before steps are simulated
    const [chosen] = [volume.best, ...volume.others].sort((a, b) => a.countedPs - b.countedPs);
    const { best, byHand, gap, boundPs } = found;
    return {
      seconds,
      collectives: made,
      npus: on.npuCount,
      stepMs: best.ps / 1e9,
      countedMs: best.countedPs / 1e9,
      boundMs: boundPs / 1e9,
      gap,
      memoryGiB: Math.max(...best.stages.map(({ memory }) => memory.total)) / 2 ** 30,
      ...words(best),
      byHandMs: byHand === null ? null : byHand.ps / 1e9,
      hand: byHand === null ? null : { ...byHand.hand, ...words(byHand) },
      volume: {
        stepMs: chosen.ps / 1e9,
        countedMs: chosen.countedPs / 1e9,
        isOther: stateOf(chosen) !== stateOf(best),
        ...words(chosen),
      },
    };
  } catch (error) {
    if (error?.exitCode !== 2) throw error;
    return { npus: on.npuCount, refused: error.message };
  } finally {
    await engine.close();
  }
});
