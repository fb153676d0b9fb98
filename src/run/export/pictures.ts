import { InputError } from "../../base/errors.ts";
import { optionName } from "../../base/option-names.ts";
import { topologyDot, treesDot } from "../../export/networks/dot.ts";
import { htmlReport } from "../../export/pictures/html-report.ts";
import { heatMapSvg } from "../../export/pictures/svg-heat-map.ts";
import { timelineSvg } from "../../export/pictures/svg-timeline.ts";
import { topologySvg } from "../../export/pictures/svg-topology.ts";
import { treesSvg } from "../../export/pictures/svg-trees.ts";
import { bestPiecesOf } from "../../kinds/expand.ts";
import { isPeriodSchedule } from "../../model/periods/period-schedule.ts";
import type { PhaseSchedule } from "../../model/phases/phase-schedule.ts";
import { isSlotSchedule } from "../../model/slots/slot-schedule.ts";
import { type AnySchedule, stepsOf, transfersOf, withoutPhases } from "../../model/steps/schedule.ts";
import { demandForwarding, isTreeFlow } from "../../model/trees/tree-flow.ts";
import { stepsOfTrees, treeTransfers } from "../../model/trees/tree-steps.ts";
import { type Timeline, timelineOf } from "../../picture/scene/timeline.ts";
import { wordOf } from "../../request/option-table.ts";
import { simulatePeriods } from "../../simulate/periods/periods.ts";
import { simulate, switchingFor } from "../../simulate/simulate.ts";
import { simulateSchedule } from "../../simulate/steps/replay.ts";
import { simulateTreeFlow } from "../../simulate/trees/tree-flow.ts";
import { reportOfFile } from "../report-file.ts";
import type { Exporter, Written } from "./exporter.ts";
import type { World } from "./world.ts";

const VIEWS = ["topology", "trees", "links", "time"] as const;

const written = (world: World, path: string, parts: Iterable<string>, what: string): Written => ({
  bytes: world.file(path).write(parts),
  what,
});

function svgOf(given: AnySchedule, view: (typeof VIEWS)[number]): Iterable<string> {
  const { topology } = given;
  if (view === "topology") return topologySvg(topology);
  const schedule = withoutPhases(given, optionName("to", " svg"));
  if (view === "links") {
    const { linkBusyPs, totalPs } = busyOf(schedule);
    return heatMapSvg(topology, linkBusyPs, totalPs);
  }
  if (view === "trees") {
    if (isTreeFlow(schedule)) return treesSvg(schedule);
    throw new InputError(optionName("view"), "topology, links or time for a schedule without trees", view);
  }
  if (isTreeFlow(schedule)) demandForwarding(schedule, optionName("view", " time"));
  const timeline = timelineFor(schedule);
  if (timeline !== null) return timelineSvg(topology, timeline);
  throw new InputError(optionName("view"), `a schedule of at most ${MOST_DRAWN} transfers for time`, view);
}

export const PICTURE_EXPORTERS: readonly Exporter[] = [
  {
    name: "report",
    extension: ".html",
    description:
      "a one-page report without scripts or anything to load: answer, proof, network, trees, time, links, data",
    async fromSchedule(world, { schedule: given, report, algorithm }, path) {
      const schedule = withoutPhases(given, optionName("to", " report"));
      const output = world.file(path);
      world.progress({ what: "drawing" });
      const figures =
        report ?? (await world.withEngine(async ({ kernels }) => reportOfFile(schedule, kernels, algorithm)));
      const page = htmlReport({
        topology: schedule.topology,
        report: figures,
        busy: busyOf(schedule),
        trees: isTreeFlow(schedule) ? schedule : null,
        timeline: timelineFor(schedule),
        version: world.version,
        command: null,
      });
      return { bytes: output.write(page), what: "a report" };
    },
  },
  {
    name: "svg",
    extension: ".svg",
    description: `a picture: --view topology, trees, links (how busy they are) or time`,
    takes: ["view"],
    fromSchedule(world, { schedule }, path) {
      const view = wordOf(world.options, "view", VIEWS) ?? (isTreeFlow(schedule) ? "trees" : "time");
      return written(world, path, svgOf(schedule, view), `a picture of ${view}`);
    },
    fromNetwork(world, { topology }, path) {
      const view = wordOf(world.options, "view", VIEWS) ?? "topology";
      if (view !== "topology")
        throw new InputError(optionName("view"), `topology, or ${optionName("collective")} beside it`, view).as(
          "not-alone",
        );
      return written(world, path, topologySvg(topology), "a picture of topology");
    },
  },
  {
    name: "dot",
    extension: ".dot",
    description: "a network, or trees, for Graphviz",
    fromSchedule: (world, { schedule }, path) =>
      isTreeFlow(schedule)
        ? written(world, path, treesDot(schedule), "trees")
        : written(world, path, topologyDot(schedule.topology), "a network"),
    fromNetwork: (world, { topology }, path) => written(world, path, topologyDot(topology), "a network"),
  },
];

/** What pictures show of a schedule: how busy links are, and when. */

/** How long links are held, and until when. */
interface Busy {
  /** By link, in picoseconds. */
  readonly linkBusyPs: Float64Array;
  readonly totalPs: number;
}

/** More transfers are not drawn one by one. */
const MOST_DRAWN = 2e5;

/** What has transfers that pictures show. */
type Drawn = Exclude<AnySchedule, PhaseSchedule>;

/** Returns how long links are held in the simulation, and until when. Costs one simulation. */
export function busyOf(schedule: Drawn): Busy {
  if (isPeriodSchedule(schedule)) {
    const { linkBusyPs, ps } = simulatePeriods(schedule);
    return { linkBusyPs, totalPs: ps };
  }
  const { linkBusyPs, ps } = isTreeFlow(schedule)
    ? simulateTreeFlow(schedule, bestPiecesOf(schedule))
    : simulate(schedule, { switching: switchingFor(schedule) });
  return { linkBusyPs, totalPs: ps };
}

/**
 * Returns when links are held in the simulation; null where there are more than `mostDrawn` transfers, arrival logs, or switches
 * that duplicate and sum. Costs one simulation.
 */
export function timelineFor(schedule: Drawn, mostDrawn = MOST_DRAWN): Timeline | null {
  if (isTreeFlow(schedule)) {
    if (schedule.inNetwork === true) return null;
    const pieces = bestPiecesOf(schedule);
    if (treeTransfers(schedule, pieces) > mostDrawn) return null;
    const steps = stepsOfTrees(schedule, pieces);
    return timelineOf(steps, simulateSchedule(steps, { timeline: true }).startPs);
  }
  if (transfersOf(schedule) > mostDrawn) return null;
  if (isPeriodSchedule(schedule)) return timelineFor(stepsOf(schedule), mostDrawn);
  if (isSlotSchedule(schedule)) return null;
  // hops of messages that are stored on their way are not distinguished; the plan's times stand for them
  if (switchingFor(schedule) !== "cut-through") return timelineOf(schedule);
  return timelineOf(schedule, simulateSchedule(schedule, { timeline: true }).startPs);
}
