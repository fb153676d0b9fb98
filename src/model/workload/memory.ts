import { InputError } from "../../base/errors.ts";
import { formatGigabytes } from "../numbers/units.ts";
import type { LayerMemory, LayerRun } from "./layer-work.ts";
import { type PipelinePass, passesOf } from "./pipeline.ts";
import type { TrainingStep } from "./training-step.ts";

/** Bytes of one NPU of a pipeline stage. */
export interface StageMemory {
  readonly stage: number;
  readonly parameters: number;
  readonly gradients: number;
  readonly optimizer: number;
  /** Kept of all micro batches under way. */
  readonly activations: number;
  /** Held while one layer is worked on, of the layer that holds most. */
  readonly working: number;
  readonly total: number;
}

const sumOf = (runs: readonly LayerRun[], of: (memory: LayerMemory) => number): number =>
  runs.reduce((sum, { layer, count }) => sum + count * of(layer.memory), 0);

/** Returns the most that passes keep at a time: each forward pass keeps what its part keeps until it has come back. */
function mostKept(passes: readonly PipelinePass[], kept: readonly number[]): number {
  let now = 0;
  let most = 0;
  for (const { backward, part } of passes) {
    now += backward ? -kept[part] : kept[part];
    if (now > most) most = now;
  }
  return most;
}

/**
 * Returns what the NPUs of every stage keep in memory. Activations are of the micro batches that are under way at a time (in 1F1B
 * those of the stages behind and one more), of inference the keys and values of all sequences. Left out is what programs take
 * besides: buffers of communications, fragments, the runtime itself. O(stages x micro batches).
 */
export function stepMemory(step: TrainingStep): StageMemory[] {
  const { parallelism, microBatches, order, trains, stages } = step;
  const { pipeline, interleaved } = parallelism;
  return Array.from({ length: pipeline }, (_, stage) => {
    const parts = stages.slice(stage * interleaved, (stage + 1) * interleaved);
    const runs = parts.flat();
    const passes = passesOf({ stages: pipeline, interleaved, microBatches }, stage, order, trains);
    const parameters = sumOf(runs, (memory) => memory.parameters);
    const gradients = sumOf(runs, (memory) => memory.gradients);
    const optimizer = sumOf(runs, (memory) => memory.optimizer);
    const keptOf = parts.map((part) => sumOf(part, (memory) => memory.activations));
    // an overlapped forward pass begins before the backward pass before it has given anything back
    const activations = mostKept(passes, keptOf) + (step.overlapped ? Math.max(...keptOf) : 0);
    const working = Math.max(0, ...runs.map(({ layer }) => layer.memory.working));
    const total = parameters + gradients + optimizer + activations + working;
    return { stage, parameters, gradients, optimizer, activations, working, total };
  });
}

/** Returns the memory of the stage that takes most; the first of equals. */
export function greatestMemory(step: TrainingStep): StageMemory {
  return stepMemory(step).reduce((most, stage) => (stage.total > most.total ? stage : most));
}

/** Something else that may be asked: what is changed, in words, and its step. */
export interface Alternative {
  readonly changes: readonly string[];
  readonly step: TrainingStep;
}

/** Of what fits, so many are named. */
const MOST_NAMED = 3;

/**
 * Throws InputError where a step does not fit into memory, in one sentence: which stage needs how much, of what, and which of the
 * alternatives fit (the first few), or what comes nearest.
 */
export function checkMemory(
  step: TrainingStep,
  capacity: number,
  where: string,
  alternatives: () => readonly Alternative[],
): void {
  const most = greatestMemory(step);
  if (most.total <= capacity) return;
  const tried = alternatives().map(({ changes, step: other }) => ({ changes, total: greatestMemory(other).total }));
  const fits = tried.filter(({ total }) => total <= capacity);
  const isMoreThan = (changes: readonly string[], less: readonly string[]): boolean =>
    changes.length > less.length && less.every((change) => changes.includes(change));
  const named = fits.filter(({ changes }) => !fits.some((other) => isMoreThan(changes, other.changes)));
  const said = ({ changes, total }: (typeof tried)[number]): string =>
    `${changes.join(" and ")} (${formatGigabytes(total)})`;
  const least = tried.reduce<(typeof tried)[number] | null>((a, b) => (a === null || b.total < a.total ? b : a), null);
  const hint =
    named.length > 0
      ? `; it fits with ${named.slice(0, MOST_NAMED).map(said).join(", or ")}`
      : least !== null && least.total < most.total
        ? `; nearest comes ${said(least)}`
        : "";
  const parts = (["parameters", "gradients", "optimizer", "activations", "working"] as const)
    .filter((part) => most[part] > 0)
    .map((part) => `${formatGigabytes(most[part])} ${NAMES[part]}`);
  const stage = step.parallelism.pipeline > 1 ? ` in stage ${most.stage}` : "";
  throw new InputError("the step", `at most ${formatGigabytes(capacity)} an NPU`, most.total)
    .as("out-of-range")
    .saying(
      `${step.name} needs ${formatGigabytes(most.total)} of memory an NPU${stage} (${parts.join(", ")}), and ${where} has ${formatGigabytes(capacity)}${hint}`,
    );
}

const NAMES = {
  parameters: "parameters",
  gradients: "gradients",
  optimizer: "optimizer",
  activations: "activations",
  working: "what is worked on",
} as const;
