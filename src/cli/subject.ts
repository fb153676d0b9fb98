import { statSync } from "node:fs";
import { InputError } from "../errors.ts";
import { looksLikeProgram, readProgram } from "../import/program.ts";
import type { AnySchedule } from "../model/schedule.ts";
import type { Topology } from "../model/topology.ts";
import { synthesize } from "../pipeline.ts";
import type { Report } from "../result.ts";
import { progressOf, synthesisOptions, withoutAuto } from "../words/synthesis-options.ts";
import { refuseOptions, textOf } from "../words/values.ts";
import type { Context } from "./context.ts";
import { withEngine } from "./engine.ts";
import { nameOf, STANDARD_INPUT } from "./input-file.ts";
import { networkOf } from "./network.ts";
import { type ProgramFile, refuseNetwork, textUnlessBys } from "./program-files.ts";
import { collectiveRequest } from "./request.ts";
import { isScheduleText, scheduleOf } from "./schedule-file.ts";

/** A schedule, read from a file or just made: then with its report. */
export interface ScheduleSubject {
  readonly kind: "schedule";
  readonly schedule: AnySchedule;
  readonly report: Report | null;
  /** Parts into which each tree's data is best cut for the runtime. */
  readonly parts?: number;
  /** What the user should know of its making. */
  readonly note?: string;
}
export interface ProgramSubject extends ProgramFile {
  readonly kind: "program";
}
export interface NetworkSubject {
  readonly kind: "network";
  readonly topology: Topology;
}

/** What a command is about: a schedule, a program, or a network. */
export type Subject = ScheduleSubject | ProgramSubject | NetworkSubject;

/** Options that say how a schedule is made; they mean nothing beside one that is there. */
const MAKING = [
  "size",
  "algorithm",
  "chunks",
  "root",
  "group",
  "outsiders",
  "seed",
  "trials",
  "policy",
  "switchDegree",
  "k",
  "eulerian",
  "offload",
];

/** Throws InputError where options of synthesis are given and nothing is to be synthesized. */
const refuseMaking = (context: Context, file: string): void =>
  refuseOptions(context.options, ["collective", ...MAKING], `a network in place of ${nameOf(file)}`);

/** Returns the schedule that the options of synthesis ask for on a network. Throws as synthesize does. */
export async function synthesized(context: Context, topology: Topology): Promise<ScheduleSubject> {
  const { options, signal } = context;
  const request = { ...collectiveRequest(withoutAuto(options), topology), ...synthesisOptions(options) };
  const { schedule, report } = await withEngine(context, (engine) =>
    synthesize(engine, topology, { ...request, signal, onProgress: (step) => context.progress(progressOf(step)) }),
  );
  return { kind: "schedule", schedule, report };
}

/**
 * Returns what the first argument names: a file of a schedule or program, or a network; with --collective, the schedule that is
 * synthesized on the network, by `make`. Throws InputError.
 */
export async function subjectOf(
  context: Context,
  argument: string,
  make: (context: Context, topology: Topology) => Promise<ScheduleSubject> = synthesized,
): Promise<Subject> {
  const isFile = argument === STANDARD_INPUT || statSync(argument, { throwIfNoEntry: false })?.isFile() === true;
  if (isFile) {
    const text = textUnlessBys(argument, "the file");
    if (text !== null && looksLikeProgram(text)) {
      refuseMaking(context, argument);
      refuseNetwork(context, argument);
      return { kind: "program", file: argument, text, program: readProgram(text, nameOf(argument)) };
    }
    if (text === null || isScheduleText(text)) {
      refuseMaking(context, argument);
      return { kind: "schedule", schedule: await scheduleOf(context, argument), report: null };
    }
  }
  if (textOf(context.options, "topology") !== undefined)
    throw new InputError("--topology", "a file of a schedule beside it", argument);
  const topology = await networkOf(argument, context.options);
  if (textOf(context.options, "collective") !== undefined) return make(context, topology);
  refuseOptions(context.options, MAKING, "--collective beside it");
  return { kind: "network", topology };
}
