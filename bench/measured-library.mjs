// The built library as `measured-cases.mjs` and `measured-gains.mjs` take it.
import { fitParts, partedUs } from "../dist/model/calibration/parts.js";
import { mpiRounds } from "../dist/model/collective/mpi-rounds.js";
import { ncclEstimates } from "../dist/model/nccl/model.js";
import { boxTopology } from "../dist/model/presets/boxes.js";
import { presetTopology } from "../dist/model/presets/preset.js";
import { compare } from "../dist/run/compare.js";

export const LIBRARY = { fitParts, partedUs, mpiRounds, ncclEstimates, boxTopology, presetTopology, compare };
