import { InputError } from "../../errors.ts";
import { estimateOf } from "../../model/estimate.ts";
import { type SynthesizeOptions, synthesize } from "../../pipeline.ts";
import { problemOf } from "../../problem.ts";
import type { Report } from "../../result.ts";
import { synthesizerNamed } from "../../synthesize/catalog.ts";
import { type Context, outJson } from "../context.ts";
import { withEngine } from "../engine.ts";
import { networkOf } from "../network.ts";
import { outputFile } from "../output-file.ts";
import type { Options, Progress } from "../protocol.ts";
import { collectiveRequest } from "../request.ts";
import { formatOf, refuseBefore, writeSchedule } from "../schedule-output.ts";
import { synthesisReport } from "../synthesis-report.ts";
import { oneOf, switchDegree, textOf, wholeNumber } from "../values.ts";
import { synthesizeSeveral } from "./synth-joint.ts";

/** Returns what the options say of the synthesis, beside the collective. Throws InputError. */
export function synthesisOptions(options: Options): Omit<SynthesizeOptions, "collective"> {
  const algorithm = textOf(options, "algorithm");
  const seed = wholeNumber(textOf(options, "seed"), "--seed", 0);
  const trials = wholeNumber(textOf(options, "trials"), "--trials", 1);
  const policy = textOf(options, "policy");
  const degree = switchDegree(textOf(options, "switchDegree"));
  const switching = oneOf(textOf(options, "switching"), ["cut-through", "store-and-forward"] as const, "--switching");
  return {
    ...(algorithm === undefined ? {} : { algorithm: synthesizerNamed(algorithm).name }),
    ...(seed === undefined ? {} : { seed }),
    ...(trials === undefined ? {} : { trials }),
    ...(policy === undefined ? {} : { policy }),
    ...(degree === undefined ? {} : { switchDegree: degree }),
    ...(switching === undefined ? {} : { switching }),
  };
}

/** `banyan synth TOPO --collective C`: a schedule, verified, simulated and bounded. */
export async function run(context: Context, args: readonly string[]): Promise<number> {
  const { options, json, quiet, signal } = context;
  if (textOf(options, "collectives") !== undefined) return synthesizeSeveral(context, args);
  if (textOf(options, "collective") === undefined)
    throw new InputError("--collective", "a collective, or --collectives FILE,");
  const path = textOf(options, "output");
  const output = path === undefined ? undefined : outputFile(context, path, "-o");
  const wanted = synthesisOptions(options);
  const topology = await networkOf(args[0] as string, options);
  const request = collectiveRequest(options, topology);
  if (output !== undefined) {
    const problem = problemOf(topology, request);
    refuseBefore(output, estimateOf(problem.topology, problem.collective));
  }
  const { schedule, report } = await withEngine(context, (engine) =>
    synthesize(engine, topology, {
      ...request,
      ...wanted,
      ...(options["simulate"] === true ? { simulate: true } : {}),
      signal,
      onProgress: (step) => context.progress(progressOf(step)),
    }),
  );
  let bytes: number | undefined;
  if (output !== undefined) {
    bytes = writeSchedule(context, output, formatOf(output.path), schedule, aboutOf(report));
  }
  const shown: Report = { ...report, schedule: { ...report.schedule, file: output?.path ?? null } };
  if (json) outJson(context, shown);
  else if (!(quiet && output !== undefined)) {
    context.out(`${synthesisReport(shown, schedule.collective, context.style, bytes).join("\n")}\n`);
  }
  return 0;
}

const STEPS: Readonly<Record<string, string>> = {
  limit: "looking for the limit",
  synthesize: "synthesizing",
  matching: "matching",
  verify: "verifying",
  simulate: "simulating",
  bound: "looking for the bound",
};

/** Returns a step of the pipeline in words. */
export function progressOf({ phase, done, total }: { phase: string; done: number; total: number }): Progress {
  const step = STEPS[phase];
  if (step === undefined) return { what: `synthesizing ${phase}`, done, total, unit: "trials" };
  return total > 1 ? { what: step, done: Math.floor((100 * done) / total), total: 100, unit: "%" } : { what: step };
}

/** Returns what a schedule file says of its making: nothing that differs from run to run. */
export function aboutOf({
  algorithm,
  synthesis: { seed, policy },
}: Pick<Report, "algorithm" | "synthesis">): Readonly<Record<string, unknown>> {
  return { madeBy: "banyan", algorithm, seed, policy };
}
