import { InputError } from "../../base/errors.ts";
import type { Collective } from "../collective/collective.ts";
import type { Schedule } from "../slots/slot-schedule.ts";
import { leastTransfers } from "../steps/estimate.ts";
import type { Topology } from "../topology/topology.ts";
import { commSlots, suitsSlots } from "./slots.ts";
import { type CommRun, commSteps } from "./steps.ts";

/** What a collective is made of. */
export interface CommRuns {
  /** An all-gather on the network; null where only the other is needed (directionsOf). */
  readonly forward: Omit<CommRun, "backward"> | null;
  /** One on the network with every link turned around, to run backwards (Zhao 2026, corollary 1.1). */
  readonly backward: Omit<CommRun, "backward"> | null;
}

/**
 * Returns which all-gathers a collective needs: as arrival logs the one on the network itself runs both ways, over mirrored
 * routes; as steps an all-gather needs the one on the network, a reduce-scatter the one on the network turned around, an
 * all-reduce both.
 */
export function directionsOf(
  topology: Topology,
  collective: Collective,
): { readonly slots: boolean; readonly forward: boolean; readonly backward: boolean } {
  const slots = suitsSlots(topology, collective);
  return {
    slots,
    forward: slots || collective.kind !== "reducescatter",
    backward: !slots && collective.kind !== "allgather",
  };
}

/** Transfers that are listed one by one take about 100 bytes each while they are made and judged. */
const MOST_LISTED = 1e8;

/** Throws InputError where a collective needs more transfers than can be listed, and arrival logs do not suit it. O(links). */
export function refuseListing(algorithm: string, topology: Topology, collective: Collective): void {
  const transfers = leastTransfers(collective);
  if (transfers <= MOST_LISTED || suitsSlots(topology, collective)) return;
  const few = `at most ${MOST_LISTED.toExponential()} transfers, or equal links, in opposite pairs if it reduces, which take logs,`;
  throw new InputError(
    algorithm,
    few,
    `${collective.kind} on ${topology.name}: ${transfers.toExponential(1)} transfers`,
  );
}

/** Returns the schedule of an all-gather, reduce-scatter or all-reduce made of these; the runs are those of directionsOf. */
export function commCollective(topology: Topology, collective: Collective, { forward, backward }: CommRuns): Schedule {
  if (forward !== null && directionsOf(topology, collective).slots) return commSlots(topology, collective, forward);
  return commSteps(topology, collective, [
    ...(backward === null ? [] : [{ ...backward, backward: true }]),
    ...(forward === null ? [] : [{ ...forward, backward: false }]),
  ]);
}
