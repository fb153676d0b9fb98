import type { Collective } from "../collective/collective.ts";
import { arrivalTable } from "../slots/arrival-table.ts";
import type { Topology } from "../topology/topology.ts";
import { messageClock } from "./list-clock.ts";
import type { Messages } from "./messages.ts";

/** A message keeps its links for this part of their latency, besides serialisation. */
export const OVERHEAD_PARTS = 64;

/**
 * Returns about how long messages issued in order take where serialisation occupies links and latency does not. Every message is
 * charged a part of the latency besides (1/64, as pieces of trees are, unless told), so that ever more chunks do not always gain.
 * No schedule is made: this chooses numbers of chunks and orders. O(message hops).
 */
export function issuedPs(
  topology: Topology,
  collective: Collective,
  list: Messages,
  overheadParts = OVERHEAD_PARTS,
): number {
  const send = messageClock(topology, collective, list, overheadParts);
  const arrived = arrivalTable(topology.npuCount, collective.chunkCount, list.count);
  let last = 0;
  for (let i = 0; i < list.count; i++) {
    const time = send(i, arrived.at(list.chunk[i], list.source[i]));
    arrived.raise(list.chunk[i], list.target[i], time);
    if (time > last) last = time;
  }
  return last;
}
