import { shellWord } from "../../base/shell-word.ts";
import { type Topology, topologyHash } from "../../model/topology/topology.ts";
import { namedRequest, synthesisOptions } from "../../request/from-texts.ts";
import { flagOf, type Options, textOf } from "../../request/option-table.ts";
import { progressOf } from "../../request/progress.ts";
import { synthesize } from "../../run/synthesize.ts";
import type { MakeWish, NetworkWish, ScheduleRef, ScheduleView } from "../protocol.ts";
import { fileNameFor } from "./file-format.ts";
import { networkView } from "./network-view.ts";
import { type PartAndWhole, partAndWholeOf } from "./networks.ts";
import type { Tools } from "./request-context.ts";
import { type KnownSchedule, keep } from "./schedule-cache.ts";
import { scheduleView } from "./schedule-view.ts";

/** Returns what options ask for on a network. Throws as synthesize does. */
function madeOn(
  topology: Topology,
  { options }: MakeWish,
  { engine, signal, progress }: Tools,
): Promise<KnownSchedule> {
  const request = {
    ...namedRequest(textOf(options, "collective") ?? "allgather", options),
    ...synthesisOptions(options),
  };
  return synthesize(engine, topology, { ...request, signal, onProgress: (step) => progress(progressOf(step)) });
}

/** Returns how long a schedule takes, in microseconds. */
export const usOf = ({ time }: KnownSchedule["report"]): number => time.us;

/** Returns what a wish asks for: synthesized, verified, simulated, bounded. Throws as synthesize does. */
export async function madeFor(wish: MakeWish, tools: Tools): Promise<KnownSchedule> {
  const { topology } = await partAndWholeOf(wish.network);
  return madeOn(topology, wish, tools);
}

/** Returns the network of a schedule where it is not the one that was asked for. */
const ownNetwork = ({ schedule }: KnownSchedule, { topology, whole }: PartAndWhole): ScheduleView["network"] =>
  topologyHash(schedule.topology) === topologyHash(topology) ? null : networkView(schedule.topology, whole);

/** Answers "make". */
export async function make({ wish }: { readonly wish: MakeWish }, tools: Tools): Promise<ScheduleView> {
  const started = performance.now();
  const networks = await partAndWholeOf(wish.network);
  const made = await madeOn(networks.topology, wish, tools);
  const us = made.report.deterministic ? null : usOf(made.report);
  const ref: ScheduleRef = { id: keep(made), file: null, wish, us };
  const ms = performance.now() - started;
  return {
    ...scheduleView(ref, made, ms),
    command: commandOf(wish, fileNameFor(made)),
    network: ownNetwork(made, networks),
  };
}

function wordsOf(options: Options): string[] {
  return Object.entries(options).flatMap(([name, value]) => {
    if (value === undefined || value === "") return [];
    if (typeof value === "boolean") return [flagOf(name)];
    return value.startsWith("-") ? [`${flagOf(name)}=${value}`] : [flagOf(name), value];
  });
}

/** Returns a command line that asks something on a network, for a shell: `words` come before the network's. */
export function commandLine(
  words: readonly string[],
  { topology, file, options }: NetworkWish,
  asked: Options,
): string {
  const name = file?.name ?? topology.trim();
  const network = name.startsWith("-") ? `./${name}` : name;
  return [...words, network, ...wordsOf(options), ...wordsOf(asked)].map(shellWord).join(" ");
}

/** Returns the command line that makes the schedule of a wish and writes it to a file, for a shell. */
export function commandOf({ network, options }: MakeWish, file: string): string {
  const asked = { ...options, collective: options["collective"] ?? "allgather", output: file };
  return commandLine(["banyan", "synth"], network, asked);
}
