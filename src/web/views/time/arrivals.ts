import { begunAt, type Holdings, heldAt } from "./holdings.ts";

/** A chunk that came to an NPU, or is on its way. */
export interface Arrival {
  readonly hop: number;
  readonly npu: number;
  readonly from: number;
  readonly at: number;
  readonly isMoving: boolean;
  /** Contributions that the NPU holds from then on. */
  readonly amount: number;
}

/** Returns how many NPUs hold all of a chunk at a time, and how it came there, the latest first. O(NPUs + hops of the chunk). */
export function arrivalsOf(holdings: Holdings, chunk: number, time: number): { holders: number; rows: Arrival[] } {
  const { hops, whole, amount, ofChunk } = holdings;
  const holders = heldAt(holdings, chunk, time).reduce((sum, has) => sum + (has >= whole[chunk] ? 1 : 0), 0);
  const rows = Array.from(begunAt(holdings, ofChunk, chunk, time), (hop) => ({
    hop,
    npu: hops.target[hop],
    from: hops.source[hop],
    at: hops.endPs[hop],
    isMoving: hops.endPs[hop] > time,
    amount: amount[hop],
  }));
  return { holders, rows: rows.reverse() };
}
