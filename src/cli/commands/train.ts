import { InputError } from "../../base/errors.ts";
import { stepTrace } from "../../export/workloads/step-trace.ts";
import type { Topology } from "../../model/topology/topology.ts";
import { type Model, modelNamed } from "../../model/workload/models.ts";
import { acceleratorOf } from "../../request/accelerator.ts";
import { optionValue, placeOf, textOf } from "../../request/option-table.ts";
import { parallelismOf } from "../../request/parallel.ts";
import { trainingReport } from "../../run/training/report.ts";
import { type TrainRequest, train, USUAL_COLLECTIVES } from "../../run/training/training.ts";
import { algorithmNamed } from "../../synthesize/catalog.ts";
import { answerText, type Context, noteTaken, outJson, outLines } from "../context.ts";
import { withEngine } from "../engine.ts";
import { nameOf, readText, STANDARD_INPUT, statOf } from "../files/input-file.ts";
import { outputFile } from "../files/output-file.ts";
import { networksOf } from "../network.ts";
import { trainingLines } from "../reports/training-report.ts";

/** Returns the model of a name, or of a file: Hugging Face's config.json. */
async function modelOf(text: string): Promise<Model> {
  if (text !== STANDARD_INPUT && statOf(text, "the model") === undefined) return modelNamed(text);
  const { readHuggingFace } = await import("../../import/workloads/hugging-face.ts");
  const config = readHuggingFace(readText(text, "the model"), nameOf(text));
  return { name: config.name, aliases: [], source: nameOf(text), sizes: { kind: "transformer", config } };
}

/** Returns who makes the collectives. Throws InputError for a name that nobody has. */
function collectivesOf(names: readonly string[] | undefined): readonly string[] {
  const own = ["library", "best", "ideal"];
  return (
    names?.map((name) => (own.includes(name) ? name : algorithmNamed(name, own, placeOf("algorithms")).name)) ??
    USUAL_COLLECTIVES
  );
}

/** `banyan train MODEL TOPO --parallel dp=8,tp=8 --batch 512`: what a step takes, and what better collectives gain. */
export async function run(context: Context, args: readonly string[]): Promise<number> {
  const { options, json } = context;
  const tracePath = textOf(options, "trace");
  const trace = tracePath === undefined ? undefined : outputFile(context, tracePath, placeOf("trace"));
  const outputPath = textOf(options, "output");
  const output = outputPath === undefined ? undefined : outputFile(context, outputPath, placeOf("output"));
  const model = await modelOf(args[0] as string);
  const { topology, whole } = await networksOf(args[1] as string, options);
  noteTaken(context, whole);
  const request = requestOf(context, model, topology);
  const [found, before] = await withEngine(context, async (engine) => {
    const { parallelism } = request;
    const own = await train(engine, topology, request);
    if (whole === topology || whole.npuCount !== topology.npuCount) return [own, null] as const;
    // what the failure costs: the same step on the whole network
    const same = { ...request, parallelism: parallelism === "auto" ? own.way.parallelism : parallelism };
    return [
      own,
      await train(engine, whole, { ...same, microBatch: own.way.microBatch, recompute: own.way.recompute }),
    ] as const;
  });
  if (trace !== undefined) trace.write(stepTrace(found.shown.tasks, found.shown.times));
  const report = trainingReport(request, topology, found, before);
  output?.write([answerText({ ...context, json: false }, report)]);
  if (json) outJson(context, report);
  else if (output === undefined || !context.quiet) outLines(context, trainingLines(report, context));
  return 0;
}

/** Returns what the options ask for. Throws InputError. */
function requestOf({ options, signal, progress }: Context, model: Model, topology: Topology): TrainRequest {
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
    accelerator: acceleratorOf(textOf(options, "accelerator"), topology.name, precision, placeOf("accelerator")),
    parallelism:
      ways.length === 1 && ways[0] === "auto" ? "auto" : parallelismOf(ways, topology.npuCount, placeOf("parallel")),
    batch,
    precision,
    collectives: collectivesOf(optionValue(options, "algorithms")),
    ...(microBatch !== undefined && { microBatch }),
    ...(sequence !== undefined && { sequence }),
    ...(recompute !== undefined && { recompute }),
    ...(optimizer !== undefined && { optimizer }),
    ...(bucketBytes !== undefined && { bucketBytes }),
    ...(pass !== undefined && { pass }),
    signal,
    onProgress: (what, done, total) => progress({ what, done, total }),
  };
}
