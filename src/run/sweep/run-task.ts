import { InputError } from "../../base/errors.ts";
import { optionName } from "../../base/option-names.ts";
import type { Engine } from "../../engine/types.ts";
import { isCollectiveJson, readCollective } from "../../import/collectives/collective.ts";
import { readTopology } from "../../import/networks/network-formats.ts";
import { readAnySchedule } from "../../import/schedules/schedule-json.ts";
import { readSketch, readSketchNodes } from "../../import/sketches/taccl-sketch.ts";
import { utf8Text } from "../../import/text/utf8.ts";
import { readHuggingFace } from "../../import/workloads/hugging-face.ts";
import { kindOf } from "../../kinds/kinds.ts";
import { isJoint } from "../../model/joint/joint-schedule.ts";
import { presetTopology } from "../../model/presets/preset.ts";
import type { AnySchedule } from "../../model/steps/schedule.ts";
import type { Row, SweepTask } from "../../model/sweep/task.ts";
import { switchCount, type Topology } from "../../model/topology/topology.ts";
import { isTreeFlow } from "../../model/trees/tree-flow.ts";
import { type Model, modelNamed } from "../../model/workload/models.ts";
import { toldOf } from "../../report/claims.ts";
import { boundReport, type FailureStory, type Report } from "../../report/result.ts";
import type { TrainingRow } from "../../report/training.ts";
import { namedRequest, synthesisOptions } from "../../request/from-texts.ts";
import { changedNetwork, topologyOptions } from "../../request/network-from-texts.ts";
import { type Options, requestOf, textOf } from "../../request/option-table.ts";
import type { SynthesizeOptions } from "../../request/options.ts";
import { parallelText } from "../../request/parallel.ts";
import { type CollectiveOptions, problemOf } from "../../request/problem.ts";
import { limitWithFlow } from "../all-to-all.ts";
import { fitsJson } from "../export/schedule-output.ts";
import { failureStory } from "../failures.ts";
import { searchOptions } from "../search/from-texts.ts";
import { search } from "../search/search.ts";
import { synthesize } from "../synthesize.ts";
import { trainOnBoth } from "../training/from-texts.ts";

/** What a task has of the world. */
export interface TaskWorld {
  /** Returns the content of an input of the task. */
  input(sha256: string): Promise<Uint8Array>;
  /** Keeps the parts of a file; returns its hash and length. */
  keep(parts: Iterable<string | Uint8Array>): Promise<{ readonly sha256: string; readonly bytes: number }>;
  readonly signal: AbortSignal;
}

/** What a task makes. */
export interface TaskResult {
  readonly rows: readonly Row[];
  readonly schedule: { readonly sha256: string; readonly bytes: number } | null;
}

/** Longer schedules are kept as .bys files, where their kind has them. */
const MOST_JSON = 2 ** 25;

/** Reads what a task names: its inputs where there are some of that name. */
interface Inputs {
  /** Returns the text of an input; null where the task has none of that name. */
  text(name: string): Promise<string | null>;
}

const inputsOf = (task: SweepTask, world: TaskWorld): Inputs => ({
  text: async (name) => {
    const sha256 = task.inputs[name];
    return sha256 === undefined ? null : utf8Text(await world.input(sha256), name);
  },
});

async function networksOf(
  { topology, options }: SweepTask,
  inputs: Inputs,
  usualNodes?: number,
): Promise<{ readonly topology: Topology; readonly whole: Topology }> {
  const text = await inputs.text(topology);
  const open = { ...(usualNodes === undefined ? {} : { usualNodes }), ...topologyOptions(options) };
  return changedNetwork(options, async () =>
    text === null ? presetTopology(topology) : readTopology(text, topology, open),
  );
}

const CUSTOM = "custom:";

async function collectiveOf(options: Options, topology: Topology, inputs: Inputs): Promise<CollectiveOptions> {
  const name = textOf(options, "collective");
  if (name === undefined) throw new InputError(optionName("collective"), "a collective");
  const file = name.startsWith(CUSTOM) ? name.slice(CUSTOM.length) : null;
  const text = file === null ? null : await inputs.text(file);
  if (file === null || text === null) return namedRequest(name, options, ["custom:FILE"]);
  const size = isCollectiveJson(text) ? [] : (["size"] as const);
  return { collective: readCollective(text, file, topology, requestOf(options, size)) };
}

/**
 * Returns what a task of a sweep makes, as the command of its verb would: for `synth` a verified, simulated and bounded schedule in
 * one row. The same on every machine. Throws InputError, InfeasibleError, CancelledError.
 */
export async function runTask(engine: Engine, task: SweepTask, world: TaskWorld): Promise<TaskResult> {
  switch (task.verb) {
    case "synth":
      return synthTask(engine, task, world);
    case "bound":
      return boundTask(engine, task, world);
    case "search":
      return searchTask(engine, task, world);
    case "train":
      return trainTask(engine, task, world);
  }
}

async function synthTask(engine: Engine, task: SweepTask, world: TaskWorld): Promise<TaskResult> {
  const { options, keep, prices } = task;
  const inputs = inputsOf(task, world);
  const { sketch: sketchName, repair: repairName, ...own } = options;
  const sketchText = typeof sketchName === "string" ? await inputs.text(sketchName) : null;
  const boxes = sketchText === null ? null : readSketchNodes(sketchText, sketchName as string);
  const { topology, whole } = await networksOf(task, inputs, boxes ?? undefined);
  const repairText = typeof repairName === "string" ? await inputs.text(repairName) : null;
  const old = repairText === null ? null : singleSchedule(repairText, repairName as string);
  const asked: SynthesizeOptions = {
    ...(await collectiveOf(own, topology, inputs)),
    ...synthesisOptions(own),
    ...(sketchText === null ? {} : { sketch: readSketch(sketchText, sketchName as string, whole) }),
    ...(old !== null && isTreeFlow(old) ? { repair: old } : {}),
    signal: world.signal,
  };
  const { schedule, report } = await synthesize(engine, topology, asked);
  const story = old === null ? null : failureStory(engine, old, schedule, report);
  const kept = keep ? await world.keep(scheduleParts(schedule, report)) : null;
  const row = { ...networkRow(topology, prices), ...synthRow(report), ...(story === null ? {} : storyRow(story)) };
  return { rows: [row], schedule: kept };
}

function singleSchedule(text: string, name: string): AnySchedule {
  const schedule = readAnySchedule(text, name);
  if (!isJoint(schedule)) return schedule;
  throw new InputError(optionName("repair"), "a schedule of one collective", name);
}

/** Returns the file of a schedule: as JSON, and as .bys where that is long and there is one. */
function scheduleParts(schedule: AnySchedule, report: Report): Iterable<string | Uint8Array> {
  const kind = kindOf(schedule);
  const { json, bys } = kind.forms;
  const isLong = !fitsJson(kind) || (typeof json !== "string" && json.bytes > MOST_JSON);
  const form = isLong && typeof bys !== "string" ? bys : json;
  if (typeof form === "string") throw new InputError("the schedule", form);
  return form.parts(toldOf(report));
}

/** Returns what a network is made of, and what that costs where prices are known. */
export function networkRow(topology: Topology, prices?: SweepTask["prices"]): Row {
  const parts = {
    npu: topology.npuCount,
    switch: switchCount(topology),
    cable: cableCount(topology),
  };
  return {
    npus: parts.npu,
    switches: parts.switch,
    cables: parts.cable,
    ...(prices === undefined ? {} : { price: priced(parts, prices) }),
  };
}

const priced = (parts: Readonly<Record<string, number>>, prices: Readonly<Record<string, number>>): number =>
  Object.entries(parts).reduce((sum, [part, count]) => sum + count * (prices[part] ?? 0), 0);

/** Returns how many cables a network has: links of opposite directions share one. O(links). */
function cableCount({ linkSource, linkTarget }: Topology): number {
  const ways = new Map<string, [number, number]>();
  for (let link = 0; link < linkSource.length; link++) {
    const [from, to] = [linkSource[link] as number, linkTarget[link] as number];
    const [a, b, way] = from < to ? [from, to, 0] : [to, from, 1];
    const counts = ways.get(`${a} ${b}`) ?? [0, 0];
    counts[way] = (counts[way] as number) + 1;
    ways.set(`${a} ${b}`, counts);
  }
  let count = 0;
  for (const [there, back] of ways.values()) count += Math.max(there, back);
  return count;
}

function synthRow({ time, limit, classLimit, ofLimit, ofClassLimit, ...report }: Report): Row {
  const { throughput, schedule, collective, algorithm, synthesis, deterministic } = report;
  return {
    us: ofLimit === null ? null : time.us,
    limit_us: limit.us,
    class_limit_us: classLimit?.us ?? null,
    of_limit: ofLimit,
    of_class_limit: ofClassLimit,
    algbw_GBps: ofLimit === null ? null : time.algbwGBps,
    busbw_GBps: ofLimit === null ? null : time.busbwGBps,
    throughput_GBps: throughput?.algbwGBps ?? null,
    made_by: algorithm,
    policy: synthesis.policy,
    kind: schedule.kind,
    chunks: collective.chunksPerNpu,
    transfers: schedule.transfers,
    deterministic,
    because: limit.because,
  };
}

function storyRow({ was, slower, limitRose, kept, blame }: FailureStory): Row {
  return {
    us_before: was.us,
    limit_us_before: was.limit.us,
    slower,
    limit_rose: limitRose,
    kept: kept?.kept ?? null,
    kept_of: kept?.of ?? null,
    kept_what: kept?.what ?? null,
    blame,
  };
}

async function boundTask(engine: Engine, task: SweepTask, world: TaskWorld): Promise<TaskResult> {
  const inputs = inputsOf(task, world);
  const { topology: given } = await networksOf(task, inputs);
  const { topology, collective } = problemOf(given, await collectiveOf(task.options, given, inputs));
  const { limit } = await limitWithFlow(engine, topology, collective, world.signal);
  const { us, algbwGBps, because } = boundReport(topology, collective, limit);
  const row = { limit_us: us, limit_algbw_GBps: algbwGBps, because };
  return { rows: [{ ...networkRow(given, task.prices), ...row }], schedule: null };
}

async function searchTask(engine: Engine, { options, prices }: SweepTask, world: TaskWorld): Promise<TaskResult> {
  const report = await search(engine, searchOptions(options), { signal: world.signal });
  const { nodes, degree } = report;
  const rows = report.rows.map((row, at): Row => {
    // links in opposite pairs share cables; a node has a port for each link out, and for each in where cables are one-way
    const cable = row.bidirectional ? (nodes * degree) / 2 : nodes * degree;
    return {
      network: row.topology,
      best: at === report.best,
      efficient: row.efficient,
      steps: row.steps,
      bandwidth: row.bandwidthValue,
      diameter: row.diameter,
      bidirectional: row.bidirectional,
      moore_optimal: row.mooreOptimal,
      bandwidth_optimal: row.bandwidthOptimal,
      allgather_us: row.allgatherUs,
      allreduce_us: row.allreduceUs,
      alltoall_us: row.alltoallUs,
      limit_allreduce_us: report.bound.allreduceUs,
      npus: nodes,
      switches: 0,
      cables: cable,
      ...(prices === undefined ? {} : { price: priced({ npu: nodes, switch: 0, cable }, prices) }),
    };
  });
  return { rows, schedule: null };
}

async function modelOf({ model = "" }: SweepTask, inputs: Inputs): Promise<Model> {
  const text = await inputs.text(model);
  if (text === null) return modelNamed(model);
  const config = readHuggingFace(text, model);
  return { name: config.name, aliases: [], source: model, sizes: { kind: "transformer", config } };
}

async function trainTask(engine: Engine, task: SweepTask, world: TaskWorld): Promise<TaskResult> {
  const inputs = inputsOf(task, world);
  const networks = await networksOf(task, inputs);
  const subject = { options: task.options, model: await modelOf(task, inputs) };
  const { own } = await trainOnBoth(engine, { topology: networks.topology, whole: networks.topology }, subject, {
    signal: world.signal,
  });
  const { parallelism, microBatch, recompute } = own.way;
  const way = { mesh: parallelText(parallelism), micro_batch: microBatch, recompute };
  const network = networkRow(networks.topology, task.prices);
  return { rows: own.rows.map((row) => ({ ...network, ...way, ...trainRow(row) })), schedule: null };
}

const trainRow = ({ collectives, us, computeUs, bubbleUs, exposedUs, ...rest }: TrainingRow): Row => ({
  collectives,
  us,
  compute_us: computeUs,
  bubble_us: bubbleUs,
  exposed_us: Object.values(exposedUs).reduce((sum, wait) => sum + wait, 0),
  samples_per_s: rest.samplesPerSecond,
  tokens_per_s: rest.tokensPerSecond,
  model_utilisation: rest.modelUtilisation,
});
