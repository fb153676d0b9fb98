// The built library as `measured-cases.mjs` and `measured-gains.mjs` take it.
import { collectiveCost } from "../dist/model/collective/collective-cost.js";
import { mpiRounds } from "../dist/model/collective/mpi-rounds.js";
import { ncclEstimates } from "../dist/model/nccl/model.js";
import { nonNegativeLeastSquares, ownLength } from "../dist/model/numbers/least-squares.js";
import { boxTopology } from "../dist/model/presets/boxes.js";
import { presetTopology } from "../dist/model/presets/preset.js";
import { linkClasses } from "../dist/model/topology/link-classes.js";
import { compare } from "../dist/run/compare.js";

export const LIBRARY = {
  nonNegativeLeastSquares,
  ownLength,
  collectiveCost,
  mpiRounds,
  ncclEstimates,
  boxTopology,
  presetTopology,
  linkClasses,
  compare,
};
