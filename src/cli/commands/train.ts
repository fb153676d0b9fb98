import { join } from "node:path";
import { unlessRefused } from "../../base/errors.ts";
import type { Engine } from "../../engine/types.ts";
import { stepSvg } from "../../export/pictures/svg-step.ts";
import { chakraTraces } from "../../export/workloads/chakra.ts";
import { stepTrace } from "../../export/workloads/step-trace.ts";
import type { Topology } from "../../model/topology/topology.ts";
import type { Computation } from "../../model/workload/layer-work.ts";
import { type Model, modelNamed } from "../../model/workload/models.ts";
import { type PlacedTasks, placedStep } from "../../model/workload/placed-tasks.ts";
import { computationPs } from "../../model/workload/roofline.ts";
import { groupText } from "../../report/training.ts";
import { acceleratorOf } from "../../request/accelerator.ts";
import { optionValue, placeOf, refuseOptions, textOf } from "../../request/option-table.ts";
import { parallelismOf } from "../../request/parallel.ts";
import { collectivesOf, trainOnBoth } from "../../run/training/from-texts.ts";
import { type GivenReport, givenReport, type TrainingReport, trainingReport } from "../../run/training/report.ts";
import type { TrainedStep } from "../../run/training/train.ts";
import { shownRow, type Trained, trainGiven } from "../../run/training/training.ts";
import { answerText, type Context, noteTaken, outJson, outLines } from "../context.ts";
import { withEngine } from "../engine.ts";
import { namedFiles, outputFolder } from "../files/export-world.ts";
import { filesOfFolder, nameOf, openSource, readText, STANDARD_INPUT, statOf } from "../files/input-file.ts";
import { configuredModel } from "../files/model-file.ts";
import { outputFile } from "../files/output-file.ts";
import { networksOf } from "../network.ts";
import { trainingLines } from "../reports/training-report.ts";

/** What is to be trained: a model, or tasks that were read. */
type Subject =
  | { readonly model: Model }
  | { readonly name: string; readonly source: string; readonly placed: PlacedTasks };

/**
 * Returns the model of a name or of Hugging Face's config.json; the tasks of a folder of Chakra traces (with a JSON file of groups
 * where there is one) or of an ASTRA-sim workload text, in which --parallel tp=N says who share a layer. Throws InputError.
 */
async function subjectOf({ options }: Context, text: string, topology: Topology): Promise<Subject> {
  const stats = text === STANDARD_INPUT ? null : statOf(text, "the model");
  if (stats === undefined) return { model: modelNamed(text) };
  const name = nameOf(text);
  if (stats?.isDirectory() === true) {
    const { readChakra } = await import("../../import/workloads/chakra.ts");
    const files = filesOfFolder(text, "the model");
    const traces = files.filter((file) => file.endsWith(".et"));
    const groups = files.filter((file) => file.endsWith(".json"));
    const read = (file: string): Uint8Array => {
      const source = openSource(join(text, file), "the model");
      return source.read(0, source.size);
    };
    const own =
      groups.length === 1
        ? { name: groups[0] as string, text: readText(join(text, groups[0] as string), "the model") }
        : null;
    const placed = readChakra(
      traces.map((file) => ({ name: file, bytes: read(file) })),
      { groups: own, dimensions: topology.npuCount === traces.length ? topology.shape : null },
    );
    return { name, source: "Chakra traces", placed };
  }
  const content = readText(text, "the model");
  if (content.trimStart().startsWith("{")) return { model: await configuredModel(content, name) };
  const { readAstraText } = await import("../../import/workloads/astra-text.ts");
  const ways = optionValue(options, "parallel");
  const npus = topology.npuCount;
  const modelNpus = ways === undefined ? null : parallelismOf(ways, npus, placeOf("parallel")).tensor;
  return {
    name,
    source: "ASTRA-sim workload text",
    placed: placedStep(readAstraText(content, name, { npus, modelNpus })),
  };
}

/** `banyan train MODEL TOPO --parallel dp=8,tp=8 --batch 512`: what a step takes, and what better collectives gain. */
export async function run(context: Context, args: readonly string[]): Promise<number> {
  const { options, json } = context;
  const tracePath = textOf(options, "trace");
  const trace = tracePath === undefined ? undefined : outputFile(context, tracePath, placeOf("trace"));
  const outputPath = textOf(options, "output");
  const output = outputPath === undefined ? undefined : outputFile(context, outputPath, placeOf("output"));
  const svgPath = textOf(options, "svg");
  const svg = svgPath === undefined ? undefined : outputFile(context, svgPath, placeOf("svg"));
  const chakraPath = textOf(options, "chakra");
  const chakra = chakraPath === undefined ? undefined : outputFolder(context, chakraPath, placeOf("chakra"));
  const { topology, whole } = await networksOf(args[1] as string, options);
  noteTaken(context, whole);
  const subject = await subjectOf(context, args[0] as string, topology);
  const {
    report,
    found,
    computationPs: timeOf,
  } = await withEngine(context, (engine) =>
    "model" in subject
      ? modelTrained(context, engine, subject.model, topology, whole)
      : givenTrained(context, engine, subject, topology),
  );
  if (chakra !== undefined) {
    const files = chakraTraces(found.placed, "workload", { psOf: timeOf });
    chakra.write(namedFiles(files));
  }
  const shown = found.steps[shownRow(found)] as TrainedStep;
  svg?.write(plotOf(report, shown));
  trace?.write(stepTrace(shown.tasks, shown.times));
  output?.write([answerText({ ...context, json: false }, report)]);
  if (json) outJson(context, report);
  else if (output === undefined || !context.quiet) outLines(context, trainingLines(report, context));
  return 0;
}

/** Returns the plot of a step. */
function plotOf(report: TrainingReport | GivenReport, { tasks, times }: TrainedStep): Iterable<string> {
  const bars = report.rows.map(({ collectives, us, computeUs, bubbleUs, exposedUs }) => {
    const waits = Object.entries(exposedUs).map(([group, waitUs]) => ({ group, name: groupText(group), us: waitUs }));
    return { name: collectives, us, computeUs, bubbleUs, waits };
  });
  const name = "workload" in report ? report.workload.name : report.model.name;
  return stepSvg(`A step of ${name} on ${report.topology.name}`, bars, { tasks, ...times });
}

/** What a command writes of a step. */
interface Answer {
  readonly found: Pick<Trained, "rows" | "steps" | "placed">;
  readonly report: TrainingReport | GivenReport;
  /** Returns how long a computation takes here. */
  readonly computationPs: (computation: Computation) => number;
}

/** Returns a model's step, on the whole network too where something of it failed. */
async function modelTrained(
  { options, signal, progress }: Context,
  engine: Engine,
  model: Model,
  topology: Topology,
  whole: Topology,
): Promise<Answer> {
  const onProgress = (what: string, done: number, total: number): void => progress({ what, done, total });
  const asked = { options, model };
  const { request, own, before } = await trainOnBoth(engine, { topology, whole }, asked, { signal, onProgress });
  const { accelerator, precision = "bf16" } = request;
  return {
    found: own,
    report: trainingReport(request, topology, own, before),
    computationPs: (computation: Computation) => computationPs(accelerator, precision, computation),
  };
}

/** Returns what tasks take that were read. Throws InputError for options that are a model's. */
async function givenTrained(
  context: Context,
  engine: Engine,
  { name, source, placed }: Exclude<Subject, { model: Model }>,
  topology: Topology,
): Promise<Answer> {
  const { options, signal, progress } = context;
  refuseOptions(
    options,
    ["batch", "microBatch", "seq", "recompute", "optimizer", "bucket", "pass"],
    `a model; ${source} have their own,`,
  );
  const precision = optionValue(options, "precision") ?? "bf16";
  const asked = textOf(options, "accelerator");
  const known = () => acceleratorOf(asked, topology.name, precision, placeOf("accelerator"));
  const accelerator = asked === undefined ? unlessRefused(known) : known();
  const collectives = collectivesOf(optionValue(options, "algorithms"));
  const onProgress = (what: string, done: number, total: number): void => progress({ what, done, total });
  const found = await trainGiven(engine, topology, { placed, accelerator, precision, collectives, signal, onProgress });
  return {
    found,
    report: givenReport({ name, source, placed }, topology, found.rows),
    computationPs: (computation: Computation) =>
      computation.givenPs ?? (accelerator === null ? 0 : computationPs(accelerator, precision, computation)),
  };
}
