import { InputError } from "../../base/errors.ts";
import { topologyDot, treesDot } from "../../export/networks/dot.ts";
import { htmlReport } from "../../export/pictures/html-report.ts";
import { heatMapSvg } from "../../export/pictures/svg-heat-map.ts";
import { timelineSvg } from "../../export/pictures/svg-timeline.ts";
import { topologySvg } from "../../export/pictures/svg-topology.ts";
import { treesSvg } from "../../export/pictures/svg-trees.ts";
import { type AnySchedule, withoutPhases } from "../../model/steps/schedule.ts";
import { demandForwarding, isTreeFlow } from "../../model/trees/tree-flow.ts";
import { oneOf, textOf } from "../../request/values.ts";
import { reportOfFile } from "../report-file.ts";
import type { Exporter, Written } from "./exporter.ts";
import { busyOf, MOST_DRAWN, timelineFor } from "./views.ts";
import type { World } from "./world.ts";

const VIEWS = ["topology", "trees", "links", "time"] as const;

const written = (world: World, path: string, parts: Iterable<string>, what: string): Written => ({
  bytes: world.file(path).write(parts),
  what,
});

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
    name: "report",
    extension: ".html",
    description:
      "a report on one page without scripts, nothing loaded: answer, proof, network, trees, time, links, data",
    fromSchedule(world, { schedule: given, report, algorithm }, path) {
      const schedule = withoutPhases(given, "--to report");
      const output = world.file(path);
      world.progress({ what: "drawing" });
      const page = htmlReport({
        topology: schedule.topology,
        report: report ?? reportOfFile(schedule, undefined, algorithm),
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
    description: "a picture: --view topology, trees, links (how busy they are) or time",
    takes: ["view"],
    fromSchedule(world, { schedule }, path) {
      const view = oneOf(textOf(world.options, "view"), VIEWS, "--view") ?? (isTreeFlow(schedule) ? "trees" : "time");
      return written(world, path, svgOf(schedule, view), `a picture of ${view}`);
    },
    fromNetwork(world, { topology }, path) {
      const view = oneOf(textOf(world.options, "view"), VIEWS, "--view") ?? "topology";
      if (view !== "topology") throw new InputError("--view", "topology, or --collective beside it", view);
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
