/**
 * Returns the ring that each of so many nodes' only successor forms, from node 0 on; null where they form none that takes in
 * all (a node with -1 has none, or several).
 */
export function ringOf(successor: ArrayLike<number>): number[] | null {
  const ring: number[] = [];
  let at = 0;
  for (let i = 0; i < successor.length; i++) {
    ring.push(at);
    at = successor[at];
    if (!(at >= 0)) return null;
    if (at === 0) return ring.length === successor.length ? ring : null;
  }
  return null;
}

const SHOWN = 16;

/** Returns a ring in words: "0 → 1 → 2 → 0". */
export function ringText(ring: readonly number[], name: (node: number) => string): string {
  const shown = ring.slice(0, SHOWN).map(name);
  return [...shown, ...(ring.length > SHOWN ? ["..."] : []), name(ring[0])].join(" → ");
}
