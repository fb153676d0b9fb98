import type { Kernels } from "../../src/engine/contract/kernels.ts";
import { type Collective, collective, type NamedCollective } from "../../src/model/collective/collective.ts";
import { stepsOf } from "../../src/model/steps/schedule.ts";
import type { StepSchedule } from "../../src/model/steps/step-schedule.ts";
import type { Topology } from "../../src/model/topology/topology.ts";
import { synthesizerNamed } from "../../src/synthesize/catalog.ts";
import type { KernelRunner, Synthesis, SynthesisRequest } from "../../src/synthesize/synthesizer.ts";
import { everyone } from "./everyone.ts";

/** Returns a runner on kernels at hand; `width` trials at a time. */
export const inlineRunner = (kernels: Kernels, width = 1): KernelRunner => ({
  width,
  match: async (problem) => kernels.match(problem),
  spread: async (problem) => kernels.spread({ ...problem, threads: 1 }),
  relay: async (problem) => kernels.relay(problem),
  place: async (problem) => kernels.place(problem),
  period: async (problem) => kernels.period(problem),
  balance: async (problem) => kernels.balance({ ...problem, threads: 1 }),
  concurrent: async (problem) => kernels.concurrent(problem),
});

/** Returns the collective over all NPUs of a network. */
export function wholeCollective(
  topology: Topology,
  kind: NamedCollective,
  sizeBytes: number,
  chunksPerNpu = 1,
  rootRank = 0,
): Collective {
  return collective({ kind, groups: [everyone(topology.npuCount)], sizeBytes, chunksPerNpu, rootRank });
}

/** Returns what the named synthesizer makes, transfer by transfer; the request's other fields are at their defaults. */
export async function synthesizeWith(
  kernels: Kernels,
  request: Pick<SynthesisRequest, "topology" | "collective"> & Partial<SynthesisRequest>,
  { algorithm = "tacos", width = 1 } = {},
): Promise<Synthesis & { readonly schedule: StepSchedule }> {
  const complete = { seed: 1, trials: null, policy: null, switchDegree: null, ...request };
  const found = await synthesizerNamed(algorithm).synthesize(complete, { runner: inlineRunner(kernels, width) });
  return { ...found, schedule: stepsOf(found.schedule) };
}

/** Returns the columns of a schedule as plain arrays, for comparison. */
export const columnsOf = ({ chunk, route, startPs, endPs, op }: StepSchedule) => ({
  chunk: [...chunk],
  route: [...route],
  startPs: [...startPs],
  endPs: [...endPs],
  op: [...op],
});
