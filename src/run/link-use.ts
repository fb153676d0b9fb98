import { wiringOf } from "../model/dimensions/dimensions.ts";
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

/** Returns the dimension in which two NPUs differ. */
function dimensionOf(
  wiring: readonly { readonly size: number; readonly stride: number }[],
  a: number,
  b: number,
): number {
  return wiring.findIndex(({ size, stride }) => Math.floor(a / stride) % size !== Math.floor(b / stride) % size);
}

/** Returns how long each link of phases is held: all of a dimension as long as its use on average says. O(links). */
function useOfPhases(schedule: PhaseSchedule): LinkUse {
  const { topology } = schedule;
  const { linkSource, linkTarget } = topology;
  const { ps, dimensions } = simulatePhases(schedule);
  const heldPs = dimensions.map(({ utilisation }) => toNumber(utilisation) * ps);
  const wiring = wiringOf(topology) ?? [];
  const busyPs = Float64Array.from(linkSource, (from, link) => {
    const to = linkTarget[link];
    return isNpu(topology, from) && isNpu(topology, to) ? (heldPs[dimensionOf(wiring, from, to)] ?? 0) : 0;
  });
  wiring.forEach(({ upLink, downLink }, d) => {
    for (const link of [...upLink, ...downLink]) busyPs[link] = heldPs[d];
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
