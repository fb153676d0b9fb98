import type { Kernels } from "../../src/engine/kernels/kernels.ts";
import { type Collective, collective, type NamedCollective } from "../../src/model/collective.ts";
import type { StepSchedule } from "../../src/model/step-schedule.ts";
import type { Topology } from "../../src/model/topology.ts";
import { synthesizerNamed } from "../../src/synthesize/catalog.ts";
import type { KernelRunner, Synthesis, SynthesisRequest } from "../../src/synthesize/synthesizer.ts";

/** Returns a runner on kernels at hand; `width` trials at a time. */
export const inlineRunner = (kernels: Kernels, width = 1): KernelRunner => ({
  width,
  match: async (problem) => kernels.match(problem),
  relay: async (problem) => kernels.relay(problem),
  place: async (problem) => kernels.place(problem),
});

/** Returns the collective over all NPUs of a network. */
export function wholeCollective(
  topology: Topology,
  kind: NamedCollective,
  sizeBytes: number,
  chunksPerNpu = 1,
  rootRank = 0,
): Collective {
  const everyone = Int32Array.from({ length: topology.npuCount }, (_, npu) => npu);
  return collective({ kind, groups: [everyone], sizeBytes, chunksPerNpu, rootRank });
}

/** Returns what the named synthesizer makes, with the request's other fields at their defaults. */
export function synthesizeWith(
  kernels: Kernels,
  request: Pick<SynthesisRequest, "topology" | "collective"> & Partial<SynthesisRequest>,
  { algorithm = "tacos", width = 1 } = {},
): Promise<Synthesis> {
  const complete = { seed: 1, trials: null, policy: null, switchDegree: null, ...request };
  return synthesizerNamed(algorithm).synthesize(complete, { runner: inlineRunner(kernels, width) });
}

/** Returns the columns of a schedule as plain arrays, for comparison. */
export const columnsOf = ({ chunk, route, startPs, endPs, op }: StepSchedule) => ({
  chunk: [...chunk],
  route: [...route],
  startPs: [...startPs],
  endPs: [...endPs],
  op: [...op],
});
