import { type Collective, withChunks } from "../../model/collective.ts";
import { leastTransfers } from "../../model/estimate.ts";
import { orderOfReadiness } from "../../model/list-order.ts";
import { issuedPs, OVERHEAD_PARTS } from "../../model/list-times.ts";
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
  const tried: { readonly chunks: number; readonly ps: number }[] = [];
  const tryOut = (chunks: number): number => {
    const cut = withChunks(collective, chunks);
    if (leastTransfers(cut) > MOST_MESSAGES) return Number.POSITIVE_INFINITY;
    const list = issue(cut);
    const ps = Math.min(issuedPs(topology, cut, list), orderOfReadiness(topology, cut, list, OVERHEAD_PARTS).ps);
    tried.push({ chunks, ps });
    return ps;
  };
  for (let chunks = 1; chunks < unit; chunks *= 2) tryOut(chunks);
  let best = Number.POSITIVE_INFINITY;
  for (let worse = 0, chunks = unit; worse < PATIENCE; chunks *= 2) {
    const ps = tryOut(chunks);
    if (ps === Number.POSITIVE_INFINITY) break;
    worse = best - ps > best / WORTHWHILE_PARTS ? 0 : worse + 1;
    best = Math.min(best, ps);
  }
  const least = tried.reduce((ps, one) => Math.min(ps, one.ps), Number.POSITIVE_INFINITY);
  return tried.find(({ ps }) => ps - least <= least / WORTHWHILE_PARTS)?.chunks ?? unit;
}
