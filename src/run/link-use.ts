import { wiringOf } from "../model/dimensions/dimensions.ts";
import { groupDimensions } from "../model/dimensions/group-dimensions.ts";
import { toNumber } from "../model/numbers/rational.ts";
import { isPeriodSchedule } from "../model/periods/period-schedule.ts";
import { isPhaseSchedule, type PhaseSchedule } from "../model/phases/phase-schedule.ts";
import type { Replay } from "../model/replay/problem.ts";
import type { AnySchedule } from "../model/steps/schedule.ts";
import { isNpu } from "../model/topology/topology.ts";
import { isTreeFlow } from "../model/trees/tree-flow.ts";
import { simulatePeriods } from "../simulate/periods/periods.ts";
import { simulatePhases } from "../simulate/phases/phases.ts";
import { simulate, switchingFor } from "../simulate/simulate.ts";
import { simulateTreeFlow } from "../simulate/trees/tree-flow.ts";

/** How long links are held by a schedule that takes `totalPs`; picoseconds. */
export interface LinkUse {
  /** [links] */
  readonly busyPs: Float64Array;
  readonly totalPs: number;
}

/** Returns the first dimension in which two ranks differ. */
function dimensionOf(dimensions: readonly { readonly size: number }[], a: number, b: number): number {
  let place = 1;
  return dimensions.findIndex(({ size }) => {
    const differs = Math.floor(a / place) % size !== Math.floor(b / place) % size;
    place *= size;
    return differs;
  });
}

/** Returns how long each link of phases is held: all of groups' lines in a dimension as long as its use on average says. O(links). */
function useOfPhases(schedule: PhaseSchedule): LinkUse {
  const { topology, collective } = schedule;
  const { linkSource, linkTarget } = topology;
  const { groupSize, groupMembers } = collective;
  const { ps, dimensions: uses } = simulatePhases(schedule);
  const { dimensions } = schedule;
  const heldPs = uses.map(({ utilisation }) => toNumber(utilisation) * ps);
  const wiring = groupDimensions(wiringOf(topology) ?? [], collective);
  // place of each NPU among the members of all groups; -1 of others
  const placeOf = new Int32Array(topology.npuCount).fill(-1);
  groupMembers.forEach((npu, place) => {
    placeOf[npu] = place;
  });
  const busyPs = Float64Array.from(linkSource, (from, link) => {
    const to = linkTarget[link];
    if (!isNpu(topology, from) || !isNpu(topology, to)) return 0;
    const [a, b] = [placeOf[from], placeOf[to]];
    const isOfGroup = a >= 0 && b >= 0 && Math.floor(a / groupSize) === Math.floor(b / groupSize);
    return isOfGroup ? (heldPs[dimensionOf(dimensions, a, b)] ?? 0) : 0;
  });
  if (typeof wiring === "string") return { busyPs, totalPs: ps };
  wiring.forEach(({ kind, of: { upLink, downLink } }, d) => {
    if (kind !== "switch") return;
    for (const npu of groupMembers) for (const link of [upLink[npu], downLink[npu]]) busyPs[link] = heldPs[d];
  });
  return { busyPs, totalPs: ps };
}

/** Returns how long links are held by a schedule of any kind; trees in `pieces`. O(transfers). */
export function linkUseOf(schedule: AnySchedule, pieces: number, replay: Replay): LinkUse {
  if (isPhaseSchedule(schedule)) return useOfPhases(schedule);
  if (isTreeFlow(schedule)) {
    const { linkBusyPs, ps } = simulateTreeFlow(schedule, pieces);
    return { busyPs: linkBusyPs, totalPs: ps };
  }
  if (isPeriodSchedule(schedule)) {
    const { linkBusyPs, ps } = simulatePeriods(schedule);
    return { busyPs: linkBusyPs, totalPs: ps };
  }
  const { linkBusyPs, ps } = simulate(schedule, { switching: switchingFor(schedule), replay });
  return { busyPs: linkBusyPs, totalPs: ps };
}
