/** Kinds of paths: sets of link orbits, each used once. A kind that would use an orbit twice has no number (-1). */
export interface PathKinds {
  /** Orbits of each kind, ascending. */
  readonly orbits: readonly (readonly number[])[];
  /** Returns the kind of a path of `kind` (-1: none yet) and one more link; -1 when it uses that orbit already. */
  extended(kind: number, orbit: number): number;
}

export function pathKinds(orbitCount: number): PathKinds {
  const orbits: number[][] = [];
  const byKey = new Map<string, number>();
  const byStep = new Map<number, number>();

  const made = (kind: number, orbit: number): number => {
    const before = kind < 0 ? [] : orbits[kind];
    if (before.includes(orbit)) return -1;
    const all = [...before, orbit].sort((a, b) => a - b);
    const key = all.join();
    const known = byKey.get(key) ?? orbits.push(all) - 1;
    byKey.set(key, known);
    return known;
  };
  const extended = (kind: number, orbit: number): number => {
    const step = (kind + 1) * orbitCount + orbit;
    const known = byStep.get(step) ?? made(kind, orbit);
    byStep.set(step, known);
    return known;
  };
  return { orbits, extended };
}
