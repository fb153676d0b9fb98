import { InputError } from "../../base/errors.ts";
import { stepTrace } from "../../export/workloads/step-trace.ts";
import { TERA } from "../../model/numbers/units.ts";
import { type Topology, topologyHash } from "../../model/topology/topology.ts";
import { ACCELERATOR_NAMES, acceleratorNamed } from "../../model/workload/accelerators.ts";
import { MODEL_NAMES, type Model, modelNamed } from "../../model/workload/models.ts";
import { parameterCount } from "../../model/workload/transformer/parameters.ts";
import { roundedSize, significant } from "../../report/amounts.ts";
import { plainName } from "../../report/file-name.ts";
import { acceleratorTold } from "../../request/accelerator.ts";
import { parallelText } from "../../request/parallel.ts";
import { type TrainedOnBoth, trainOnBoth } from "../../run/training/from-texts.ts";
import { trainingReport } from "../../run/training/report.ts";
import type { TrainedStep } from "../../run/training/train.ts";
import { shownRow } from "../../run/training/training.ts";
import type { Answer, Ask, GivenFile, TrainingView, TrainWish, Workloads } from "../protocol.ts";
import { bytesOf } from "./given-file.ts";
import { configuredModel, fingerprintOf } from "./given-model.ts";
import { networkOf, partAndWholeOf } from "./networks.ts";
import type { Tools } from "./request-context.ts";
import { stepTimeline } from "./step-timeline.ts";

/** Training steps for the page. */

/** Answers "workloads". */
export async function workloads({ network }: Ask<"workloads">): Promise<Workloads> {
  const topology = await networkOf(network);
  return {
    models: MODEL_NAMES.map((name) => modelNamed(name)).map(({ name, sizes, source }) => ({
      name,
      detail:
        sizes.kind === "transformer" ? `${significant(parameterCount(sizes.config) / 1e9, 3)} B parameters` : source,
      isTransformer: sizes.kind === "transformer",
    })),
    accelerators: ACCELERATOR_NAMES.map((name) => ({ name, detail: figuresOf(name) })),
    own: acceleratorTold(topology.name)?.name ?? null,
    npuCount: topology.npuCount,
  };
}

/** Returns what an accelerator can do. */
function figuresOf(name: string): string {
  const accelerator = acceleratorNamed(name);
  const memory = roundedSize(accelerator.memoryBytes);
  const { bf16, fp16, fp32 } = accelerator.peak;
  const [precision, peak] = bf16 ? ["bf16", bf16] : fp16 ? ["fp16", fp16] : ["fp32", fp32 ?? 0];
  return `${significant(peak / TERA, 4)} TFLOP/s in ${precision}, ${memory}`;
}

/** The step that was made last, for its timelines: each can be made again from its wish. */
let last: (TrainedOnBoth & { readonly key: string; readonly view: TrainingView }) | null = null;

/** Returns the model of a wish, and what tells it from others. Throws InputError. */
async function modelOf(model: TrainWish["model"]): Promise<{ readonly model: Model; readonly key: string }> {
  if (typeof model === "string") return { model: modelNamed(model), key: model };
  const bytes = await bytesOf(model);
  return { model: configuredModel(bytes, model.name), key: `${model.name} ${bytes.length} ${fingerprintOf(bytes)}` };
}

/** Returns what a wish asks for: made, or as it was made last. Throws as `train` does. */
async function trainedFor(
  { network, model: wanted, options }: TrainWish,
  tools: Tools,
): Promise<NonNullable<typeof last>> {
  const networks = await partAndWholeOf(network);
  const { model, key: modelKey } = await modelOf(wanted);
  const hash = (topology: Topology): string => `${topology.name} ${topologyHash(topology)}`;
  const key = JSON.stringify([hash(networks.topology), hash(networks.whole), modelKey, options]);
  if (last?.key === key) return last;
  const { engine, signal } = tools;
  const onProgress = (what: string, done: number, total: number): void => tools.progress({ what, done, total });
  const { request, own, before } = await trainOnBoth(engine, networks, { options, model }, { signal, onProgress });
  const view: TrainingView = {
    report: trainingReport(request, networks.topology, own, before),
    whole:
      before === null ? null : { npuCount: networks.whole.npuCount, parallel: parallelText(before.way.parallelism) },
    shownRow: shownRow(own),
  };
  last = { key, own, before, view };
  return last;
}

/** Answers "train". */
export const train = async ({ wish }: Ask<"train">, tools: Tools): Promise<TrainingView> =>
  (await trainedFor(wish, tools)).view;

/** Returns the step of a row. */
async function stepOf({ wish, row }: Ask<"trainingTimeline">, tools: Tools): Promise<TrainedStep> {
  const { own } = await trainedFor(wish, tools);
  const step = own.steps[row];
  if (step === undefined)
    throw new InputError("the row", `one of the report's, below ${own.steps.length},`, row).as("out-of-range");
  return step;
}

/** Answers "trainingTimeline". */
export async function trainingTimeline(
  ask: Ask<"trainingTimeline">,
  tools: Tools,
): Promise<Answer<"trainingTimeline">> {
  return stepTimeline(await stepOf(ask, tools));
}

/** Answers "trainingTrace". */
export async function trainingTrace(ask: Ask<"trainingTrace">, tools: Tools): Promise<GivenFile> {
  const { tasks, times } = await stepOf(ask, tools);
  const { model, topology } = (await trainedFor(ask.wish, tools)).view.report;
  const name = `${plainName(model.name)}.${plainName(topology.name) || "network"}.step.trace.json`;
  return { name, content: new Blob([...stepTrace(tasks, times)], { type: "application/json" }) };
}
