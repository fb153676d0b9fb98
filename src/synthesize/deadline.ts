/** How long integer programs are solved where nobody says, all of a schedule's together. */
export const USUAL_SOLVE_MS = 60_000;

/** A time by which work should have ended, and whether it kept anything from being tried. */
export interface Deadline {
  /** Returns the time left, at least 0. */
  leftMs(): number;
  /** Returns whether no time is left; that is remembered. */
  isOver(): boolean;
  /** Returns whether what would take so long fits in the time left; that it did not is remembered. */
  allows(ms: number): boolean;
  /** Whether a clock decided what was tried. */
  struck(): boolean;
  /** Returns a deadline after a part (0 .. 1) of the time left; what it keeps from being tried is remembered here too. */
  part(share: number): Deadline;
}

/** Returns a deadline this many milliseconds from now. */
export function deadlineIn(ms: number, strike: () => void = () => undefined): Deadline {
  const end = performance.now() + ms;
  let struck = false;
  const leftMs = (): number => Math.max(0, end - performance.now());
  const note = (fits: boolean): boolean => {
    if (!fits) {
      struck = true;
      strike();
    }
    return fits;
  };
  return {
    leftMs,
    isOver: () => !note(leftMs() > 0),
    allows: (needed) => note(needed <= leftMs()),
    struck: () => struck,
    part: (share) => deadlineIn(share * leftMs(), () => note(false)),
  };
}
