import type { Topology } from "../../model/topology/topology.ts";
import type { PlacedTasks } from "../../model/workload/placed-tasks.ts";
import { topologySummary } from "../../report/result.ts";
import type { Trained, TrainRequest } from "./training.ts";

export type TrainingReport = ReturnType<typeof trainingReport>;

/** Returns what `train --json` prints: schema banyan/training@1. */
export function trainingReport(
  { model, accelerator, batch, precision = "bf16" }: TrainRequest,
  topology: Topology,
  { step, way, parameters, activeParameters, memory, rows, search }: Trained,
  before: Trained | null,
) {
  return {
    schema: "banyan/training@1" as const,
    topology: topologySummary(topology),
    model: { name: model.name, source: model.source, parameters, activeParameters },
    accelerator: {
      name: accelerator.name,
      peakFlops: accelerator.peak[precision] as number,
      memoryBytesPerSecond: accelerator.memoryBandwidth,
      memoryBytes: accelerator.memoryBytes,
      source: accelerator.source,
    },
    step: {
      batch,
      microBatch: way.microBatch,
      microBatches: step.microBatches,
      tokens: step.tokens,
      precision,
      recompute: way.recompute,
      parallelism: way.parallelism,
      modelFlops: step.modelFlops,
    },
    memory,
    rows,
    wholeNetwork: before === null ? null : before.rows,
    search,
  };
}

/** Returns what `train --json` prints of tasks that were read: the same, without a model. */
export function givenReport(
  { name, source, placed }: { readonly name: string; readonly source: string; readonly placed: PlacedTasks },
  topology: Topology,
  rows: Trained["rows"],
) {
  return {
    schema: "banyan/workload@1" as const,
    topology: topologySummary(topology),
    workload: {
      name,
      source,
      npus: placed.npuCount,
      actors: placed.tasks.actors.length,
      tasks: placed.tasks.work.length,
    },
    rows,
  };
}

export type GivenReport = ReturnType<typeof givenReport>;
