import { InputError } from "../../errors.ts";
import { perfettoTrace } from "../../export/perfetto.ts";
import { topologyJsonParts } from "../../export/topology-json.ts";
import { aboutBytes } from "../../model/estimate.ts";
import { isPhaseSchedule } from "../../model/phase-schedule.ts";
import { transfersOf, withoutPhases } from "../../model/schedule.ts";
import type { Schedule } from "../../model/slot-schedule.ts";
import type { StepSchedule } from "../../model/step-schedule.ts";
import { linkCount } from "../../model/topology.ts";
import { isTreeFlow, listedTrees } from "../../model/tree-flow.ts";
import { aboutOf } from "../../words/synthesis-options.ts";
import type { Context } from "../context.ts";
import { outputFile } from "../output-file.ts";
import { stepsOfPhasesFile } from "../phase-files.ts";
import { expanded } from "../schedule-file.ts";
import {
  refuseSchedule,
  type ScheduleFormat,
  writePhases,
  writeSchedule,
  writeShown,
  writeTrees,
} from "../schedule-output.ts";
import type { ScheduleSubject } from "../subject.ts";
import { count } from "../text.ts";
import { stepsOfTreesFile } from "../tree-files.ts";
import type { Exporter, Written } from "./exporter.ts";

/** Bytes of a slice of a trace, and the longest trace that its viewer opens. */
const SLICE_BYTES = 200;
const MOST_TRACE = 2 ** 31;

/** Returns the schedule with trees as steps; phases only where steps are asked for. Throws InputError. */
function asSteps({ schedule }: ScheduleSubject, to: string): Schedule {
  if (isPhaseSchedule(schedule) && to === "steps") return stepsOfPhasesFile(schedule, `--to ${to}`);
  const plain = withoutPhases(schedule, `--to ${to}`);
  return isTreeFlow(plain) ? stepsOfTreesFile(plain, `--to ${to}`) : plain;
}

/** Returns the schedule transfer by transfer. Throws InputError where there are too many. */
export const stepsFor = (subject: ScheduleSubject, to: string): StepSchedule =>
  expanded(asSteps(subject, to), `--to ${to}`);

function writeAs(
  context: Context,
  subject: ScheduleSubject,
  path: string,
  to: string,
  format: ScheduleFormat,
): Written {
  const output = outputFile(context, path, "-o");
  const schedule = asSteps(subject, to);
  refuseSchedule(output, format, schedule);
  const about = subject.report === null ? undefined : aboutOf(subject.report);
  const transfers = transfersOf(schedule);
  const bytes = writeSchedule(context, output, format, schedule, about);
  return { bytes, what: count(transfers, "transfer"), facts: { transfers } };
}

export const SCHEDULE_EXPORTERS: readonly Exporter[] = [
  {
    name: "json",
    description: "a schedule, its trees or phases, or a network, as Banyan's JSON",
    fromSchedule(context, subject, path) {
      const { schedule, report } = subject;
      const about = report === null ? undefined : aboutOf(report);
      if (isPhaseSchedule(schedule)) {
        const bytes = writePhases(context, outputFile(context, path, "-o"), schedule, about);
        return { bytes, what: count(schedule.chunk.length, "phase"), facts: { phases: schedule.chunk.length } };
      }
      if (!isTreeFlow(schedule)) return writeAs(context, subject, path, "json", "json");
      const bytes = writeTrees(context, outputFile(context, path, "-o"), schedule, about);
      const trees = listedTrees(schedule);
      return { bytes, what: count(trees, "tree"), facts: { trees } };
    },
    fromNetwork(context, { topology }, path) {
      const bytes = outputFile(context, path, "-o").write(topologyJsonParts(topology));
      return { bytes, what: count(linkCount(topology), "link") };
    },
  },
  {
    name: "bys",
    description: "a schedule in little space, with checksums",
    fromSchedule: (context, subject, path) => writeAs(context, subject, path, "bys", "bys"),
  },
  {
    name: "steps",
    description: "trees or phases transfer by transfer, JSON",
    fromSchedule: (context, subject, path) => writeAs(context, subject, path, "steps", "json"),
  },
  {
    name: "perfetto",
    description: "a trace of the plan for ui.perfetto.dev",
    fromSchedule(context, subject, path) {
      const output = outputFile(context, path, "-o");
      const schedule = asSteps(subject, "perfetto");
      const { routes } = schedule;
      const transfers = transfersOf(schedule);
      const bytes = transfers * SLICE_BYTES * (routes.links.length / Math.max(1, routes.source.length));
      if (bytes > MOST_TRACE) {
        const most = `a schedule whose trace has at most ${aboutBytes(MOST_TRACE)}`;
        throw new InputError("--to", most, `perfetto, about ${aboutBytes(bytes)}`);
      }
      output.refuseWithoutRoom(bytes);
      const steps = expanded(schedule, "--to perfetto");
      const written = writeShown(context, output, perfettoTrace(steps, steps.startPs, steps.endPs), bytes);
      return { bytes: written, what: count(transfers, "transfer"), facts: { transfers } };
    },
  },
];
