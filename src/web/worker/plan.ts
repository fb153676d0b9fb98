import { collectivesScript } from "../../export/plans/collectives.ts";
import { jaxSpecs } from "../../export/plans/jax-specs.ts";
import { torchPlacements } from "../../export/plans/torch-placements.ts";
import { chakraTraces } from "../../export/workloads/chakra.ts";
import { stepTrace } from "../../export/workloads/step-trace.ts";
import { isPlainJson, readTensorGraph } from "../../import/tensor-graphs/tensor-graph-formats.ts";
import { planCollectives } from "../../model/tensor-plan/collectives.ts";
import { topologyHash } from "../../model/topology/topology.ts";
import type { Computation } from "../../model/workload/layer-work.ts";
import { modelNamed } from "../../model/workload/models.ts";
import { computationPs } from "../../model/workload/roofline.ts";
import { plainName } from "../../report/file-name.ts";
import { type Options, optionValue } from "../../request/option-table.ts";
import { type Planning, planRequestOf } from "../../run/plan/from-texts.ts";
import { type Planned, type PlanRequest, planStep } from "../../run/plan/plan.ts";
import { planReport } from "../../run/plan/report.ts";
import type { PlanView } from "../plan-protocol.ts";
import type { Answer, Ask, GivenFile, PlanWish } from "../protocol.ts";
import { asOne } from "./export.ts";
import { bytesOf } from "./given-file.ts";
import { configuredModel, fingerprintOf } from "./given-model.ts";
import { commandLine } from "./make.ts";
import { networkOf } from "./networks.ts";
import { planParts } from "./plan-parts.ts";
import type { Tools } from "./request-context.ts";
import { stepTimeline } from "./step-timeline.ts";

/** Plans of tensor states for the page. */

/** A plan as it was made, for its timeline and files: each can be made again from its wish. */
interface MadePlan {
  readonly key: string;
  readonly request: PlanRequest;
  readonly planned: Planned;
  readonly view: PlanView;
}

let last: MadePlan | null = null;

/** What is planned, with the options that mean something for it, and what tells it from others. */
interface Asked {
  readonly planning: Planning;
  readonly options: Options;
  readonly key: string;
}

/** Graphs have sizes of their own, which the fields of the form would say again; models have no open ones. */
const OF_MODELS = ["batch", "seq", "passes"];
const OF_GRAPHS = ["dims"];
const without = (options: Options, names: readonly string[]): Options =>
  Object.fromEntries(Object.entries(options).filter(([name]) => !names.includes(name)));

/** Returns what a wish plans. Throws InputError. */
async function askedBy({ model, options }: PlanWish): Promise<Asked> {
  if (typeof model === "string")
    return { planning: { model: modelNamed(model) }, options: without(options, OF_GRAPHS), key: model };
  const bytes = await bytesOf(model);
  const key = `${model.name} ${bytes.length} ${fingerprintOf(bytes)}`;
  if (isPlainJson(bytes, model.name))
    return { planning: { model: configuredModel(bytes, model.name) }, options: without(options, OF_GRAPHS), key };
  const graph = readTensorGraph(bytes, model.name, optionValue(options, "dims"));
  return { planning: { graph, source: model.name }, options: without(options, OF_MODELS), key };
}

const nameOf = (model: PlanWish["model"]): string => (typeof model === "string" ? model : model.name);

/** Returns the plan of a wish: made, or as it was made last. Throws as planStep does. */
async function plannedFor(wish: PlanWish, tools: Tools): Promise<MadePlan> {
  const topology = await networkOf(wish.network);
  const { planning, options, key: model } = await askedBy(wish);
  const key = JSON.stringify([topology.name, topologyHash(topology), model, options]);
  if (last?.key === key) return last;
  const { request, subject } = planRequestOf(options, planning, topology);
  const { engine, signal } = tools;
  const onProgress = (what: string, done: number, total: number): void => tools.progress({ what, done, total });
  const planned = await planStep(engine, topology, { ...request, signal, onProgress });
  const report = planReport(subject, topology, request, planned);
  const command = commandLine(["banyan", "plan", nameOf(wish.model)], wish.network, options);
  last = { key, request, planned, view: { report, ...planParts(planned.best), command } };
  return last;
}

/** Answers "plan". */
export const plan = async ({ wish }: Ask<"plan">, tools: Tools): Promise<PlanView> =>
  (await plannedFor(wish, tools)).view;

/** Answers "planTimeline". */
export async function planTimeline({ wish }: Ask<"planTimeline">, tools: Tools): Promise<Answer<"planTimeline">> {
  const { planned } = await plannedFor(wish, tools);
  return stepTimeline(planned.best.simulated);
}

/** How the files of a plan end. */
const ENDS = { torch: ".torch.py", jax: ".jax.py", commands: ".collectives.sh", trace: ".step.trace.json" } as const;

/** Answers "planFile": what `banyan plan` writes with the option of that name. */
export async function planFile({ wish, to }: Ask<"planFile">, tools: Tools): Promise<GivenFile> {
  const { request, planned, view } = await plannedFor(wish, tools);
  const { stages, placed, simulated } = planned.best;
  const found = stages.map(({ plan: one }) => one);
  const { model, topology } = view.report;
  const name = `${plainName(model.name)}.${plainName(topology.name) || "network"}`;
  if (to === "chakra") {
    const { accelerator, precision } = request;
    const psOf = (one: Computation): number => computationPs(accelerator, precision, one);
    const files = Array.from(chakraTraces(placed, "workload", { psOf }), ({ name: file, bytes }) => ({
      path: `${name}.chakra/${file}`,
      parts: [bytes as Uint8Array<ArrayBuffer>],
    }));
    return asOne(files);
  }
  const network = wish.network.file?.name ?? wish.network.topology.trim();
  const parts = {
    torch: () => [torchPlacements(found)],
    jax: () => [jaxSpecs(found)],
    commands: () => [collectivesScript(network, planCollectives(planned.best, topology.npus))],
    trace: () => [...stepTrace(simulated.tasks, simulated.times)],
  }[to]();
  return { name: `${name}${ENDS[to]}`, content: new Blob(parts) };
}
