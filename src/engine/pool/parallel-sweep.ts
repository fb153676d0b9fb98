import type { CancelFlag, SweepProblem } from "../contract/kernels.ts";
import type { Pool } from "./pool.ts";

/** Parts for each thread, for some sinks take longer than others. */
const PARTS_PER_THREAD = 4;

/**
 * Returns what the sweep kernel returns, the flow into each sink, with the sinks spread over the pool's threads, which read
 * one copy of the network. Sinks do not depend on each other, so the answer is the same with any number of threads.
 */
export async function parallelSweep(pool: Pool, problem: SweepProblem, cancel?: CancelFlag): Promise<Float64Array> {
  const sinkCount = problem.sinks.length;
  const parts = Math.max(1, Math.min(sinkCount, pool.threads === 1 ? 1 : pool.threads * PARTS_PER_THREAD));
  const shared = pool.share(problem);
  const firstOf = (part: number): number => Math.floor((part * sinkCount) / parts);
  const flows = await Promise.all(
    Array.from({ length: parts }, (_, part) => {
      const sinks = shared.sinks.subarray(firstOf(part), firstOf(part + 1));
      return pool.run({ kind: "sweep", problem: { ...shared, sinks } }, cancel);
    }),
  );
  const all = new Float64Array(sinkCount);
  flows.forEach((flow, part) => {
    all.set(flow, firstOf(part));
  });
  return all;
}
