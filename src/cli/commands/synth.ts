import { InputError, inWords } from "../../base/errors.ts";
import { optionName } from "../../base/option-names.ts";
import { readCollectives } from "../../import/collectives/collective.ts";
import { algorithmTold } from "../../import/text/made-by.ts";
import { treesAsSteps } from "../../kinds/expand.ts";
import { kindOf } from "../../kinds/kinds.ts";
import { hasRoot } from "../../model/collective/collective.ts";
import { looksLikePreset } from "../../model/presets/preset.ts";
import type { AnySchedule } from "../../model/steps/schedule.ts";
import type { Topology } from "../../model/topology/topology.ts";
import { isTreeFlow } from "../../model/trees/tree-flow.ts";
import { toldOf } from "../../report/claims.ts";
import { aboutOf, collectiveSummary, type Report, topologySummary } from "../../report/result.ts";
import { collectiveText, networkText } from "../../report/subject-text.ts";
import { synthesisOptions } from "../../request/from-texts.ts";
import { refuseBesideSeveral, refuseUntaken, withSketchSize } from "../../request/maker-options.ts";
import {
  NETWORK_OPTIONS,
  type Options,
  optionValue,
  placeOf,
  refuseOptions,
  textOf,
} from "../../request/option-table.ts";
import type { SynthesizeOptions } from "../../request/options.ts";
import { problemOf } from "../../request/problem.ts";
import { progressOf } from "../../request/progress.ts";
import { refuseEnding } from "../../run/export/endings.ts";
import { formatOf, refuseBefore, writeSchedule } from "../../run/export/schedule-output.ts";
import type { OutputFile } from "../../run/export/world.ts";
import { failureStory, failuresNamed, type NamedFailure, rankFailures, refuseOther } from "../../run/failures.ts";
import { synthesizeJoint } from "../../run/joint.ts";
import { synthesize } from "../../run/synthesize.ts";
import { ALGORITHMS, AUTO, algorithmNamed, estimateBy, USUAL_ALGORITHM } from "../../synthesize/catalog.ts";
import { collectiveRequest, demandCollective } from "../collective-option.ts";
import { type Context, noteTaken, outJson, outLines } from "../context.ts";
import { withEngine } from "../engine.ts";
import { openSource, readText, statOf } from "../files/input-file.ts";
import { outputFile } from "../files/output-file.ts";
import { OPEN_IN_SENDS, scheduleOf } from "../files/schedule-file.ts";
import { networkAndSketch, networkOf } from "../network.ts";
import { autoLines } from "../reports/auto-report.ts";
import { failureLines, rankingLines } from "../reports/failure-report.ts";
import { jointReportLines } from "../reports/joint-report.ts";
import { synthesisReport } from "../reports/synthesis-report.ts";
import { labelled } from "../reports/text.ts";

const SCHEDULE_ENDINGS = [".json", ".bys"];

/** Returns the schedule of before a failure; what is wrong with it is refused, as are the two in each other's place. Throws InputError. */
async function scheduleToRepair(context: Context, file: string, network: string): Promise<AnySchedule> {
  if (statOf(file, optionName("repair")) === undefined && looksLikePreset(file) && statOf(network, "the network"))
    throw new InputError(optionName("repair"), "a file of a schedule", file).saying(
      `${optionName("repair")} is ${file}, a network; did you mean \`banyan synth ${file} --repair ${network}\`?`,
    );
  // what is said of the network is not said of the schedule of before
  const ofNetwork: readonly string[] = [...NETWORK_OPTIONS, "topology"];
  const options = Object.fromEntries(Object.entries(context.options).filter(([id]) => !ofNetwork.includes(id)));
  const schedule = await scheduleOf({ ...context, options }, file, { own: OPEN_IN_SENDS, place: "repair" });
  const { violations, violationCount } = kindOf(schedule).judge({ limit: 1 });
  if (violationCount === 0) return schedule;
  throw new InputError(
    optionName("repair"),
    "a schedule without a fault",
    inWords(`${file}: ${violations[0]?.message}`),
  );
}

/**
 * Returns the options with the collective, size, chunks, root and algorithm of the schedule of before, where they say none. Throws
 * InputError.
 */
function asBefore(options: Options, { topology, collective }: AnySchedule, file: string): Options {
  const { kind, sizeBytes, chunksPerNpu, groupCount, groupSize, groupMembers, rootRank } = collective;
  const told = algorithmTold(openSource(file, optionName("repair")));
  const known = ALGORITHMS.some(({ name }) => name === told) ? { algorithm: told as string } : {};
  const asked = optionValue(options, "collective");
  if (asked !== undefined && asked !== kind)
    return { ...known, ...(kind !== "custom" && groupCount === 1 && { size: String(sizeBytes) }), ...options };
  if (kind === "custom" || groupCount > 1)
    throw new InputError(optionName("collective"), `the collective of ${file}, which is of several groups or its own,`);
  const members = Array.from(groupMembers, (npu) => topology.nodeNames[npu] as string);
  const algorithm = textOf({ ...known, ...options }, "algorithm") ?? USUAL_ALGORITHM;
  return {
    ...known,
    collective: kind,
    size: String(sizeBytes),
    // others choose their number of chunks by the network
    ...(algorithm === USUAL_ALGORITHM && { chunks: String(chunksPerNpu) }),
    ...(groupSize === topology.npuCount ? {} : { group: members.join(",") }),
    ...(hasRoot(kind) ? { root: members[rootRank] as string } : {}),
    ...options,
  };
}

/** Writes a schedule of any kind; returns the bytes. What "auto" chose is written as steps where a .bys file is asked for. */
function written(context: Context, output: OutputFile, schedule: AnySchedule, report: Report): number {
  const isCompact = formatOf(output.path) === "bys";
  const kept =
    isCompact && report.auto !== undefined && isTreeFlow(schedule)
      ? treesAsSteps(schedule, placeOf("output"))
      : schedule;
  return writeSchedule(context, output, kindOf(kept), kept === schedule ? toldOf(report) : { about: aboutOf(report) });
}

/** `banyan synth TOPO --collective C`: a schedule, verified, simulated and bounded. */
export async function run(context: Context, args: readonly string[]): Promise<number> {
  const { json, quiet, signal } = context;
  if (textOf(context.options, "collectives") !== undefined) return synthesizeSeveral(context, args);
  const oldFile = textOf(context.options, "repair");
  const old = oldFile === undefined ? undefined : await scheduleToRepair(context, oldFile, args[0] as string);
  const options = old === undefined ? context.options : asBefore(context.options, old, oldFile as string);
  await demandCollective(options, () => networkOf(args[0] as string, options), " (or --collectives FILE)");
  const path = textOf(options, "output");
  if (path !== undefined) refuseEnding(path, SCHEDULE_ENDINGS);
  const output = path === undefined ? undefined : outputFile(context, path, placeOf("output"));
  const wanted = synthesisOptions(options);
  const sketchPath = textOf(options, "sketch");
  if (sketchPath !== undefined)
    refuseUntaken({ ...(wanted.algorithm && { algorithm: wanted.algorithm }), sketch: sketchPath });
  const { topology, sketch } = await networkAndSketch(args[0] as string, options);
  noteTaken(context, topology);
  if (old !== undefined) refuseOther(oldFile as string, old.topology, topology);
  const request = collectiveRequest(options, topology);
  const each = optionValue(options, "withoutEach");
  if (each !== undefined)
    return rankByTime(context, topology, failuresNamed(topology, each), {
      ...request,
      ...wanted,
      ...(sketch && { sketch }),
    });
  const repair = old !== undefined && isTreeFlow(old) ? old : undefined;
  const maker = wanted.algorithm === AUTO ? null : algorithmNamed(wanted.algorithm ?? USUAL_ALGORITHM);
  if (output !== undefined && maker?.makes === "steps") {
    const problem = problemOf(topology, withSketchSize({ ...request, ...(sketch && { sketch }) }));
    refuseBefore(output, estimateBy(maker, problem.topology, problem.collective));
  }
  const { schedule, report, failure } = await withEngine(context, async (engine) => {
    const made = await synthesize(engine, topology, {
      ...request,
      ...wanted,
      ...(repair === undefined ? {} : { repair }),
      ...(sketch === undefined ? {} : { sketch }),
      signal,
      onProgress: (step) => context.progress(progressOf(step)),
    });
    const isAlike = old !== undefined && sameTask(old, made.schedule);
    return { ...made, ...(isAlike && { failure: failureStory(engine, old, made.schedule, made.report) }) };
  });
  const bytes = output === undefined ? undefined : written(context, output, schedule, report);
  const shown: Report = {
    ...report,
    schedule: { ...report.schedule, file: output?.path ?? null },
    ...(failure && { failure }),
  };
  if (json) outJson(context, shown);
  else if (!(quiet && output !== undefined)) {
    const lines = synthesisReport(shown, schedule, context.style, {
      fileBytes: bytes,
      details: options["details"] === true,
    });
    const story = failure === undefined ? [] : failureLines(failure, report, context.style);
    outLines(context, [...lines, ...autoLines(shown, context.style), ...story]);
  }
  return 0;
}

/** Whether two schedules are of one collective and size, so that their times can be compared. */
const sameTask = (a: AnySchedule, b: AnySchedule): boolean =>
  a.collective.kind === b.collective.kind && a.collective.sizeBytes === b.collective.sizeBytes;

/** `--without-each`: a schedule for what each failure leaves, the slowest first. */
async function rankByTime(
  context: Context,
  whole: Topology,
  failures: readonly NamedFailure[],
  wanted: SynthesizeOptions,
): Promise<number> {
  const { options, json, style, signal } = context;
  refuseOptions(
    options,
    ["output", "repair"],
    "nothing beside --without-each, which makes a schedule for each failure,",
  );
  const ranking = await withEngine(context, (engine) =>
    rankFailures(engine, whole, failures, {
      request: (topology) => collectiveRequest(options, topology),
      make: async (topology) => (await synthesize(engine, topology, { ...wanted, signal })).report.time.us,
      signal,
      onFailure: (done, total) =>
        context.progress(
          done === null
            ? { what: "synthesizing for the whole network" }
            : { what: "synthesizing for what failures leave", done, total, unit: "unlike failures" },
        ),
    }),
  );
  const { topology, collective } = problemOf(whole, collectiveRequest(options, whole));
  const about = {
    topology: topologySummary(topology),
    collective: collectiveSummary(topology, collective),
    algorithm: wanted.algorithm ?? USUAL_ALGORITHM,
  };
  if (json) outJson(context, { schema: "banyan/failures@1", ...about, ...ranking });
  else
    outLines(context, [
      "",
      `  ${labelled("topology", networkText(about.topology))}`,
      `  ${labelled("collective", `${collectiveText(topology, collective)}; ${about.algorithm}`)}`,
      ...rankingLines(ranking, style, options["details"] === true),
    ]);
  return 0;
}

/** `banyan synth TOPO --collectives FILE`: one schedule of several collectives at once. */
async function synthesizeSeveral(context: Context, args: readonly string[]): Promise<number> {
  const { options, json, quiet, signal } = context;
  refuseOptions(
    options,
    ["collective", "size", "chunks", "root", "group", "outsiders"],
    "nothing beside --collectives, whose file says it all,",
  );
  const wanted = synthesisOptions(options);
  refuseBesideSeveral({ ...wanted, sketch: textOf(options, "sketch"), repair: textOf(options, "repair") });
  const file = textOf(options, "collectives") as string;
  const path = textOf(options, "output");
  if (path !== undefined && formatOf(path) !== "json")
    throw new InputError(placeOf("output"), "a .json file for several collectives at once", path);
  if (path !== undefined) refuseEnding(path, [".json"]);
  const output = path === undefined ? undefined : outputFile(context, path, placeOf("output"));
  const topology = await networkOf(args[0] as string, options);
  const { entries, placeOf: placeOfEntry } = readCollectives(readText(file, optionName("collectives")), file, topology);
  const { schedule, report } = await withEngine(context, (engine) =>
    synthesizeJoint(engine, topology, {
      ...wanted,
      collectives: entries,
      placeOf: placeOfEntry,
      signal,
      onProgress: (step) => context.progress(progressOf(step)),
    }),
  );
  const bytes = output === undefined ? undefined : writeSchedule(context, output, kindOf(schedule), toldOf(report));
  const shown = { ...report, schedule: { ...report.schedule, file: output?.path ?? null } };
  if (json) outJson(context, shown);
  else if (!(quiet && output !== undefined)) {
    const told = { fileBytes: bytes, details: options["details"] === true };
    outLines(context, jointReportLines(shown, schedule, context.style, told));
  }
  return 0;
}
