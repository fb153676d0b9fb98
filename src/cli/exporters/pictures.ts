import { InputError } from "../../errors.ts";
import { topologyDot, treesDot } from "../../export/dot.ts";
import { htmlReport } from "../../export/html-report.ts";
import { type Timeline, timelineOf } from "../../export/pictures/timeline.ts";
import { heatMapSvg } from "../../export/svg-heat-map.ts";
import { timelineSvg } from "../../export/svg-timeline.ts";
import { topologySvg } from "../../export/svg-topology.ts";
import { treesSvg } from "../../export/svg-trees.ts";
import { type AnySchedule, transfersOf, withoutPhases } from "../../model/schedule.ts";
import { isSlotSchedule, type Schedule } from "../../model/slot-schedule.ts";
import { demandForwarding, isTreeFlow, type TreeFlow } from "../../model/tree-flow.ts";
import { bestPieces } from "../../model/tree-pieces.ts";
import { stepsOfTrees, treeTransfers } from "../../model/tree-steps.ts";
import { switchingFor } from "../../pipeline.ts";
import { reportOfFile } from "../../report-file.ts";
import { simulateSchedule } from "../../simulate/replay.ts";
import { simulate } from "../../simulate/simulate.ts";
import { simulateTreeFlow, treeFlowClock } from "../../simulate/tree-flow.ts";
import { oneOf, textOf } from "../../words/values.ts";
import type { Context } from "../context.ts";
import { outputFile } from "../output-file.ts";
import { version } from "../version.ts";
import type { Exporter, Written } from "./exporter.ts";

const VIEWS = ["topology", "trees", "links", "time"] as const;
/** More transfers are not drawn one by one. */
const MOST_DRAWN = 2e5;

const written = (context: Context, path: string, parts: Iterable<string>, what: string): Written => ({
  bytes: outputFile(context, path, "-o").write(parts),
  what,
});

/** How long links are held in the simulation, and until when. */
function busyOf(schedule: Schedule | TreeFlow): { readonly linkBusyPs: Float64Array; readonly totalPs: number } {
  const { linkBusyPs, ps } = isTreeFlow(schedule)
    ? simulateTreeFlow(schedule, bestPieces(schedule, schedule.collective.sizeBytes, treeFlowClock(schedule)))
    : simulate(schedule, { switching: switchingFor(schedule) });
  return { linkBusyPs, totalPs: ps };
}

/** When links are held in the simulation; null where there are too many transfers, or switches that duplicate and sum. */
function timelineFor(schedule: Schedule | TreeFlow): Timeline | null {
  if (isTreeFlow(schedule)) {
    if (schedule.inNetwork === true) return null;
    const pieces = bestPieces(schedule, schedule.collective.sizeBytes, treeFlowClock(schedule));
    if (treeTransfers(schedule, pieces) > MOST_DRAWN) return null;
    const steps = stepsOfTrees(schedule, pieces);
    return timelineOf(steps, simulateSchedule(steps, { timeline: true }).startPs);
  }
  if (isSlotSchedule(schedule) || transfersOf(schedule) > MOST_DRAWN) return null;
  // hops of messages that are stored on their way are not told apart; the plan's times stand for them
  if (switchingFor(schedule) !== "cut-through") return timelineOf(schedule);
  return timelineOf(schedule, simulateSchedule(schedule, { timeline: true }).startPs);
}

function svgOf(given: AnySchedule, view: (typeof VIEWS)[number]): Iterable<string> {
  const { topology } = given;
  if (view === "topology") return topologySvg(topology);
  const schedule = withoutPhases(given, "--to svg");
  if (view === "links") {
    const { linkBusyPs, totalPs } = busyOf(schedule);
    return heatMapSvg(topology, linkBusyPs, totalPs);
  }
  if (view === "trees") {
    if (isTreeFlow(schedule)) return treesSvg(schedule);
    throw new InputError("--view", "topology, links or time for a schedule without trees", view);
  }
  if (isTreeFlow(schedule)) demandForwarding(schedule, "--view time");
  const timeline = timelineFor(schedule);
  if (timeline !== null) return timelineSvg(topology, timeline);
  throw new InputError("--view", `a schedule of at most ${MOST_DRAWN} transfers for time`, view);
}

export const PICTURE_EXPORTERS: readonly Exporter[] = [
  {
    name: "html",
    description: "a report on one page, nothing loaded: answer, proof, network, trees, time, links, data",
    fromSchedule(context, { schedule: given, report }, path) {
      const schedule = withoutPhases(given, "--to html");
      const output = outputFile(context, path, "-o");
      context.progress({ what: "drawing" });
      const page = htmlReport({
        topology: schedule.topology,
        report: report ?? reportOfFile(schedule),
        busy: busyOf(schedule),
        trees: isTreeFlow(schedule) ? schedule : null,
        timeline: timelineFor(schedule),
        version,
        command: null,
      });
      return { bytes: output.write(page), what: "a report" };
    },
  },
  {
    name: "svg",
    description: "a picture: --view topology, trees, links (how busy they are) or time",
    takes: ["view"],
    fromSchedule(context, { schedule }, path) {
      const view = oneOf(textOf(context.options, "view"), VIEWS, "--view") ?? (isTreeFlow(schedule) ? "trees" : "time");
      return written(context, path, svgOf(schedule, view), `a picture of ${view}`);
    },
    fromNetwork(context, { topology }, path) {
      const view = oneOf(textOf(context.options, "view"), VIEWS, "--view") ?? "topology";
      if (view !== "topology") throw new InputError("--view", "topology, or --collective beside it", view);
      return written(context, path, topologySvg(topology), "a picture of topology");
    },
  },
  {
    name: "dot",
    description: "a network, or trees, for Graphviz",
    fromSchedule: (context, { schedule }, path) =>
      isTreeFlow(schedule)
        ? written(context, path, treesDot(schedule), "trees")
        : written(context, path, topologyDot(schedule.topology), "a network"),
    fromNetwork: (context, { topology }, path) => written(context, path, topologyDot(topology), "a network"),
  },
];
