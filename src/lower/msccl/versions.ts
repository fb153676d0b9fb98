import { InputError } from "../../base/errors.ts";
import type { Buffers } from "./buffers.ts";
import type { Parts } from "./parts.ts";

/** The hop sends what its rank had at the start. */
export const FROM_START = -1;

/** What becomes of parts at ranks. Every arrival makes a new version of the part at its rank. */
export interface Versions {
  /** [hops] arrival that made what the hop carries, FROM_START for none. */
  readonly carries: Int32Array;
  /** [hops] hops that carry what its arrival made. */
  readonly departures: Int32Array;
  /** [hops] of these the one that most depends on, -1 for none. */
  readonly onward: Int32Array;
  /** [hops] 1: a later contribution is added to what its arrival made. */
  readonly isAddedTo: Uint8Array;
  /** [hops] 1: its arrival makes what the rank must have at the end. */
  readonly isLast: Uint8Array;
  /** [ranks * parts] last arrival, FROM_START: none. */
  readonly last: Int32Array;
  /** [ranks * parts] events of the part at the rank. */
  readonly events: Int32Array;
}

/** Returns the versions of all parts; throws InputError where a hop sends what its rank does not have. O(hops + ranks x parts). */
export function versionsOf(parts: Parts, buffers: Buffers): Versions {
  const { source, target, part, events, first, moves } = parts;
  const hops = source.length;
  const count = first.length;
  const last = new Int32Array(moves.rankCount * count).fill(FROM_START);
  const many = new Int32Array(moves.rankCount * count);
  const carries = new Int32Array(hops);
  const departures = new Int32Array(hops);
  const onward = new Int32Array(hops).fill(-1);
  const isAddedTo = new Uint8Array(hops);
  const isLast = new Uint8Array(hops);
  for (const event of events) {
    const hop = event >> 1;
    const at = (event % 2 === 0 ? source[hop] : target[hop]) * count + part[hop];
    many[at]++;
    if (event % 2 === 1) {
      if (parts.reduces[hop] === 1 && last[at] !== FROM_START) isAddedTo[last[at]] = 1;
      last[at] = hop;
      continue;
    }
    carries[hop] = last[at];
    if (last[at] !== FROM_START) departures[last[at]]++;
    else if (buffers.startAt[at] < 0)
      throw new InputError(
        "a schedule to be lowered",
        "transfers of chunks that their source has",
        `one that rank ${source[hop]} has not`,
      );
  }
  const weight = new Int32Array(hops).fill(1);
  for (let i = events.length - 1; i >= 0; i--) {
    const hop = events[i] >> 1;
    const from = carries[hop];
    if (events[i] % 2 === 1 || from === FROM_START) continue;
    weight[from] += weight[hop];
    if (onward[from] < 0 || weight[hop] >= weight[onward[from]]) onward[from] = hop;
  }
  for (let at = 0; at < last.length; at++) if (last[at] !== FROM_START && buffers.endAt[at] >= 0) isLast[last[at]] = 1;
  return { carries, departures, onward, isAddedTo, isLast, last, events: many };
}
