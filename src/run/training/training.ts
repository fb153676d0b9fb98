import { InputError, inWords, unlessRefused } from "../../base/errors.ts";
import { optionName } from "../../base/option-names.ts";
import type { Engine } from "../../engine/types.ts";
import { toUs } from "../../model/numbers/units.ts";
import { boxesOf } from "../../model/routes/rings.ts";
import type { Topology } from "../../model/topology/topology.ts";
import { type Accelerator, type Precision, peakOf } from "../../model/workload/accelerators.ts";
import type { Computation } from "../../model/workload/layer-work.ts";
import { checkMemory, greatestMemory, type StageMemory } from "../../model/workload/memory.ts";
import { type Model, tableStep } from "../../model/workload/models.ts";
import type { Parallelism } from "../../model/workload/parallelism.ts";
import { type PlacedTasks, placedStep } from "../../model/workload/placed-tasks.ts";
import { computationPs } from "../../model/workload/roofline.ts";
import type { Optimizer } from "../../model/workload/sharing.ts";
import type { TrainingStep } from "../../model/workload/training-step.ts";
import { smallerSteps } from "../../model/workload/transformer/alternatives.ts";
import { defaultOptions, type PassKind, type TransformerOptions } from "../../model/workload/transformer/options.ts";
import { activeParameterCount, parameterCount } from "../../model/workload/transformer/parameters.ts";
import { transformerStep } from "../../model/workload/transformer.ts";
import { type TrainingCommunication, type TrainingRow, trainingRow } from "../../report/training.ts";
import { type CommunicationCost, type CostTable, communicationCosts, interpolatedCosts } from "./costs.ts";
import { type Found, fastestWays, type Way } from "./search.ts";
import { simulateTraining, type TrainedStep } from "./train.ts";

/** What is trained, how, and with which NPUs. */
export interface TrainRequest {
  readonly model: Model;
  readonly accelerator: Accelerator;
  /** "auto": the fastest of all meshes. */
  readonly parallelism: Parallelism | "auto";
  /** Samples of a step, over all copies. */
  readonly batch: number;
  readonly microBatch?: number;
  /** Tokens of a sample; without it the model's own. */
  readonly sequence?: number;
  readonly precision?: Precision;
  readonly recompute?: TransformerOptions["recompute"];
  readonly optimizer?: Optimizer;
  readonly bucketBytes?: number;
  readonly pass?: PassKind;
  /** Sums of gradients get of shared links what other communications leave. */
  readonly blockingFirst?: boolean;
  /** Who makes the collectives, a row each: "library", "best", "ideal", or names of algorithms. */
  readonly collectives?: readonly string[];
  readonly signal?: AbortSignal;
  readonly onProgress?: (what: string, done: number, total: number) => void;
}

/** Part of the memory that a mesh found by search may take: runtimes and buffers of communications want the rest. */
export const ROOM = 0.94;

/** Who makes the collectives: a name of no algorithm whose times are limits, not those of schedules. */
export const IDEAL = "ideal";

/** The collectives that are compared where nobody says which. */
export const USUAL_COLLECTIVES: readonly string[] = ["library", "best", IDEAL];

/** Returns which row a timeline shows where nobody says which: the last whose collectives are schedules. */
export const shownRow = ({ rows }: Pick<Trained, "rows">): number =>
  Math.max(
    0,
    rows.findLastIndex(({ collectives }) => collectives !== IDEAL),
  );

/** A mesh that was tried, beside the best one. */
export interface TriedWay {
  readonly way: Way;
  readonly us: number;
  readonly memoryBytes: number;
}

/** What a step takes. */
export interface Trained {
  readonly step: TrainingStep;
  readonly way: Way;
  readonly parameters: number;
  readonly activeParameters: number;
  readonly memory: StageMemory;
  readonly rows: readonly TrainingRow[];
  readonly placed: PlacedTasks;
  /** [rows] the step as it was simulated; for timelines. */
  readonly steps: readonly TrainedStep[];
  /** With "auto": what was tried. */
  readonly search: (Omit<Found<null>, "best"> & { readonly best: readonly TriedWay[] }) | null;
}

/** Returns the samples that a copy takes at a time where nobody says it: one, and of decoding as many as keep all stages busy. */
function usualMicroBatch({ pass, parallelism, batch }: TrainRequest): number {
  if (pass !== "decode" || parallelism === "auto") return 1;
  const each = batch / parallelism.data;
  return Number.isInteger(each / parallelism.pipeline) ? each / parallelism.pipeline : 1;
}

/** Returns the step of a model in one way. Throws InputError where it does not divide. */
function stepOf(request: TrainRequest, { parallelism, microBatch, recompute }: Way): TrainingStep {
  const { model, batch, precision = "bf16", optimizer = "adam" } = request;
  if (model.sizes.kind === "transformer")
    return transformerStep(model.sizes.config, optionsOf(request, { parallelism, microBatch, recompute }));
  if ((request.pass ?? "train") !== "train") {
    throw new InputError(optionName("pass"), "train, for a model that is no transformer,", request.pass).as(
      "not-together",
    );
  }
  const bucketBytes = request.bucketBytes ?? Number.POSITIVE_INFINITY;
  return tableStep(model.sizes, { parallelism, batch, precision, optimizer, gradientBytes: 2, bucketBytes });
}

function optionsOf(request: TrainRequest, { parallelism, microBatch, recompute }: Way): TransformerOptions {
  const { model, batch, precision, optimizer, sequence, bucketBytes, pass } = request;
  if (model.sizes.kind !== "transformer") throw new TypeError(model.sizes.kind);
  return {
    ...defaultOptions(model.sizes.config),
    ...{ parallelism, batch, microBatch, recompute },
    ...(precision !== undefined && { precision }),
    ...(optimizer !== undefined && { optimizer }),
    ...(sequence !== undefined && { sequence }),
    ...(bucketBytes !== undefined && { bucketBytes }),
    ...(pass !== undefined && { pass }),
  };
}

/** Throws InputError where a step does not fit, with what would. */
function refuseTooLarge(request: TrainRequest, way: Way, step: TrainingStep): void {
  const { model, accelerator } = request;
  const { sizes } = model;
  const others = sizes.kind === "transformer" ? () => smallerSteps(sizes.config, optionsOf(request, way)) : () => [];
  checkMemory(step, accelerator.memoryBytes, accelerator.name, others);
}

/** Returns how long computations take here, each worked out once. */
function clockOf({ accelerator, precision = "bf16" }: TrainRequest): (computation: Computation) => number {
  const known = new Map<Computation, number>();
  return (computation) => {
    let ps = known.get(computation);
    if (ps === undefined) {
      ps = computationPs(accelerator, precision, computation);
      known.set(computation, ps);
    }
    return ps;
  };
}

/** Returns the distinct communications of a step. O(tasks). */
function communicationsOf({ tasks, costs }: TrainedStep): TrainingCommunication[] {
  const times = new Int32Array(tasks.works.length);
  for (const w of tasks.work) times[w]++;
  const found = new Map<string, TrainingCommunication>();
  tasks.works.forEach((work, w) => {
    if (work.kind !== "communication") return;
    const { group, collective, bytes } = work.communication;
    const { algorithm, ps } = costs[w] as CommunicationCost;
    const key = `${work.stage} ${group} ${collective} ${bytes} ${algorithm} ${ps}`;
    const before = found.get(key)?.times ?? 0;
    found.set(key, { group, collective, bytes, algorithm, us: toUs(ps), times: before + times[w] });
  });
  const distinct = new Map<string, TrainingCommunication>();
  for (const one of found.values()) {
    const key = `${one.group} ${one.collective} ${one.bytes} ${one.algorithm} ${one.us}`;
    if ((distinct.get(key)?.times ?? 0) < one.times) distinct.set(key, one);
  }
  return [...distinct.values()].sort((a, b) => b.times * b.us - a.times * a.us);
}

/**
 * Returns what a step takes on a network, with the collectives of each maker that is asked for; of "auto" in the mesh that is
 * fastest with those of libraries. Every schedule is verified and simulated. Throws InputError where something does not divide or
 * fit, with what would do; else as `synthesize` does.
 */
export async function train(engine: Engine, topology: Topology, request: TrainRequest): Promise<Trained> {
  const { model, accelerator, precision = "bf16", signal, collectives = USUAL_COLLECTIVES } = request;
  const { onProgress, blockingFirst } = request;
  const ownPs = clockOf(request);
  const table = communicationCosts(engine, topology, signal);
  const peakFlops = peakOf(accelerator, precision);
  const search = request.parallelism === "auto" ? await fastest(topology, request, ownPs, table) : null;
  const way: Way = search?.best[0]?.way ?? {
    parallelism: request.parallelism as Parallelism,
    microBatch: request.microBatch ?? usualMicroBatch(request),
    recompute: request.recompute ?? "none",
  };
  const step = stepOf(request, way);
  refuseTooLarge(request, way, step);
  const placed = placedStep(step);
  const { rows, steps } = await rowsOf(topology, placed, step, {
    collectives,
    computationPs: ownPs,
    peakFlops,
    table,
    onProgress,
    blockingFirst,
  });
  const { sizes } = model;
  const counts =
    sizes.kind === "transformer" ? [parameterCount(sizes.config), activeParameterCount(sizes.config)] : [0, 0];
  const [parameters, activeParameters] = counts as [number, number];
  return {
    step,
    way,
    parameters,
    activeParameters,
    memory: greatestMemory(step),
    rows,
    placed,
    steps,
    search,
  };
}

/** Returns a row for each maker of collectives, and the step as it was simulated with them. */
async function rowsOf(
  topology: Topology,
  placed: PlacedTasks,
  figures: Pick<TrainingStep, "samples" | "tokens" | "modelFlops">,
  {
    collectives,
    computationPs,
    peakFlops,
    table,
    onProgress,
    blockingFirst,
  }: {
    readonly collectives: readonly string[];
    readonly computationPs: (computation: Computation) => number;
    readonly peakFlops: number | null;
    readonly table: CostTable;
    readonly onProgress: TrainRequest["onProgress"];
    readonly blockingFirst?: boolean | undefined;
  },
): Promise<{ readonly rows: readonly TrainingRow[]; readonly steps: readonly TrainedStep[] }> {
  const rows: TrainingRow[] = [];
  const steps: TrainedStep[] = [];
  for (const [done, algorithm] of collectives.entries()) {
    onProgress?.(`the collectives of ${algorithm}`, done, collectives.length);
    const trained = await simulateTraining(topology, placed, {
      costOf: table.by({ algorithm }),
      computationPs,
      blockingFirst,
    });
    const { times, actors } = trained;
    const row = { collectives: algorithm, ps: times.ps, actors, communications: communicationsOf(trained) };
    rows.push(trainingRow(figures, row, { npus: placed.npuCount, peakFlops }));
    steps.push(trained);
  }
  return { rows, steps };
}

/** Tasks of somebody else's: a trace, or a text with the times of its layers. */
export interface GivenWorkload {
  readonly placed: PlacedTasks;
  /** For computations that have no time; null where every one has. */
  readonly accelerator: Accelerator | null;
  readonly precision?: Precision;
  readonly collectives?: readonly string[];
  readonly signal?: AbortSignal;
  readonly onProgress?: TrainRequest["onProgress"];
}

/**
 * Returns what a workload that was read takes on a network. Throws InputError where it has more NPUs than the network, or
 * computations without a time and without an accelerator to tell it; else as `synthesize` does.
 */
export async function trainGiven(
  engine: Engine,
  topology: Topology,
  { placed, accelerator, precision = "bf16", collectives = USUAL_COLLECTIVES, signal, onProgress }: GivenWorkload,
): Promise<Pick<Trained, "rows" | "steps" | "placed">> {
  if (placed.npuCount > topology.npuCount) {
    throw new InputError(
      "the topology",
      `one of ${placed.npuCount} NPUs, as the workload has`,
      inWords(`${topology.npuCount} NPUs`),
    );
  }
  const timeOf = (computation: Computation): number => {
    if (computation.givenPs !== undefined) return computation.givenPs;
    if (accelerator === null)
      throw new InputError(
        optionName("accelerator"),
        `a name such as h100, for "${computation.name}" has no time of its own`,
      );
    return computationPs(accelerator, precision, computation);
  };
  const table = communicationCosts(engine, topology, signal);
  const figures = { samples: 0, tokens: 0, modelFlops: 0 };
  const found = await rowsOf(topology, placed, figures, {
    collectives,
    computationPs: timeOf,
    peakFlops: null,
    table,
    onProgress,
  });
  return { ...found, placed };
}

/** Returns the fastest meshes, by the costs of libraries' collectives at powers of four of bytes. */
async function fastest(
  topology: Topology,
  request: TrainRequest,
  ownPs: (computation: Computation) => number,
  table: CostTable,
): Promise<NonNullable<Trained["search"]>> {
  const { model, accelerator, batch, signal, onProgress } = request;
  const { sizes } = model;
  const config = sizes.kind === "transformer" ? sizes.config : null;
  const box = boxesOf(topology)?.[0]?.length ?? topology.npuCount;
  const space = {
    npus: topology.npuCount,
    box,
    layers: config === null ? 1 : config.layers + config.encoderLayers,
    experts: config?.experts?.count ?? 0,
    batch,
    fixed: config === null ? { tensor: 1, context: 1, pipeline: 1, zero: 0 as const } : {},
  };
  const costOf = interpolatedCosts(table.by({ algorithm: "library" }));
  const { best, ...counts } = await fastestWays(
    space,
    {
      make: (way) => {
        const { microBatch, recompute } = config === null ? { microBatch: 1, recompute: "none" } : request;
        if (microBatch !== undefined && way.microBatch !== microBatch) return null;
        if (recompute !== undefined && way.recompute !== recompute) return null;
        return unlessRefused(() => stepOf(request, way));
      },
      fits: (step) => greatestMemory(step).total <= ROOM * accelerator.memoryBytes,
      computationPs: ownPs,
      simulate: async ({ step }) => {
        const { times } = await simulateTraining(topology, placedStep(step), {
          costOf,
          computationPs: ownPs,
          blockingFirst: request.blockingFirst ?? false,
        });
        return { ps: times.ps, result: null };
      },
    },
    { ...(signal && { signal }), onProgress: (done, total) => onProgress?.("meshes", done, total) },
  );
  return {
    ...counts,
    best: best.map(({ fitting: { way, step }, ps }) => ({
      way,
      us: toUs(ps),
      memoryBytes: greatestMemory(step).total,
    })),
  };
}
