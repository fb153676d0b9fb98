import type { Random } from "../../src/base/random.ts";

export const pick = <T>(list: readonly T[], draws: Random): T => list[draws.below(list.length)] as T;

/** Shuffles in place. */
export function shuffle<T>(items: { [index: number]: T; readonly length: number }, draws: Random): void {
  for (let i = items.length - 1; i > 0; i--) {
    const j = draws.below(i + 1);
    [items[i], items[j]] = [items[j] as T, items[i] as T];
  }
}
