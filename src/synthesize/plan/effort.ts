/**
 * How much a search may do. Work is counted in milliseconds that it takes on a usual machine, so what is found does not depend on
 * the machine nor on what else it does; a clock strikes as well, but only where the machine is several times slower.
 */
export interface Effort {
  /** Counts work that was done. */
  spend(ms: number): void;
  /** Returns the work that is left, at least 0. */
  leftMs(): number;
  /** Returns the time that is left by the clock, at least 0. */
  clockMs(): number;
  /** Returns whether no work is left, or no time. */
  isOver(): boolean;
  /** Returns a part (0 .. 1) of the work that is left; what is spent of it is spent here too. */
  part(share: number): Effort;
  /** Does what is no part of the search: the clock stands meanwhile. */
  aside<Result>(work: () => Promise<Result>): Promise<Result>;
  /** Returns what is left, or so many milliseconds of both where less is. */
  atLeast(ms: number): Effort;
}

/** Told of work that is about to be done, in milliseconds as counted; returns whether to stop before it. */
export type Stopped = (ms: number) => boolean;

/** Part of the time that is worked, as it is counted. */
const WORKED = 0.6;

/** Returns what can be done in so many milliseconds from now, by a clock in milliseconds. */
export function effortOf(limitMs: number, now: () => number = () => performance.now()): Effort {
  let asideMs = 0;
  const searched = (): number => now() - asideMs;
  const aside = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    const began = now();
    const result = await work();
    asideMs += now() - began;
    return result;
  };
  const made = (workMs: number, end: number, above: (ms: number) => void): Effort => {
    let left = workMs;
    const spend = (ms: number): void => {
      left -= ms;
      above(ms);
    };
    const leftMs = (): number => Math.max(0, left);
    const clockMs = (): number => Math.max(0, end - searched());
    return {
      spend,
      leftMs,
      clockMs,
      aside,
      isOver: () => left <= 0 || clockMs() === 0,
      part: (share) => made(share * leftMs(), end, spend),
      atLeast: (ms) => made(Math.max(ms, leftMs()), Math.max(searched() + ms, end), spend),
    };
  };
  return made(WORKED * limitMs, now() + limitMs, () => undefined);
}
