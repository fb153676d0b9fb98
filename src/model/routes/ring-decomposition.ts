import { InfeasibleError } from "../../base/errors.ts";
import { type RingSlots, ringSlots, type SwitchedBox } from "../slots/ring-slots.ts";
import type { Topology } from "../topology/topology.ts";

/** Directed rings through all NPUs of a box that share no slot of a link. */
export interface RingDecomposition {
  /** [rings] NPUs in order, the first is NPU 0; the last sends to the first. */
  readonly rings: readonly Int32Array[];
  /** Of each ring. */
  readonly bytesPerSecond: number;
  /** No more rings of this bandwidth than so many are possible, for a cut or an exhausted search says so. */
  readonly bound: number;
}

/** Steps of the search for a certain number of rings, 2 to 4 s; looking at so many sets of NPUs counts as one. */
const BUDGET = 8_000_000;
const SETS_A_STEP = 8;

/**
 * Returns the most directed Hamiltonian cycles that were found over the direct links of a box of at most 16 NPUs, or over switches
 * that all NPUs are linked to, none using bandwidth of another: exact where as many as `bound`. First pairs of a ring and its
 * reverse are tried, then any, by depth-first search in which every cut must let the rings still to come through. Deterministic;
 * the search gives up after a number of steps. Throws InputError for other networks, InfeasibleError where there is no ring.
 */
export function ringDecomposition(topology: Topology): RingDecomposition {
  const box = ringSlots(topology);
  if ("rings" in box) return switchedRings(box);
  const { npus, slots, bytesPerSecond } = box;
  const symmetric = slots.every((count, i) => count === slots[(i % npus) * npus + Math.floor(i / npus)]);
  let bound = leastCut(npus, slots);
  for (let count = bound; count > 0; count--) {
    const pairs = symmetric && count % 2 === 0 && npus > 2 ? search(box, count, 2) : null;
    if (pairs !== null && pairs !== "gave up") return { rings: pairs, bytesPerSecond, bound };
    const found = search(box, count, 1);
    if (found !== null && found !== "gave up") return { rings: found, bytesPerSecond, bound };
    if (found === null && bound === count) bound--;
  }
  throw new InfeasibleError("no ring goes through all NPUs of the box once");
}

/** Every ring goes round in the order of the NPUs, every second the other way. */
function switchedRings({ npus, rings, bytesPerSecond }: SwitchedBox): RingDecomposition {
  const there = Int32Array.from({ length: npus }, (_, npu) => npu);
  const back = Int32Array.from({ length: npus }, (_, i) => (npus - i) % npus);
  return { rings: Array.from({ length: rings }, (_, i) => (i % 2 === 0 ? there : back)), bytesPerSecond, bound: rings };
}

/** Returns the fewest slots that leave any set of NPUs; every ring needs one of them. O(2^npus npus), by single changes. */
export function leastCut(npus: number, slots: Int32Array): number {
  const inside = new Uint8Array(npus);
  let [leaving, entering] = [0, 0];
  let least = Number.POSITIVE_INFINITY;
  // sets without the last NPU in the order of a Gray code; their complements are the other sets
  for (let code = 1; code < 2 ** (npus - 1); code++) {
    const changed = 31 - Math.clz32(code & -code);
    const sign = inside[changed] === 1 ? -1 : 1;
    inside[changed] ^= 1;
    for (let other = 0; other < npus; other++) {
      if (other === changed) continue;
      const [out, back] = [slots[changed * npus + other], slots[other * npus + changed]];
      leaving += sign * (inside[other] === 1 ? -back : out);
      entering += sign * (inside[other] === 1 ? -out : back);
    }
    least = Math.min(least, leaving, entering);
  }
  return least;
}

/**
 * Returns so many rings, `step` 2: in pairs of a ring and its reverse; null where there are none, "gave up" where the budget ended
 * before that was clear. Rings leave NPU 0 in the order of the NPUs they go to, for which of them is the first makes no difference.
 */
function search({ npus, slots }: RingSlots, count: number, step: 1 | 2): Int32Array[] | null | "gave up" {
  const left = slots.slice();
  const rings: Int32Array[] = [];
  const path = new Int32Array(npus);
  let steps = 0;
  const take = (from: number, to: number, by: number): void => {
    left[from * npus + to] -= by;
    if (step === 2) left[to * npus + from] -= by;
  };
  const mayGo = (from: number, to: number): boolean => left[from * npus + to] > 0;

  function extend(length: number, visited: number): boolean {
    if (++steps > BUDGET) return false;
    const from = path[length - 1];
    if (length === npus) return mayGo(from, 0) && close(from);
    for (const to of candidates(from, length, visited)) {
      take(from, to, 1);
      path[length] = to;
      if (extend(length + 1, visited | (1 << to))) return true;
      take(from, to, -1);
    }
    return false;
  }

  function close(last: number): boolean {
    take(last, 0, 1);
    const ring = path.slice();
    rings.push(ring);
    const missing = count - step * rings.length;
    if (missing === 0) return true;
    steps += 2 ** (npus - 1) / SETS_A_STEP;
    if (leastCut(npus, left) >= missing && extend(1, 1)) return true;
    path.set(ring);
    rings.pop();
    take(last, 0, -1);
    return false;
  }

  /** NPUs to go on to: those that the most slots go to come first; from NPU 0 in order. */
  function candidates(from: number, length: number, visited: number): number[] {
    const least = length === 1 && rings.length > 0 ? rings[rings.length - 1][1] : 0;
    const found: number[] = [];
    for (let to = least; to < npus; to++) if ((visited & (1 << to)) === 0 && mayGo(from, to)) found.push(to);
    if (length > 1) found.sort((a, b) => left[from * npus + b] - left[from * npus + a] || a - b);
    return found;
  }

  if (extend(1, 1)) {
    if (step === 1) return rings;
    return rings.flatMap((ring) => [ring, Int32Array.from(ring, (_, i) => ring[(npus - i) % npus])]);
  }
  return steps > BUDGET ? "gave up" : null;
}
