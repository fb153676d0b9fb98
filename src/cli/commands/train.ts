import { stepTrace } from "../../export/workloads/step-trace.ts";
import { type Model, modelNamed } from "../../model/workload/models.ts";
import { placeOf, textOf } from "../../request/option-table.ts";
import { trainOnBoth } from "../../run/training/from-texts.ts";
import { trainingReport } from "../../run/training/report.ts";
import type { TrainedStep } from "../../run/training/train.ts";
import { shownRow } from "../../run/training/training.ts";
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
  const { signal, progress } = context;
  const onProgress = (what: string, done: number, total: number): void => progress({ what, done, total });
  const { request, own, before } = await withEngine(context, (engine) =>
    trainOnBoth(engine, { topology, whole }, { options, model }, { signal, onProgress }),
  );
  const { tasks, times } = own.steps[shownRow(own)] as TrainedStep;
  trace?.write(stepTrace(tasks, times));
  const report = trainingReport(request, topology, own, before);
  output?.write([answerText({ ...context, json: false }, report)]);
  if (json) outJson(context, report);
  else if (output === undefined || !context.quiet) outLines(context, trainingLines(report, context));
  return 0;
}
