import type { HopsView } from "../../protocol.ts";

export type Column = "chunk" | "source" | "target" | "start" | "end";

/** Returns hops by a column, the latest or greatest first where `isDown`; ties by end, then by place. O(n log n). */
export function sortedHops(view: HopsView, hops: readonly number[], column: Column, isDown: boolean): number[] {
  const { chunk, source, target, startPs, endPs } = view;
  const values = { chunk, source, target, start: startPs, end: endPs }[column];
  const sign = isDown ? -1 : 1;
  return [...hops].sort((a, b) => sign * (values[a] - values[b]) || endPs[a] - endPs[b] || a - b);
}
