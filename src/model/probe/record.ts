import type { Measurement, ProbeEndpoint } from "./measurements.ts";

/** Everything that a probe measured, as its file has it; what is inferred of it can be inferred again. */
export interface ProbeRecord {
  /** How it was measured, for people: "Open MPI 4.1.4: mpirun -np 4". */
  readonly by: string;
  /** Bytes of the flows, and random mixes, that were asked for; null: as inference chooses. The same are needed to infer again. */
  readonly asked: { readonly bytes: number | null; readonly mixes: number | null };
  readonly resolutionS: number;
  readonly endpoints: readonly ProbeEndpoint[];
  readonly measurements: readonly Measurement[];
}

export const PROBE_RECORD = "banyan-measurements";
