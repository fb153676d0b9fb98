import { type Collective, withChunks } from "../../model/collective.ts";
import { leastTransfers } from "../../model/estimate.ts";
import { issuedPs } from "../../model/list-times.ts";
import type { Messages } from "../../model/messages.ts";
import type { Topology } from "../../model/topology.ts";

/** Schedules of more transfers than so many are not looked at. */
const MOST_MESSAGES = 2e5;
/** More chunks must gain more than this part of the time. */
const WORTHWHILE_PARTS = 128;
/** So many numbers in turn that gain no more end the search. */
const PATIENCE = 2;

/**
 * Returns a number of chunks per NPU for messages that follow each other as a pipeline: of `unit` times 1, 2, 4, ... the least
 * that takes at most 1/128 longer than the best of them, by the estimate of `issuedPs`. `collective` has one chunk per NPU.
 */
export function goodChunks(
  topology: Topology,
  collective: Collective,
  unit: number,
  issue: (collective: Collective) => Messages,
): number {
  const costs: number[] = [];
  let best = Number.MAX_VALUE;
  for (let worse = 0, chunks = unit; worse < PATIENCE; chunks *= 2) {
    const cut = withChunks(collective, chunks);
    if (leastTransfers(cut) > MOST_MESSAGES) break;
    const list = issue(cut);
    const ps = issuedPs(topology, cut, list);
    costs.push(ps);
    worse = best - ps > best / WORTHWHILE_PARTS ? 0 : worse + 1;
    best = Math.min(best, ps);
  }
  const first = costs.findIndex((ps) => ps - best <= best / WORTHWHILE_PARTS);
  return unit * 2 ** Math.max(0, first);
}
