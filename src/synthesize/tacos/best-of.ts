/**
 * Returns the best of the trials: the first that reaches `targetPs`, else the shortest, else the earliest among equals.
 * Runs `width` trials at a time and discards what lies behind the first hit, so the answer does not depend on `width`.
 */
export async function bestOf<T extends { readonly endPs: number }>(
  attempt: (k: number) => () => Promise<T>,
  trials: (first: T) => number,
  targetPs: number,
  width: number,
  progress: (done: number, total: number) => void,
): Promise<{ best: T; ran: number }> {
  let best = await attempt(0)();
  const total = trials(best);
  let ran = 1;
  progress(ran, total);
  while (best.endPs > targetPs && ran < total) {
    const wave = Math.min(width, total - ran);
    const outcomes = await Promise.all(Array.from({ length: wave }, (_, i) => attempt(ran + i)()));
    for (const next of outcomes) {
      ran++;
      if (next.endPs < best.endPs) best = next;
      if (best.endPs <= targetPs) break;
    }
    progress(ran, total);
  }
  return { best, ran };
}
