import type { TenNetwork } from "../../engine/contract/kernels.ts";
import type { Holdings } from "./demand.ts";

/** Tight NPUs, or also those that a first trial left late and those at most so many routes before them. */
export type Who = "tight" | { readonly lateHops: number };

/**
 * NPUs that choose what they take, where all others take the oldest. Where a network lost NPUs or links, those whose routes are
 * just enough to bring them everything in time, and the pockets behind them, starve as soon as two neighbours offer them the same;
 * nobody else does. So the neighbour rule there gives what it gives everywhere (mesh 50x50 without NPU 100, slots over the bound:
 * oldest 332, neighbour everywhere 0, there 0) in the time of the oldest choice, for few NPUs choose.
 */
export interface Choosers {
  /** Keeps what a first trial left late: NPUs whose last chunk arrives after the target. */
  readonly keepLate: (endPs: (npu: number) => number, targetPs: number) => void;
  /** Returns [npus] 1 for those that choose; null: all do. */
  readonly of: (who: Who | null) => Uint8Array | null;
}

/** More choosers than this share of the NPUs are no few. */
const MOST_OF_ALL = 1 / 8;
/** NPUs are tight that need this share of the time of those that need longest, or more. */
const TIGHT_SHARE = 0.98;

/** Returns the choosers of an all-gather with these holdings; null where routes share resources or not few NPUs are tight. */
export function choosersOf(network: TenNetwork, held: Holdings): Choosers | null {
  const { npuCount, routeSource, routeTarget, slotPs, useResource } = network;
  if (useResource.length > 0) return null;
  const most = npuCount * MOST_OF_ALL;
  /** Marks the sources of routes into NPUs that are marked; returns how many are. O(routes). */
  const marked = (first: Uint8Array, hops: number): { npus: Uint8Array; few: boolean } => {
    let npus = first;
    for (let hop = 0; hop < hops; hop++) {
      const wider = npus.slice();
      for (let r = 0; r < routeTarget.length; r++) if (npus[routeTarget[r]] === 1) wider[routeSource[r]] = 1;
      npus = wider;
    }
    return { npus, few: npus.reduce((sum, one) => sum + one, 0) <= most };
  };
  const chunksPerPs = new Float64Array(npuCount);
  for (let r = 0; r < routeTarget.length; r++) chunksPerPs[routeTarget[r]] += 1 / slotPs[r];
  const needPs = chunksPerPs.map((rate, v) => (held.chunk.length - (held.offset[v + 1] - held.offset[v])) / rate);
  const longestPs = needPs.reduce((longest, need) => Math.max(longest, need), 0);
  const tight = marked(
    Uint8Array.from(needPs, (need) => (need >= TIGHT_SHARE * longestPs ? 1 : 0)),
    1,
  );
  if (!tight.few) return null;
  let late = new Uint8Array(npuCount);
  return {
    keepLate: (endPs, targetPs) => {
      late = Uint8Array.from(late, (_, npu) => (endPs(npu) > targetPs ? 1 : 0));
    },
    of: (who) => {
      if (who === null || who === "tight") return who === null ? null : tight.npus;
      const { npus } = marked(late, who.lateHops);
      const both = npus.map((one, npu) => one | tight.npus[npu]);
      return marked(both, 0).few ? both : tight.npus;
    },
  };
}
