import type { LayerRun } from "./layer-work.ts";
import type { Parallelism } from "./parallelism.ts";

/** In which order a stage takes the passes of micro batches. */
export type PipelineOrder = "1f1b" | "gpipe";

/** One step of training (or one pass of inference) as every NPU sees it: the NPUs of a pipeline stage all do the same. */
export interface TrainingStep {
  readonly name: string;
  readonly parallelism: Parallelism;
  readonly microBatches: number;
  readonly order: PipelineOrder;
  /** The next pass of a stage computes while one waits for communications. */
  readonly overlapped: boolean;
  /** False for inference: forward passes only. */
  readonly trains: boolean;
  /** [stage x interleaved + part] The layers of each part of each stage, first to last. */
  readonly stages: readonly (readonly LayerRun[])[];
  /** Bytes that one NPU sends to the next stage with a micro batch; the same come back as gradients. */
  readonly boundaryBytes: number;
  /** Samples and tokens of the whole step, over all copies; 0 tokens where samples have none. */
  readonly samples: number;
  readonly tokens: number;
  /** Operations that the model needs for the step, over all NPUs, nothing computed again; for the utilisation. */
  readonly modelFlops: number;
}
