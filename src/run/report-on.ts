import { InternalError } from "../base/errors.ts";
import { refuseStopped, turn } from "../base/stopping.ts";
import type { Kind, LimitFor, Making, Simulated, Verdict } from "../kinds/kind.ts";
import { greaterBound } from "../model/bounds/bounds.ts";
import type { ClassLimit } from "../model/bounds/class-limit.ts";
import type { Bound } from "../model/bounds/witness.ts";
import { compare, format, rational } from "../model/numbers/rational.ts";
import type { Replay } from "../model/replay/problem.ts";
import type { JudgeSteps } from "../model/replay/steps-problem.ts";
import type { SynthesizeOptions } from "../request/options.ts";

/** Above this many transfers the simulation is left out unless asked for. */
const MOST_SIMULATED = 1e8;

/** A schedule that was made, not yet judged. */
export interface Made<Schedule> {
  readonly schedule: Schedule;
  readonly making: Making;
  /** What holds for any schedule of the collective. */
  readonly limit: Bound;
  /** A bound of planned times, for the same chunks and routes, that a solver proved. */
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
  readonly judge?: JudgeSteps | undefined;
  readonly limitFor: LimitFor;
  /** Without it the limit of the class and the bound of planned times are left out where they take long. */
  readonly bounded: boolean;
}

/**
 * Returns the report of a schedule that was made: judged, simulated, bounded. Throws InternalError where it is wrong,
 * CancelledError.
 */
export async function reportOnMade<AReport>(
  kind: Kind<AReport>,
  { making, limit, bound: proved, pieces, simulated: before, check }: Omit<Made<unknown>, "schedule">,
  { switching, simulate = false, signal, onProgress, replay, judge, limitFor, bounded }: Judging,
): Promise<AReport> {
  const begin = async (phase: string): Promise<void> => {
    await turn(signal);
    onProgress?.({ phase, done: 0, total: 1 });
  };
  const stepOf =
    (phase: string) =>
    (done: number, total: number): void => {
      refuseStopped(signal);
      onProgress?.({ phase, done, total });
    };
  await begin("verify");
  const verdict = kind.judge({ onProgress: stepOf("verify"), judge });
  const { violations, violationCount } = verdict;
  if (violationCount > 0)
    throw new InternalError(
      `${making.algorithm} made a schedule that breaks ${violationCount} rules: ${violations[0]?.message}`,
    );
  await begin("simulate");
  const most = simulate ? Number.POSITIVE_INFINITY : MOST_SIMULATED;
  const simulated = before ?? kind.simulate({ switching, replay, pieces, most, onProgress: stepOf("simulate") });
  check?.(simulated);
  const all = kind.limit(verdict, limit);
  const isBounded = bounded || !kind.boundsLate;
  if (isBounded) await begin("bound");
  const bounds = isBounded
    ? boundsOf(kind, verdict, simulated?.model, limitFor, proved)
    : { classLimit: null, plannedBound: null };
  refuseBelow(making.algorithm, simulated, [all, bounds.classLimit]);
  return kind.report({ verdict, simulated, limit: all, limitFor, ...bounds }, making);
}

/** What is proved of schedules of a kind: in the network model, and of times as they are planned. */
export interface KindBounds {
  readonly classLimit: ClassLimit | null;
  readonly plannedBound: Bound | null;
}

/** Returns what is proved of schedules like one; `model`: of its simulation; `proved`: of planned times, by a solver. */
export function boundsOf(
  kind: Kind<unknown>,
  verdict: Verdict,
  model: string | undefined,
  limitFor: LimitFor,
  proved?: Bound,
): KindBounds {
  const stores = model?.endsWith("store-and-forward") === true;
  const own = kind.plannedBound();
  return {
    classLimit: kind.classLimit(verdict, limitFor, stores),
    plannedBound: own === null || proved === undefined ? own : greaterBound(own, proved),
  };
}

/** Throws InternalError for a schedule that is faster than a limit says anything can be: one of them is wrong. */
function refuseBelow(algorithm: string, simulated: Simulated | null, limits: readonly (Bound | null)[]): void {
  if (simulated === null) return;
  for (const limit of limits) {
    if (limit === null || compare(limit.ps, rational(BigInt(Math.ceil(simulated.ps)))) <= 0) continue;
    throw new InternalError(`${algorithm} takes ${simulated.ps} ps, below the limit of ${format(limit.ps)} ps`);
  }
}
