import { InternalError } from "../../errors.ts";
import type { PhaseMaker } from "../phase-maker.ts";

/** BlueConnect (Cho et al., IBM JRD 2019): reduce-scatters over the dimensions 1..D, then all-gathers over D..1 (Themis, 2.3). */
export const blueconnect: PhaseMaker = {
  name: "blueconnect",
  description: "BlueConnect: reduce-scatters over the dimensions in turn, then all-gathers the other way (baseline)",
  collectives: ["allgather", "reducescatter", "allreduce"],
  policies: [],
  ownChunks: () => 64,
  makePhases() {
    throw new InternalError("not there yet");
  },
};
