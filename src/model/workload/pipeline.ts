import { InputError } from "../../base/errors.ts";
import type { PipelineOrder } from "./training-step.ts";

/** One pass of a micro batch through a part of a stage's layers. */
export interface PipelinePass {
  readonly microBatch: number;
  /** Below `interleaved`. */
  readonly part: number;
  readonly backward: boolean;
}

/** How a pipeline is cut. */
export interface PipelineShape {
  readonly stages: number;
  readonly interleaved: number;
  readonly microBatches: number;
}

/**
 * Returns what one stage does, in order. `1f1b`: as many forward passes as there are stages behind it, then a forward and a
 * backward pass in turn (PipeDream-Flush; with parts Narayanan et al. 2021, 2.2: micro batches in groups of as many as there are
 * stages, all parts of a group before the next). `gpipe`: all forward passes, then all backward passes, last part first. Without
 * `trains` only the forward passes. Throws InputError where parts are interleaved and the micro batches make no whole groups.
 */
export function passesOf(
  { stages, interleaved, microBatches }: PipelineShape,
  stage: number,
  order: PipelineOrder,
  trains: boolean,
): PipelinePass[] {
  if (interleaved > 1 && microBatches % stages !== 0) {
    throw new InputError(
      "the micro batches",
      `a multiple of the ${stages} stages, for ${interleaved} parts of each are interleaved`,
      microBatches,
    );
  }
  const count = microBatches * interleaved;
  const group = stages * interleaved;
  /** The k-th forward (or backward) pass. */
  const pass = (k: number, backward: boolean): PipelinePass => {
    if (interleaved === 1) return { microBatch: k, part: 0, backward };
    const at = Math.floor((k % group) / stages);
    const part = backward ? interleaved - 1 - at : at;
    return { microBatch: Math.floor(k / group) * stages + (k % stages), part, backward };
  };
  const forward = (k: number): PipelinePass => pass(k, false);
  const backward = (k: number): PipelinePass => pass(k, true);
  const all = Array.from({ length: count }, (_, k) => k);
  if (!trains) return all.map(forward);
  if (order === "gpipe") return [...all.map(forward), ...all.map(backward)];
  const behind = stages - 1 - stage;
  const warmUp = Math.min(count, interleaved === 1 ? behind : 2 * behind + (interleaved - 1) * stages);
  const passes = all.slice(0, warmUp).map(forward);
  for (let k = warmUp; k < count; k++) passes.push(forward(k), backward(k - warmUp));
  for (let k = count - warmUp; k < count; k++) passes.push(backward(k));
  return passes;
}
