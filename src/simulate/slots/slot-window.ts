import { InputError } from "../../base/errors.ts";
import type { Streams } from "./slot-streams.ts";

/** Transfers of a stream that a window keeps, where nothing else is asked for. */
const CELLS = 256;
const MOST_CELLS = 2 ** 28;

/** The chunk is at the sender since the window began or before. */
export const THERE = -1;
/** The chunk does not come to the sender within the window. */
export const NOT_YET = -2;
/** Codes from here down: chunk AT_ORIGIN - code leaves the NPU that has it first. */
export const AT_ORIGIN = -3;

/** Cells between those of neighbouring streams, which otherwise would compete for the same lines of the caches. */
const APART = 8;

/**
 * The part of every stream that a window of time can touch. Transfer k of stream s is cell s * stride + (k & mask); cells
 * from arrived[s] on are in use: those before head[s] have started, those before planned[s] may start within the window.
 */
export interface Window {
  readonly stride: number;
  readonly mask: number;
  readonly lengthPs: number;
  /** [streams] starts within a window at most. */
  readonly most: Int32Array;
  readonly arrived: Int32Array;
  readonly head: Int32Array;
  readonly planned: Int32Array;
  /** [cells] arrival; -1 until it is known. */
  readonly times: Float64Array;
  /** [cells] what the transfer waits for: a cell that brings its chunk to the sender, or a code. */
  readonly waits: Int32Array;
  /** [cells] where streams merge, the next cell that brings the same chunk to the same NPU, -1 after the last; else empty. */
  readonly next: Int32Array;
}

/**
 * Returns an empty window that is as long as `starts` transfers take on the fastest link. Without `starts` as long as leaves
 * 256 cells per stream, more where more transfers than that are on their way at once.
 * Throws InputError where that is too much memory.
 */
export function windowFor(streams: Streams, merges: boolean, starts?: number): Window {
  const { serialPs, travelPs, count } = streams;
  let fastest = Number.POSITIVE_INFINITY;
  let flying = 1;
  let longest = 1;
  for (let s = 0; s < count.length; s++) {
    if (count[s] === 0) continue;
    fastest = Math.min(fastest, serialPs[s]);
    flying = Math.max(flying, Math.min(count[s], Math.ceil(travelPs[s] / serialPs[s])));
    longest = Math.max(longest, count[s]);
  }
  if (fastest === Number.POSITIVE_INFINITY) fastest = 1;
  // starts of two windows stand in a stream that has not been settled yet
  let ahead = Math.min(starts ?? Math.max(CELLS - flying, flying) >> 1, longest);
  let shift = Math.ceil(Math.log2(2 * ahead + flying));
  const most = Math.floor(Math.log2(Math.max(1, MOST_CELLS / count.length - APART)));
  if (shift > most) {
    shift = most;
    ahead = (2 ** shift - flying) >> 1;
    if (ahead < 1) {
      const limit = Math.max(0, 2 ** shift - 2);
      throw new InputError(
        "chunks on their way on one link",
        `at most ${limit} at once to simulate this schedule`,
        flying,
      );
    }
  }
  const stride = 2 ** shift + APART;
  const cells = count.length * stride;
  const lengthPs = ahead * fastest;
  return {
    stride,
    mask: 2 ** shift - 1,
    lengthPs,
    most: Int32Array.from(serialPs, (ps, s) => Math.min(count[s], Math.ceil(lengthPs / ps))),
    arrived: new Int32Array(count.length),
    head: new Int32Array(count.length),
    planned: new Int32Array(count.length),
    times: new Float64Array(cells),
    waits: new Int32Array(cells),
    next: new Int32Array(merges ? cells : 0),
  };
}
