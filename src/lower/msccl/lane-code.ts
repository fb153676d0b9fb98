import type { MscclRuntime } from "../../model/program/runtimes.ts";
import { type Attempt, attemptWith, isAttempt, type Layout } from "./attempt.ts";
import { laneWires } from "./lane-wires.ts";
import { type Excess, limitError } from "./limits.ts";
import type { Pace } from "./parts.ts";
import type { Wires } from "./wires.ts";

/** Where trees share connections, a GPU should not have more thread blocks than these. */
const ENOUGH_SHARED = 64;

/** What lanes are like, and what they may take. */
export interface LaneLimits {
  /** Chunks of the longest lane. */
  readonly longest: number;
  /** Into how many a chunk may be cut at most. */
  readonly finest: number;
  /** Parts of the longest lane that are wished for. */
  readonly parts: number;
  /** Of a GPU. */
  readonly blocks: number;
}

/**
 * Returns the code of lanes in parts: first with blocks of each lane's own, if there are enough, else with lanes that share blocks
 * and connections: the first with few enough blocks, or that with the fewest. Parts grow where blocks have too many steps.
 *
 * Parts, for a block that waits for another one does so for a whole part: reduce-scatter on 2 x DGX A100 with 11 and 2 copies a
 * root, 1 GiB simulated: 3.30 ms in parts of 2 chunks, 6.49 ms of 11 (3.10 in closed form). Blocks that take turns among several
 * lanes carry out all contributions before the sums, or each would wait for the way to a root and back: all-reduce on 4 x DGX
 * H100, 8 ms instead of 51; for the same reason they want several parts: on 2 x MI250 boxes 9.7 ms in 4 parts, 14.1 in one.
 *
 * Throws InputError where a limit of the runtime is met by none.
 */
export function codeOfLanes(layouts: (pace: Pace) => Layout, limits: LaneLimits, runtime: MscclRuntime): Attempt {
  let excess: Excess | null = null;
  for (const mostChunks of grainsOf(limits, runtime)) {
    const layout = layouts({ mostChunks, finer: 1, sumsLast: false });
    const wires = laneWires(layout.parts, layout.versions, runtime, 1);
    if (wires === null) break;
    const result = attemptWith(layout, wires, runtime, Number.POSITIVE_INFINITY);
    if (isAttempt(result) && result.excess === null) {
      if (result.blocks <= limits.blocks) return result;
      break;
    }
  }
  const enough = Math.min(ENOUGH_SHARED, limits.blocks);
  let best: Attempt | null = null;
  for (const { mostChunks, finer } of cutsOf(limits, runtime)) {
    const layout = layouts({ mostChunks, finer, sumsLast: true });
    for (const wires of wiresOf(layout, runtime)) {
      const result = attemptWith(layout, wires, runtime, enough - 1);
      const failed = isAttempt(result) ? result.excess : result;
      excess = failed ?? excess;
      if (failed !== null || !isAttempt(result)) continue;
      if (result.blocks <= enough) return result;
      if (best === null || result.blocks < best.blocks) best = result;
    }
  }
  if (best !== null) return best;
  throw limitError(
    runtime,
    excess ?? { limit: "channels", most: runtime.channels, needed: "more", help: "fewer instances, a smaller --k" },
  );
}

/** Yields wires: one run to a connection, then as many as match, in fewer and fewer channels. */
function* wiresOf({ parts, versions }: Layout, runtime: MscclRuntime): Generator<Wires> {
  const alone = laneWires(parts, versions, runtime, 1);
  if (alone !== null) yield alone;
  for (let channels = runtime.channels; channels >= 1; channels = Math.floor(channels / 2)) {
    const wires = laneWires(parts, versions, { ...runtime, channels }, Number.POSITIVE_INFINITY);
    if (wires !== null) yield wires;
  }
}

/** Yields the sizes of parts to be tried, in chunks. */
function* grainsOf({ longest, parts }: LaneLimits, { chunksPerStep }: MscclRuntime): Generator<number> {
  const most = Math.min(longest, chunksPerStep);
  let grain = Math.min(most, Math.ceil(longest / parts));
  for (; grain < most; grain *= 2) yield grain;
  yield most;
}

/**
 * Yields how lanes are cut that share blocks: first finer than in chunks if there are too few of these. By powers of two, for
 * runtimes take a program only where its chunks divide the elements of a call.
 */
function* cutsOf(limits: LaneLimits, runtime: MscclRuntime): Generator<Pick<Pace, "mostChunks" | "finer">> {
  const wished = Math.min(limits.finest, limits.parts / limits.longest);
  for (let finer = 2 ** Math.floor(Math.log2(wished)); finer > 1; finer /= 2) yield { mostChunks: 1, finer };
  for (const mostChunks of grainsOf(limits, runtime)) yield { mostChunks, finer: 1 };
}
