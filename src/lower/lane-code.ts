import type { MscclRuntime } from "../model/runtimes.ts";
import { type Attempt, attemptWith, isAttempt, type Layout } from "./attempt.ts";
import { laneWires } from "./lane-wires.ts";
import { type Excess, limitError } from "./limits.ts";
import type { Pace } from "./parts.ts";
import type { Wires } from "./wires.ts";

/** Where trees share connections, a GPU should not have more thread blocks than these. */
const ENOUGH_SHARED = 64;

/**
 * Parts of the longest run: more cost latency where calls are small, fewer cost bandwidth where they are large. All-gather on
 * 2 x DGX A100 with 11 and 2 copies a root, 1 MiB and 1 GiB simulated: in parts of 11 chunks 11 us and 3.49 ms, of 2 chunks
 * 28 us and 3.19 ms, of one 57 us and 3.18 ms (3.10 in closed form).
 */
const PARTS = 6;

/**
 * Returns the code of lanes in parts as small as steps allow: first with blocks of each lane's own, if a GPU has at most `most`,
 * else with lanes that share connections: the first with few enough blocks, or that with the fewest.
 *
 * Small parts, for a block that waits for another one does so for a whole part. The reduce-scatter of these trees, 1 GiB
 * simulated: 3.30 ms in parts of 2 chunks, 6.49 ms of 11. Blocks that take turns among several lanes carry out all contributions
 * before the sums, or each would wait for the way to a root and back: all-reduce on 4 x DGX H100, 8 ms instead of 51.
 *
 * Throws InputError where a limit of the runtime is met by none.
 */
export function codeOfLanes(
  layouts: (pace: Pace) => Layout,
  longest: number,
  runtime: MscclRuntime,
  most: number,
): Attempt {
  let excess: Excess | null = null;
  for (const mostChunks of grainsOf(longest, runtime)) {
    const layout = layouts({ mostChunks, sumsLast: false });
    const wires = laneWires(layout.parts, layout.versions, runtime, 1);
    if (wires === null) break;
    const result = attemptWith(layout, wires, runtime, Number.POSITIVE_INFINITY);
    if (isAttempt(result) && result.excess === null) {
      if (result.blocks <= most) return result;
      break;
    }
  }
  const enough = Math.min(ENOUGH_SHARED, runtime.blocksPerGpu, most);
  let best: Attempt | null = null;
  for (const mostChunks of grainsOf(longest, runtime)) {
    const layout = layouts({ mostChunks, sumsLast: true });
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

/** Yields the sizes of parts to be tried, in chunks, for runs of at most `longest`. */
function* grainsOf(longest: number, { chunksPerStep }: MscclRuntime): Generator<number> {
  const most = Math.min(longest, chunksPerStep);
  let grain = Math.min(most, Math.ceil(longest / PARTS));
  for (; grain < most; grain *= 2) yield grain;
  yield most;
}
