import { CancelledError } from "./errors.ts";

/**
 * When the signals of `endingIn` abort, as performance.now() says it: no timer is heard while a thread works. A signal made of
 * others does not keep them: without `timer` here it would be collected, and never abort.
 */
const ends = new WeakMap<
  AbortSignal,
  { readonly at: number; readonly timer: AbortSignal; readonly earlier: AbortSignal | undefined }
>();

/** Timers of more milliseconds than this are over at once. */
const MOST_MS = 2 ** 31 - 1;

/** Returns a signal that aborts in `ms`, or with `earlier`. Heed it by `refuseStopped` where the thread works on meanwhile. */
export function endingIn(ms: number, earlier?: AbortSignal): AbortSignal {
  const timer = AbortSignal.timeout(Math.min(MOST_MS, Math.max(1, Math.ceil(ms))));
  const signal = earlier === undefined ? timer : AbortSignal.any([earlier, timer]);
  ends.set(signal, { at: performance.now() + ms, timer, earlier });
  return signal;
}

/** Returns whether the time of a signal of `endingIn` is over, and nobody stopped it earlier. */
export function isOutOfTime(signal: AbortSignal | undefined): boolean {
  const end = signal === undefined ? undefined : ends.get(signal);
  if (end === undefined || end.earlier?.aborted === true) return false;
  return end.timer.aborted || performance.now() > end.at;
}

/** Throws CancelledError where a signal says so, or its time is over. */
export function refuseStopped(signal: AbortSignal | undefined): void {
  if (signal === undefined) return;
  if (signal.aborted || performance.now() > (ends.get(signal)?.at ?? Number.POSITIVE_INFINITY))
    throw new CancelledError();
}

/** Gives the event loop a turn, so that what came in the meantime is heard. Throws as refuseStopped. */
export async function turn(signal?: AbortSignal): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 0));
  refuseStopped(signal);
}
