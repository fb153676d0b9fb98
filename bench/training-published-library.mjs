// The built library as `training-published-steps.mjs` takes it.
import { boxTopology } from "../dist/model/presets/boxes.js";
import { acceleratorNamed } from "../dist/model/workload/accelerators.js";
import { modelNamed } from "../dist/model/workload/models.js";
import { ALONE } from "../dist/model/workload/parallelism.js";
import { placedStep } from "../dist/model/workload/placed-tasks.js";
import { ATTENTION_SHARES, computationPs, DEFAULT_EFFICIENCIES } from "../dist/model/workload/roofline.js";
import { defaultOptions } from "../dist/model/workload/transformer/options.js";
import { transformerStep } from "../dist/model/workload/transformer.js";
import { communicationCosts } from "../dist/run/training/costs.js";
import { simulateTraining } from "../dist/run/training/train.js";

export const LIBRARY = {
  boxTopology,
  acceleratorNamed,
  modelNamed,
  ALONE,
  ATTENTION_SHARES,
  computationPs,
  DEFAULT_EFFICIENCIES,
  defaultOptions,
  transformerStep,
  communicationCosts,
  placedStep,
  simulateTraining,
};
