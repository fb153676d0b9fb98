/** The clock of the player: time of the schedule against time on the wall. */

/** At speed 1 a schedule plays for so long. */
const WHOLE_MS = 20_000;
/** A frame that took longer (the tab was hidden) does not count as more. */
const LONGEST_FRAME_MS = 250;

export const SPEEDS = [0.1, 0.25, 0.5, 1, 2, 4] as const;

interface Played {
  readonly timePs: number;
  /** It is at its end, and does not begin again. */
  readonly done: boolean;
}

/** Returns where the player is after `elapsedMs` on the wall; a loop begins again at 0. Times in picoseconds. */
export function advance(timePs: number, elapsedMs: number, totalPs: number, speed: number, loop: boolean): Played {
  if (totalPs <= 0) return { timePs: 0, done: true };
  const elapsed = Math.min(Math.max(0, elapsedMs), LONGEST_FRAME_MS);
  const next = timePs + (elapsed / WHOLE_MS) * speed * totalPs;
  if (next < totalPs) return { timePs: next, done: false };
  return loop ? { timePs: next % totalPs, done: false } : { timePs: totalPs, done: true };
}

/** Returns the time within 0 .. totalPs that is nearest. */
export const within = (timePs: number, totalPs: number): number => Math.min(Math.max(0, timePs), totalPs);

/** Returns a time as a share of the total, "37.5 %". */
export const shareText = (timePs: number, totalPs: number): string =>
  `${(totalPs > 0 ? (100 * timePs) / totalPs : 100).toFixed(1)} %`;
