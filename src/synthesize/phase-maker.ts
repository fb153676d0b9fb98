import type { Collective } from "../model/collective/collective.ts";
import type { PhaseSchedule } from "../model/phases/phase-schedule.ts";
import type { Topology } from "../model/topology/topology.ts";
import type { Maker, MakerOptions } from "./maker.ts";

export interface PhaseRequest {
  readonly topology: Topology;
  /** Its chunksPerNpu is the number of chunks. */
  readonly collective: Collective;
  readonly policy: string | null;
  /** Switches that can sum and duplicate do so. */
  readonly offload: boolean;
  /** The request as the caller made it: options that have no field here are found in it. */
  readonly own?: MakerOptions;
}

export interface PhaseSynthesis {
  readonly schedule: PhaseSchedule;
  /** In words: how the chunks were ordered. */
  readonly policy: string;
  /** What the user should know, in words. */
  readonly notes: readonly string[];
  /** To be taken instead where its steps end earlier, for which phases one by one are no measure. */
  readonly instead?: PhaseSynthesis;
}

/** One way to make schedules of phases within the dimensions of a hierarchical network. */
export interface PhaseMaker extends Maker {
  readonly makes: "phases";
  /** Returns the number of chunks with which it does best, asked where the user does not say; the request has one. */
  ownChunks(request: PhaseRequest): number;
  /** Throws InputError when the request asks for what it cannot do. */
  makePhases(request: PhaseRequest): PhaseSynthesis;
}
