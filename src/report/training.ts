import { toUs } from "../model/numbers/units.ts";
import type { TrainingStep } from "../model/workload/training-step.ts";
import type { ActorTime } from "../simulate/workload/exposure.ts";

/** What a step takes with the collectives of one maker. */
export interface TrainingRow {
  /** Who makes them: "library", "best", "ideal" or an algorithm. */
  readonly collectives: string;
  readonly us: number;
  readonly samplesPerSecond: number;
  /** Null where samples have no tokens. */
  readonly tokensPerSecond: number | null;
  /** Model FLOPs utilisation: operations of the model over what the NPUs could do in the time; null where no peak is known. */
  readonly modelUtilisation: number | null;
  /** Means over the stages; they sum to `us`. Exposed: waited for, by who communicates. */
  readonly computeUs: number;
  readonly exposedUs: Readonly<Record<string, number>>;
  readonly bubbleUs: number;
  /** By stage. */
  readonly stages: readonly {
    readonly stage: string;
    readonly computeUs: number;
    readonly exposedUs: Readonly<Record<string, number>>;
    readonly bubbleUs: number;
  }[];
  /** What was taken for each distinct communication. */
  readonly communications: readonly TrainingCommunication[];
}

/** One distinct communication of a step. */
export interface TrainingCommunication {
  readonly group: string;
  readonly collective: string;
  readonly bytes: number;
  readonly algorithm: string;
  /** Alone on the network. */
  readonly us: number;
  /** How often one NPU takes part in a step. */
  readonly times: number;
}

const mean = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0) / values.length;

/** Returns the row of a step that took `ps`; `peakFlops` of one NPU. */
export function trainingRow(
  step: Pick<TrainingStep, "samples" | "tokens" | "modelFlops">,
  {
    collectives,
    ps,
    actors,
    communications,
  }: {
    readonly collectives: string;
    readonly ps: number;
    readonly actors: readonly ActorTime[];
    readonly communications: readonly TrainingCommunication[];
  },
  { npus, peakFlops }: { readonly npus: number; readonly peakFlops: number | null },
): TrainingRow {
  const us = toUs(ps);
  const seconds = us / 1e6;
  const groups = [...new Set(actors.flatMap(({ exposedPs }) => [...exposedPs.keys()]))].sort();
  const exposed = (of: readonly ActorTime[]): Record<string, number> =>
    Object.fromEntries(
      groups.map((group) => [group, mean(of.map(({ exposedPs }) => toUs(exposedPs.get(group) ?? 0)))]),
    );
  return {
    collectives,
    us,
    samplesPerSecond: step.samples / seconds,
    tokensPerSecond: step.tokens === 0 ? null : step.tokens / seconds,
    modelUtilisation: peakFlops === null ? null : step.modelFlops / (seconds * npus * peakFlops),
    computeUs: mean(actors.map(({ computePs }) => toUs(computePs))),
    exposedUs: exposed(actors),
    bubbleUs: mean(actors.map(({ bubblePs }) => toUs(bubblePs))),
    stages: actors.map((actor) => ({
      stage: actor.actor,
      computeUs: toUs(actor.computePs),
      exposedUs: exposed([actor]),
      bubbleUs: toUs(actor.bubblePs),
    })),
    communications,
  };
}

/** Groups as people call them. */
const GROUP_NAMES: Readonly<Record<string, string>> = {
  tensor: "tp",
  context: "cp",
  data: "dp",
  pipeline: "pp sends",
  copies: "dp",
  experts: "ep",
  expertTensor: "etp",
  expertCopies: "edp",
};

/** Returns what people call who communicates: "tp". */
export const groupName = (group: string): string => GROUP_NAMES[group] ?? group;
