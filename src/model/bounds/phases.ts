import type { Collective } from "../collective/collective.ts";
import type { LineAlgorithm, NetworkDimension } from "../dimensions/dimensions.ts";
import { compare, type Rational, rational } from "../numbers/rational.ts";
import { PS_PER_SECOND, toGBps } from "../numbers/units.ts";
import type { PhaseSchedule } from "../phases/phase-schedule.ts";
import { roundedBytes } from "./limit.ts";
import type { Bound } from "./witness.ts";

/** Up to so many dimensions all sets of them are tried; beyond, the slowest first, by prefixes. */
const MOST_DIMENSIONS = 12;

/** Returns the sets of dimensions whose loads are looked at. */
function setsOf(dimensions: readonly NetworkDimension[]): readonly (readonly number[])[] {
  const all = dimensions.map((_, d) => d);
  if (all.length <= MOST_DIMENSIONS) {
    return Array.from({ length: 2 ** all.length - 1 }, (_, i) => all.filter((d) => ((i + 1) >> d) & 1));
  }
  const slowest = all.sort((a, b) => dimensions[a].bytesPerSecond - dimensions[b].bytesPerSecond);
  return slowest.map((_, i) => slowest.slice(0, i + 1));
}

/** Returns how often a set of dimensions is passed by data that its bandwidth is shared by. */
function passes({ kind }: Collective, algorithm: LineAlgorithm): number {
  // where switches sum, reduce-scatters go up and all-gathers down
  return kind === "allreduce" && algorithm !== "offload" ? 2 : 1;
}

/**
 * Returns a proved lower bound on the time of any schedule of phases over these dimensions, whatever the orders of its chunks.
 * Over a set of dimensions with lines of P1, P2, ... NPUs, an NPU sends least of a chunk where the chunk takes the others
 * first: then (P1 P2 ... - 1) / N of it, once for the reduce-scatters and once for the all-gathers. So much for every chunk
 * through the set's bandwidths together, for the worst set. The fractional optimum over mixtures of orders is that of all
 * sets (loads form the base of a supermodular function). Exact. O(2^dimensions), at most 4,096 sets.
 */
export function phasesBound({
  collective,
  dimensions,
  algorithms,
}: Pick<PhaseSchedule, "collective" | "dimensions" | "algorithms">): Bound {
  const { chunkBytes, chunksPerNpu } = collective;
  let best: Bound = { ps: rational(0), witness: { kind: "nothing" } };
  const product = (set: readonly number[]): bigint => set.reduce((all, d) => all * BigInt(dimensions[d].size), 1n);
  for (const set of setsOf(dimensions)) {
    const twice = set.filter((d) => passes(collective, algorithms[d]) === 2);
    const blocks = product(set) - 1n + product(twice) - 1n;
    const bytes = rational(blocks * chunkBytes.num * BigInt(chunksPerNpu), chunkBytes.den);
    const rate = set.reduce((sum, d) => sum + BigInt(dimensions[d].bytesPerSecond), 0n);
    const ps: Rational = rational(bytes.num * BigInt(PS_PER_SECOND), bytes.den * rate);
    if (compare(ps, best.ps) <= 0) continue;
    const where = `${set.length === 1 ? "dimension" : "dimensions"} ${set.join(", ")}`;
    const demand = `${roundedBytes(Number(bytes.num / bytes.den))} that each NPU sends over ${where}`;
    best = { ps, witness: { kind: "work", demand, totalGBps: toGBps(Number(rate)) } };
  }
  return best;
}
