import type { Program } from "../../model/program/program.ts";
import type { Topology } from "../../model/topology/topology.ts";
import type { ProgramNetwork } from "./program-network.ts";
import type { ProgramRoutes } from "./program-routes.ts";
import type { Sizes } from "./program-sizes.ts";
import type { TimelineDraft } from "./program-timeline.ts";

/** What the machines of both kinds of programs are given. */
export interface Setup {
  readonly program: Program;
  readonly topology: Topology;
  readonly npuOfRank: Int32Array;
  readonly sizes: Sizes;
  readonly network: ProgramNetwork;
  readonly routes: ProgramRoutes;
  readonly timeline: TimelineDraft;
  /** Picoseconds that a thread block takes to copy or add a byte; 0: none. */
  readonly localPsPerByte: number;
  readonly onProgress: (done: number, total: number) => void;
}

/** What a machine tells when nothing happens any more. */
export interface Outcome {
  /** [blocks] when its last instruction was complete. */
  readonly blockEndPs: Float64Array;
  readonly instructions: number;
  /** Instructions that wait for ever. */
  readonly stuck: readonly number[];
}

/** Events between two reports of progress. */
export const REPORT = 65_536;
