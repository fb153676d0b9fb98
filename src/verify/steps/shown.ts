import { bigLcm } from "../../model/numbers/integers.ts";
import { placementSets, representable, wide } from "../../model/replay/columns.ts";
import type { JudgeSteps, StepsProblem } from "../../model/replay/steps-problem.ts";
import { type RouteSet, routeTimes } from "../../model/routes/routes.ts";
import type { StepSchedule } from "../../model/steps/step-schedule.ts";
import { linkCount, type Topology } from "../../model/topology/topology.ts";
import { recorder } from "../violation.ts";
import { checkParts } from "../well-formed.ts";

/**
 * Returns whether `judge` shows that a schedule keeps every rule. What rows are about is checked here, and the rows by it. False
 * says nothing: shares may be too fine, rows in another order. O(route links + members + NPUs) besides the judge.
 */
export function isShown(schedule: StepSchedule, judge: JudgeSteps): boolean {
  const { chunk, route, startPs, endPs, op } = schedule;
  for (const column of [route, startPs, endPs, op]) if (column.length !== chunk.length) return false;
  if (!checkParts(schedule, null, recorder(0))) return false;
  const problem = stepsProblem(schedule);
  return problem !== null && judge(problem);
}

/** Returns a schedule as columns of numbers; null where its shares have no common denominator below 2^53. */
function stepsProblem(schedule: StepSchedule): StepsProblem | null {
  const { topology, collective, routes, startPs, endPs, op } = schedule;
  const shares = wholeShares(topology, routes);
  if (shares === null) return null;
  const { slotPs, serialPs } = routeTimes(topology, routes, collective.chunkBytes);
  return {
    npuCount: topology.npuCount,
    linkCount: linkCount(topology),
    routeSource: routes.source,
    routeTarget: routes.target,
    linkOffset: routes.linkOffset,
    links: routes.links,
    ...shares,
    least: representable(slotPs),
    further: representable(serialPs),
    from: placementSets(collective, collective.pre, topology.npuCount),
    to: placementSets(collective, collective.post, topology.npuCount),
    reduces: collective.reduces ? 1 : 0,
    chunk: wide(schedule.chunk),
    route: wide(schedule.route),
    startPs,
    endPs,
    op,
  };
}

/** Returns shares in units of one over the common denominator of each link; null where one leaves 2^53 - 1. */
function wholeShares(
  topology: Topology,
  { links, shareNum, shareDen }: RouteSet,
): Pick<StepsProblem, "cost" | "capacity"> | null {
  const capacity = new Float64Array(linkCount(topology)).fill(1);
  for (let p = 0; p < links.length; p++) {
    if (capacity[links[p]] % shareDen[p] === 0) continue;
    const common = bigLcm(BigInt(capacity[links[p]]), BigInt(shareDen[p]));
    if (common > BigInt(Number.MAX_SAFE_INTEGER)) return null;
    capacity[links[p]] = Number(common);
  }
  return { cost: shareNum.map((num, p) => num * (capacity[links[p]] / shareDen[p])), capacity };
}
