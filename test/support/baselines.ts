import { jsKernels } from "../../src/engine/kernels/js/kernels.ts";
import {
  type Collective,
  collective as collectiveOf,
  type NamedCollective,
} from "../../src/model/collective/collective.ts";
import { presetTopology } from "../../src/model/presets/preset.ts";
import type { StepSchedule } from "../../src/model/steps/step-schedule.ts";
import type { Topology } from "../../src/model/topology/topology.ts";
import { synthesizerNamed } from "../../src/synthesize/catalog.ts";
import type { SynthesisRequest } from "../../src/synthesize/synthesizer.ts";
import { inlineRunner } from "./synthesis.ts";

const CONTEXT = { runner: inlineRunner(jsKernels) };

export interface Asked {
  readonly algorithm: string;
  readonly network: string | Topology;
  readonly kind: NamedCollective;
  /** Without it what the algorithm finds best. */
  readonly chunks?: number;
  readonly sizeBytes?: number;
  readonly policy?: string | null;
  /** Groups of NPUs in rank order; without it all NPUs. */
  readonly groups?: readonly Int32Array[];
  readonly rootRank?: number;
}

function requestOf(asked: Asked, chunksPerNpu: number): SynthesisRequest {
  const topology = typeof asked.network === "string" ? presetTopology(asked.network) : asked.network;
  const { kind, sizeBytes = 2 ** 20, policy = null, rootRank = 0 } = asked;
  const groups = asked.groups ?? [Int32Array.from({ length: topology.npuCount }, (_, npu) => npu)];
  const collective: Collective = collectiveOf({ kind, groups, sizeBytes, chunksPerNpu, rootRank });
  return { topology, collective, seed: 1, trials: null, policy, switchDegree: null };
}

/** Returns what a baseline makes, with its own number of chunks where none is given. */
export async function baselineSchedule(asked: Asked): Promise<StepSchedule> {
  const synthesizer = synthesizerNamed(asked.algorithm);
  const chunks = asked.chunks ?? (await synthesizer.ownChunks?.(requestOf(asked, 1), CONTEXT)) ?? 1;
  return (await synthesizer.synthesize(requestOf(asked, chunks), CONTEXT)).schedule as StepSchedule;
}

/** Returns why an algorithm cannot be used; null where it can. */
export function refusal(asked: Asked): string | null {
  const { topology, collective } = requestOf(asked, 1);
  return synthesizerNamed(asked.algorithm).refuses?.(topology, collective) ?? null;
}
