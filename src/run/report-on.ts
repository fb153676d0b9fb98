import { CancelledError, InternalError } from "../base/errors.ts";
import type { Kind, Making, Simulated } from "../kinds/kind.ts";
import { greaterBound } from "../model/bounds/bounds.ts";
import type { Bound } from "../model/bounds/witness.ts";
import type { Replay } from "../model/replay/problem.ts";
import type { Topology } from "../model/topology/topology.ts";
import type { SynthesizeOptions } from "../request/options.ts";

/** Above so many transfers the simulation is left out unless asked for. */
const MOST_SIMULATED = 1e8;

/** A schedule that was made, not yet judged. */
export interface Made<Schedule> {
  readonly schedule: Schedule;
  readonly making: Making;
  /** What holds for any schedule of the collective. */
  readonly limit: Bound;
  /** A bound for the same chunks and routes that is above what the kind proves, where a solver proved one. */
  readonly bound?: Bound;
  /** Trees: pieces of each tree's part. */
  readonly pieces?: number;
  /** Where it was simulated to choose it. */
  readonly simulated?: Simulated;
  /** Holds what was simulated against other judges. Throws InternalError. */
  readonly check?: (simulated: Simulated | null) => void;
  /** Its policy left something out that could make it better. */
  readonly couldBeBetter?: boolean;
}

/** With what a schedule is judged. */
export interface Judging extends Pick<SynthesizeOptions, "switching" | "simulate" | "signal" | "onProgress"> {
  readonly replay: Replay;
  readonly limitOn: (topology: Topology) => Bound;
  /** Without it the bound is the limit where it takes long. */
  readonly bounded: boolean;
}

/**
 * Returns the report of a schedule that was made: judged, simulated, bounded. Throws InternalError where it is wrong,
 * CancelledError.
 */
export function reportOnMade<AReport>(
  kind: Kind<AReport>,
  { making, limit, bound: proved, pieces, simulated: before, check }: Omit<Made<unknown>, "schedule">,
  { switching, simulate = false, signal, onProgress, replay, limitOn, bounded }: Judging,
): AReport {
  const begin = (phase: string): void => {
    if (signal?.aborted) throw new CancelledError();
    onProgress?.({ phase, done: 0, total: 1 });
  };
  const stepOf =
    (phase: string) =>
    (done: number, total: number): void =>
      onProgress?.({ phase, done, total });
  begin("verify");
  const verdict = kind.judge({ onProgress: stepOf("verify") });
  const { violations, violationCount } = verdict;
  if (violationCount > 0)
    throw new InternalError(
      `${making.algorithm} made a schedule that breaks ${violationCount} rules: ${violations[0]?.message}`,
    );
  begin("simulate");
  const most = simulate ? Number.POSITIVE_INFINITY : MOST_SIMULATED;
  const simulated = before ?? kind.simulate({ switching, replay, pieces, most, onProgress: stepOf("simulate") });
  check?.(simulated);
  const isBounded = bounded || !kind.boundsLate;
  if (isBounded) begin("bound");
  const own = isBounded ? kind.bound(limit, verdict, limitOn) : limit;
  const bound = proved === undefined ? own : greaterBound(own, proved);
  return kind.report({ verdict, simulated, limit, bound }, making);
}
