import { InternalError } from "../../errors.ts";
import type { PhaseMaker } from "../phase-maker.ts";

/** Themis (Rashidi et al., ISCA 2022): each chunk takes the dimensions in an order of its own, the least loaded first. */
export const themis: PhaseMaker = {
  name: "themis",
  description: "Themis: each chunk takes the dimensions in an order of its own, the least loaded first",
  collectives: ["allgather", "reducescatter", "allreduce"],
  policies: ["scf", "fifo"],
  ownChunks: () => 64,
  makePhases() {
    throw new InternalError("not there yet");
  },
};
