import { InputError } from "../../base/errors.ts";
import { topologyJsonParts } from "../../export/networks/topology-json.ts";
import { perfettoTrace } from "../../export/schedules/perfetto.ts";
import { isPhaseSchedule } from "../../model/phases/phase-schedule.ts";
import { aboutBytes } from "../../model/steps/estimate.ts";
import { transfersOf } from "../../model/steps/schedule.ts";
import { linkCount } from "../../model/topology/topology.ts";
import { isTreeFlow, listedTrees } from "../../model/trees/tree-flow.ts";
import { count } from "../../report/amounts.ts";
import { aboutOf } from "../../report/result.ts";
import { type Exporter, lacksMessages, type Written } from "./exporter.ts";
import {
  refuseSchedule,
  type ScheduleFormat,
  writePhases,
  writeSchedule,
  writeShown,
  writeTrees,
} from "./schedule-output.ts";
import { asSteps, expanded } from "./steps.ts";
import type { ScheduleSubject } from "./subject.ts";
import type { World } from "./world.ts";

/** Bytes of a slice of a trace, and the longest trace that its viewer opens. */
const SLICE_BYTES = 200;
const MOST_TRACE = 2 ** 31;

function writeAs(world: World, subject: ScheduleSubject, path: string, to: string, format: ScheduleFormat): Written {
  const output = world.file(path);
  const schedule = asSteps(subject, to);
  refuseSchedule(output, format, schedule);
  const about = subject.report === null ? undefined : aboutOf(subject.report);
  const transfers = transfersOf(schedule);
  const bytes = writeSchedule(world, output, format, schedule, about);
  return { bytes, what: count(transfers, "transfer"), facts: { transfers } };
}

export const SCHEDULE_EXPORTERS: readonly Exporter[] = [
  {
    name: "json",
    extension: ".json",
    description: "a schedule, its trees or phases, or a network, as Banyan's JSON",
    fromSchedule(world, subject, path) {
      const { schedule, report } = subject;
      const about = report === null ? undefined : aboutOf(report);
      if (isPhaseSchedule(schedule)) {
        const bytes = writePhases(world, world.file(path), schedule, about);
        return { bytes, what: count(schedule.chunk.length, "phase"), facts: { phases: schedule.chunk.length } };
      }
      if (!isTreeFlow(schedule)) return writeAs(world, subject, path, "json", "json");
      const bytes = writeTrees(world, world.file(path), schedule, about);
      const trees = listedTrees(schedule);
      return { bytes, what: count(trees, "tree"), facts: { trees } };
    },
    fromNetwork(world, { topology }, path) {
      const bytes = world.file(path).write(topologyJsonParts(topology));
      return { bytes, what: count(linkCount(topology), "link") };
    },
  },
  {
    name: "bys",
    extension: ".bys",
    description: "a schedule in little space, with checksums",
    lacks: lacksMessages,
    fromSchedule: (world, subject, path) => writeAs(world, subject, path, "bys", "bys"),
  },
  {
    name: "steps",
    extension: ".json",
    description: "trees or phases transfer by transfer, JSON",
    lacks: lacksMessages,
    fromSchedule: (world, subject, path) => writeAs(world, subject, path, "steps", "json"),
  },
  {
    name: "perfetto",
    extension: ".json",
    description: "a trace of the plan for ui.perfetto.dev",
    lacks: lacksMessages,
    fromSchedule(world, subject, path) {
      const output = world.file(path);
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
      const written = writeShown(world, output, perfettoTrace(steps, steps.startPs, steps.endPs), bytes);
      return { bytes: written, what: count(transfers, "transfer"), facts: { transfers } };
    },
  },
];
