import type { HopsView, NetworkView } from "../../protocol.ts";

/** The time-expanded network: a column for each time at which a transfer starts or ends. */
export interface Expansion {
  /** Ascending, picoseconds. */
  readonly times: readonly number[];
  /** [hops] columns in which a transfer starts and ends. */
  readonly from: Int32Array;
  readonly to: Int32Array;
}

const MOST_NPUS = 32;
const MOST_HOPS = 600;
const MOST_TIMES = 64;

/** Returns why a schedule is too large to be drawn, in a sentence that says what to do; null where it is not. */
export function tooLarge({ npuCount }: Pick<NetworkView, "npuCount">, hops: HopsView): string | null {
  const count = (number: number): string => number.toLocaleString("en");
  const instead = "the Time view shows schedules of any size.";
  if (npuCount > MOST_NPUS) {
    return `This picture has a row for each NPU and is for ${MOST_NPUS} or fewer; this network has ${count(npuCount)}. Choose a smaller network of the same kind; ${instead}`;
  }
  if (hops.chunk.length > MOST_HOPS) {
    return `This picture has an arrow for each transfer and is for ${MOST_HOPS} or fewer; this schedule has ${count(hops.chunk.length)}. Choose fewer chunks, a smaller network or a collective that sends less; ${instead}`;
  }
  const { times } = expansionOf(hops);
  if (times.length <= MOST_TIMES) return null;
  return `This picture has a column for each time at which a transfer starts or ends and is for ${MOST_TIMES} or fewer; this schedule has ${count(times.length)}. Choose fewer chunks or a network of equal links; ${instead}`;
}

/** Returns the columns of a schedule. O(hops log hops). */
export function expansionOf({ startPs, endPs }: Pick<HopsView, "startPs" | "endPs">): Expansion {
  const times = [...new Set([0, ...startPs, ...endPs])].sort((a, b) => a - b);
  const column = new Map(times.map((time, i) => [time, i]));
  const columnOf = (time: number): number => column.get(time) as number;
  return { times, from: Int32Array.from(startPs, columnOf), to: Int32Array.from(endPs, columnOf) };
}
