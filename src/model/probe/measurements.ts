/** What can send and receive in a probe: NPUs (processes), and, where the prober reaches them, the memory of CPUs, and NICs in a loop. */
export interface ProbeEndpoint {
  readonly kind: "npu" | "cpu" | "nic";
  readonly name: string;
  /** Machine that it is in; endpoints of one machine have the same text. */
  readonly host: string;
}

/** Data from one endpoint to another, by number. */
export interface ProbeFlow {
  readonly source: number;
  readonly target: number;
}

/** Flows that start at the same time, each of `bytes` bytes, and again until all have ended; `repeats` times in all. */
export interface Experiment {
  readonly flows: readonly ProbeFlow[];
  readonly bytes: number;
  readonly repeats: number;
}

/** What came of an experiment. */
export interface Measurement {
  readonly experiment: Experiment;
  /** [repeats x flows] seconds from the common start until a flow's data has arrived. */
  readonly seconds: Float64Array;
}

/** What measures: MPI processes, torch, or a simulation of hidden wiring. */
export interface Prober {
  readonly endpoints: readonly ProbeEndpoint[];
  /** Of one flow at a time no faster than this clock is told apart, seconds. */
  readonly resolutionS: number;
  /** Returns whether data can be sent from one endpoint to another; without it all NPUs reach each other, and what is in one machine. */
  readonly reaches?: (source: number, target: number) => boolean;
  /** Makes the experiments one after the other. Throws where the processes cannot be started, or end early. */
  measure(experiments: readonly Experiment[]): Promise<readonly Measurement[]>;
}

/** Returns whether a prober can send from one endpoint to another. */
export function canSend(
  { endpoints, reaches }: Pick<Prober, "endpoints" | "reaches">,
  source: number,
  target: number,
): boolean {
  if (source === target) return false;
  if (reaches !== undefined) return reaches(source, target);
  const [from, to] = [endpoints[source], endpoints[target]];
  return (from.kind === "npu" && to.kind === "npu") || from.host === to.host;
}
