import { InputError } from "../../errors.ts";
import { estimateOf } from "../../model/estimate.ts";
import { synthesize } from "../../pipeline.ts";
import { problemOf } from "../../problem.ts";
import type { Report } from "../../result.ts";
import { type Context, outJson } from "../context.ts";
import { withEngine } from "../engine.ts";
import { networkOf } from "../network.ts";
import { outputFile } from "../output-file.ts";
import { collectiveRequest } from "../request.ts";
import { formatOf, refuseBefore, writeSchedule } from "../schedule-output.ts";
import { aboutOf, progressOf, synthesisOptions, withoutAuto } from "../synthesis-options.ts";
import { synthesisReport } from "../synthesis-report.ts";
import { textOf } from "../values.ts";
import { synthesizeSeveral } from "./synth-joint.ts";

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
  const request = collectiveRequest(withoutAuto(options), topology);
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
