import { collectivesScript } from "../../export/plans/collectives.ts";
import { jaxSpecs } from "../../export/plans/jax-specs.ts";
import { torchPlacements } from "../../export/plans/torch-placements.ts";
import { chakraTraces } from "../../export/workloads/chakra.ts";
import { stepTrace } from "../../export/workloads/step-trace.ts";
import { utf8Text } from "../../import/text/utf8.ts";
import { planCollectives } from "../../model/tensor-plan/collectives.ts";
import { modelNamed } from "../../model/workload/models.ts";
import { computationPs } from "../../model/workload/roofline.ts";
import { type Options, optionValue, placeOf, textOf } from "../../request/option-table.ts";
import { type Planning, planRequestOf } from "../../run/plan/from-texts.ts";
import { planStep } from "../../run/plan/plan.ts";
import { planReport } from "../../run/plan/report.ts";
import { answerText, type Context, noteTaken, outJson, outLines } from "../context.ts";
import { withEngine } from "../engine.ts";
import { namedFiles, outputFolder } from "../files/export-world.ts";
import { nameOf, openSource, STANDARD_INPUT, statOf } from "../files/input-file.ts";
import { configuredModel } from "../files/model-file.ts";
import { outputFile } from "../files/output-file.ts";
import { networksOf } from "../network.ts";
import { planLines } from "../reports/plan-report.ts";

/** Returns a model of a name, or what a file has: a configuration of Hugging Face's, or a graph of tensors. Throws InputError. */
async function planningOf(text: string, options: Options): Promise<Planning> {
  const stats = text === STANDARD_INPUT ? null : statOf(text, "the model");
  if (stats === undefined) return { model: modelNamed(text) };
  const name = nameOf(text);
  const source = openSource(text, "the model");
  const bytes = source.read(0, source.size);
  const { isPlainJson, readTensorGraph } = await import("../../import/tensor-graphs/tensor-graph-formats.ts");
  // formats of graphs have a header, configurations of models have none
  if (isPlainJson(bytes, name)) return { model: await configuredModel(utf8Text(bytes, name), name) };
  return { graph: readTensorGraph(bytes, name, optionValue(options, "dims")), source: name };
}

/** `banyan plan MODEL TOPO --batch 64 --memory 80GiB`: how the tensors of a step lie so that it is fastest. */
export async function run(context: Context, args: readonly string[]): Promise<number> {
  const { options, json, signal, progress } = context;
  const file = (id: "trace" | "torch" | "jax" | "commands" | "output") => {
    const path = textOf(options, id);
    return path === undefined ? undefined : outputFile(context, path, placeOf(id));
  };
  const [trace, torch, jax, commands, output] = (["trace", "torch", "jax", "commands", "output"] as const).map(file);
  const chakraPath = textOf(options, "chakra");
  const chakra = chakraPath === undefined ? undefined : outputFolder(context, chakraPath, placeOf("chakra"));
  const { topology, whole } = await networksOf(args[1] as string, options);
  noteTaken(context, whole);
  const { request, subject } = planRequestOf(options, await planningOf(args[0] as string, options), topology);
  const onProgress = (what: string, done: number, total: number): void => progress({ what, done, total });
  const planned = await withEngine(context, (engine) => planStep(engine, topology, { ...request, signal, onProgress }));
  const { stages, placed, simulated } = planned.best;
  const plans = stages.map(({ plan }) => plan);
  if (chakra !== undefined) {
    const { accelerator, precision } = request;
    chakra.write(
      namedFiles(chakraTraces(placed, "workload", { psOf: (one) => computationPs(accelerator, precision, one) })),
    );
  }
  trace?.write(stepTrace(simulated.tasks, simulated.times));
  torch?.write([torchPlacements(plans)]);
  jax?.write([jaxSpecs(plans)]);
  commands?.write([collectivesScript(args[1] as string, planCollectives(planned.best, topology.npuCount))]);
  const report = planReport(subject, topology, request, planned);
  output?.write([answerText({ ...context, json: false }, report)]);
  if (json) outJson(context, report);
  else if (output === undefined || !context.quiet) outLines(context, planLines(report, context));
  return 0;
}
