import { groupOfChunk } from "../model/collective/collective.ts";
import { toUs } from "../model/numbers/units.ts";
import { linksOfRoute } from "../model/routes/routes.ts";
import type { StepSchedule } from "../model/steps/step-schedule.ts";
import { linkNames } from "../model/topology/topology.ts";
import type { Violation } from "./violation.ts";
import type { Frame } from "./well-formed.ts";

/** The words of violations: names where the checks have numbers. */
export interface Names {
  /** Returns "rank 3 (gpu3)", as a member of the chunk's group; "gpu9 (outside the group)" for another NPU. */
  npu(npu: number, chunk: number): string;
  /** Returns the link's name. */
  link(link: number): string;
  /** Returns "link a>b", or "links a>switch, switch>b" for a route of several. */
  route(route: number): string;
  /** Returns "1.5 us". */
  time(ps: number): string;
}

/** The same for step schedules, with the sentence that most of their violations begin with. */
export interface Describer extends Names {
  /** Returns the violation of a sender at departure: "rank 3 sends chunk 5 on link 3>4 at 1.5 us (transfer 17)" + `fault`. */
  departure(kind: Violation["kind"], row: number, fault: string): Violation;
}

/** Returns the names in a schedule; those of links are made when the first one is asked for. */
export function names({ topology, collective, routes }: Frame): Names {
  let ofLinks: readonly string[] | undefined;

  const link = (id: number): string => {
    ofLinks ??= linkNames(topology);
    return ofLinks[id];
  };
  const npu = (id: number, chunk: number): string => {
    const { groupCount, groupSize, groupMembers } = collective;
    const name = topology.nodeNames[id];
    const group = groupOfChunk(collective, chunk);
    const rank = groupMembers.subarray(group * groupSize, (group + 1) * groupSize).indexOf(id);
    if (rank < 0) return `${name} (outside the group)`;
    const words = groupCount > 1 ? `rank ${rank} of group ${group}` : `rank ${rank}`;
    return name === String(rank) && groupCount === 1 ? words : `${words} (${name})`;
  };
  const route = (id: number): string => {
    const links = Array.from(linksOfRoute(routes, id), link);
    return `${links.length === 1 ? "link" : "links"} ${links.join(", ")}`;
  };
  return { npu, link, route, time: (ps) => `${toUs(ps)} us` };
}

/** Returns the describer of a step schedule. */
export function describer(schedule: StepSchedule): Describer {
  const { routes } = schedule;
  const words = names(schedule);
  const { npu, route, time } = words;
  return {
    ...words,
    departure(kind, row, fault) {
      const chunk = schedule.chunk[row];
      const id = schedule.route[row];
      const source = routes.source[id];
      const timePs = schedule.startPs[row];
      return {
        kind,
        npu: source,
        chunk,
        link: routes.links[routes.linkOffset[id]],
        transfer: row,
        timePs,
        message: `${npu(source, chunk)} sends chunk ${chunk} on ${route(id)} at ${time(timePs)} (transfer ${row})${fault}`,
      };
    },
  };
}
