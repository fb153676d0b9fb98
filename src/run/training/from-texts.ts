import { InputError, unlessRefused } from "../../base/errors.ts";
import type { Engine } from "../../engine/types.ts";
import type { Topology } from "../../model/topology/topology.ts";
import type { Model } from "../../model/workload/models.ts";
import { acceleratorOf } from "../../request/accelerator.ts";
import { type Options, optionValue, placeOf, textOf } from "../../request/option-table.ts";
import { parallelismOf } from "../../request/parallel.ts";
import { algorithmNamed } from "../../synthesize/catalog.ts";
import { type Trained, type TrainRequest, train, USUAL_COLLECTIVES } from "./training.ts";

/** Training steps that are asked for in texts, as on the command line. */

/** Returns who makes the collectives. Throws InputError for a name that nobody has. */
export const collectivesOf = (names: readonly string[] | undefined): readonly string[] =>
  names?.map((name) =>
    USUAL_COLLECTIVES.includes(name) ? name : algorithmNamed(name, USUAL_COLLECTIVES, placeOf("algorithms")).name,
  ) ?? USUAL_COLLECTIVES;

/** Returns what options ask for. Throws InputError. */
export function trainRequestOf(options: Options, model: Model, { name, npuCount }: Topology): TrainRequest {
  const ways = optionValue(options, "parallel") ?? ["auto"];
  const batch = optionValue(options, "batch");
  if (batch === undefined) throw new InputError(placeOf("batch"), "the samples of a step, such as 512");
  const precision = optionValue(options, "precision") ?? "bf16";
  const microBatch = optionValue(options, "microBatch");
  const sequence = optionValue(options, "seq");
  const recompute = optionValue(options, "recompute");
  const optimizer = optionValue(options, "optimizer");
  const bucketBytes = optionValue(options, "bucket");
  const pass = optionValue(options, "pass");
  return {
    model,
    accelerator: acceleratorOf(textOf(options, "accelerator"), name, precision, placeOf("accelerator")),
    parallelism: ways.length === 1 && ways[0] === "auto" ? "auto" : parallelismOf(ways, npuCount, placeOf("parallel")),
    batch,
    precision,
    collectives: collectivesOf(optionValue(options, "algorithms")),
    ...(microBatch !== undefined && { microBatch }),
    ...(sequence !== undefined && { sequence }),
    ...(recompute !== undefined && { recompute }),
    ...(optimizer !== undefined && { optimizer }),
    ...(bucketBytes !== undefined && { bucketBytes }),
    ...(pass !== undefined && { pass }),
    blockingFirst: optionValue(options, "priority") === "blocking",
  };
}

/** What a training step takes on a network, and before something of it failed. */
export interface TrainedOnBoth {
  readonly own: Trained;
  /** Of the whole network, which the report compares with; null where nothing failed, or the whole cannot be asked the same. */
  readonly before: Trained | null;
}

/**
 * Returns a step on a network, and on the whole one that it is part of: in the same mesh where it has as many NPUs, else as the
 * same options ask for there (the fastest mesh of both, or copies as there are NPUs), if they can be had. Rejects as `train` does
 * on the network itself.
 */
export async function trainOnBoth(
  engine: Engine,
  { topology, whole }: { readonly topology: Topology; readonly whole: Topology },
  { options, model }: { readonly options: Options; readonly model: Model },
  lent: Pick<TrainRequest, "signal" | "onProgress">,
): Promise<TrainedOnBoth & { readonly request: TrainRequest }> {
  const request = { ...trainRequestOf(options, model, topology), ...lent };
  const own = await train(engine, topology, request);
  if (whole === topology) return { request, own, before: null };
  const { parallelism, microBatch, recompute } = own.way;
  const same =
    whole.npuCount === topology.npuCount
      ? { ...request, parallelism, microBatch, recompute }
      : unlessRefused(() => ({ ...trainRequestOf(options, model, whole), ...lent }));
  return { request, own, before: same === null ? null : await orNothing(train(engine, whole, same)) };
}

/** Returns what comes; null where it is refused. */
async function orNothing<Value>(coming: Promise<Value>): Promise<Value | null> {
  try {
    return await coming;
  } catch (error) {
    if (error instanceof InputError) return null;
    throw error;
  }
}
