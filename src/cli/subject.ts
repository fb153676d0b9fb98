import { InputError } from "../base/errors.ts";
import { optionName } from "../base/option-names.ts";
import { looksLikeProgram, readProgram } from "../import/programs/program.ts";
import { isScheduleText } from "../import/schedules/schedule-text.ts";
import { isSendsText } from "../import/schedules/sends.ts";
import { algorithmTold } from "../import/text/made-by.ts";
import { isJoint } from "../model/joint/joint-schedule.ts";
import type { Topology } from "../model/topology/topology.ts";
import { MAKING_OPTIONS, optionsOf, refuseOptions, textOf } from "../request/option-table.ts";
import type { ScheduleSubject, Subject } from "../run/export/subject.ts";
import { algorithmOfFile } from "../run/report-file.ts";
import type { Context } from "./context.ts";
import { nameOf, openSource, STANDARD_INPUT, statOf } from "./files/input-file.ts";
import { anyScheduleOf } from "./files/schedule-file.ts";
import { refuseNetwork, textUnlessBys } from "./programs/program-file.ts";

/** Options of the synthesis itself, which a list of sends does not have. */
const MAKING_OF_SCHEDULES = MAKING_OPTIONS.filter((id) => optionsOf("making").includes(id));

/** Throws InputError where options of synthesis are given and nothing is to be synthesized. */
const refuseMaking = (context: Context, file: string): void =>
  refuseOptions(
    context.options,
    ["collective", ...MAKING_OPTIONS],
    `a network in place of ${nameOf(file)}`,
    "not-alone",
  );

/**
 * Returns what the first argument names: a file of a schedule or program, or else `network`; with --collective, the schedule that is
 * synthesized on the network, by `make`. Throws InputError.
 */
export async function subjectOf(
  context: Context,
  argument: string,
  network: () => Promise<Topology>,
  make: (topology: Topology) => Promise<ScheduleSubject>,
): Promise<Subject> {
  const isFile = argument === STANDARD_INPUT || statOf(argument, "the file")?.isDirectory() === false;
  if (isFile) {
    const text = textUnlessBys(argument, "the file");
    if (text !== null && looksLikeProgram(text)) {
      refuseMaking(context, argument);
      refuseNetwork(context, argument);
      return { kind: "program", name: nameOf(argument), program: readProgram(text, nameOf(argument)) };
    }
    const isSends = text !== null && isSendsText(text);
    if (text === null || isSends || isScheduleText(text)) {
      if (isSends) refuseOptions(context.options, MAKING_OF_SCHEDULES, `a network in place of ${nameOf(argument)}`);
      else refuseMaking(context, argument);
      const algorithm = algorithmOfFile(algorithmTold(openSource(argument, "the file")));
      const schedule = await anyScheduleOf(context, argument);
      if (isJoint(schedule)) return { kind: "joint", schedule, name: nameOf(argument) };
      return { kind: "schedule", schedule, report: null, name: nameOf(argument), algorithm };
    }
  }
  if (textOf(context.options, "topology") !== undefined)
    throw new InputError(optionName("topology"), "a file of a schedule beside it", argument).as("not-alone");
  const topology = await network();
  if (textOf(context.options, "collective") !== undefined) return make(topology);
  refuseOptions(context.options, MAKING_OPTIONS, "--collective beside it", "not-alone");
  return { kind: "network", topology };
}
