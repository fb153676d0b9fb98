import { type Collective, withChunks } from "../../model/collective/collective.ts";
import { quickerPs } from "../../model/messages/list-order.ts";
import { OVERHEAD_PARTS } from "../../model/messages/list-times.ts";
import type { Messages } from "../../model/messages/messages.ts";
import { leastTransfers } from "../../model/steps/estimate.ts";
import type { Topology } from "../../model/topology/topology.ts";

/** Schedules of more transfers than so many are not looked at. */
const MOST_MESSAGES = 2e5;
/** More chunks must gain more than this part of the time. */
const WORTHWHILE_PARTS = 128;
/** So many numbers in turn that gain no more end the search. */
const PATIENCE = 2;

/** Messages of which only the number of chunks is open. */
interface Cutting {
  readonly topology: Topology;
  /** With one chunk per NPU. */
  readonly collective: Collective;
  readonly lanes: number;
  /** Chunks per NPU that give all lanes equally many. */
  readonly unit: number;
  /** Whether more chunks than that may be faster. */
  readonly pipelines: boolean;
  issue(collective: Collective): Messages;
}

/**
 * Returns a number of chunks per NPU: of 1, 2, 4, ... below `unit` and `unit` times 1, 2, 4, ... the least that takes at most
 * 1/128 longer than the best of them, in the quicker order of messages. Each costs its lane 1/64 of its latency besides.
 */
export function goodChunks({ topology, collective, lanes, unit, pipelines, issue }: Cutting): number {
  const cutBy = (chunks: number): Collective => withChunks(collective, chunks);
  const isTooLarge = (chunks: number): boolean => leastTransfers(cutBy(chunks)) > MOST_MESSAGES;
  if ((unit === 1 && !pipelines) || isTooLarge(unit)) return unit;
  const tried: { readonly chunks: number; readonly ps: number }[] = [];
  const tryOut = (chunks: number): number => {
    const cut = cutBy(chunks);
    const ps = quickerPs(topology, cut, issue(cut), lanes * OVERHEAD_PARTS);
    tried.push({ chunks, ps });
    return ps;
  };
  for (let chunks = 1; chunks < unit; chunks *= 2) tryOut(chunks);
  let best = tryOut(unit);
  for (let worse = 0, chunks = 2 * unit; pipelines && worse < PATIENCE && !isTooLarge(chunks); chunks *= 2) {
    const ps = tryOut(chunks);
    worse = best - ps > best / WORTHWHILE_PARTS ? 0 : worse + 1;
    best = Math.min(best, ps);
  }
  for (const { ps } of tried) best = Math.min(best, ps);
  return tried.find(({ ps }) => ps - best <= best / WORTHWHILE_PARTS)?.chunks ?? unit;
}
