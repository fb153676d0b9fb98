import type { ProbeFlow } from "../model/probe/measurements.ts";

/** Something that flows share, max-min fair. */
export interface Resource {
  readonly name: string;
  /**
   * `egress`, `ingress`: a port of an endpoint; `link`: between two endpoints, of nobody else; `trunk`: between switches; inside of
   * machines `nvlink`, `pcie`, `cpu` (between CPUs), and `nic` to the outside.
   */
  readonly kind: "egress" | "ingress" | "link" | "trunk" | "nvlink" | "pcie" | "cpu" | "nic";
  readonly bytesPerSecond: number;
  /** One standard error of that. */
  readonly error: number;
}

/** What is thought of a network: what each pair's way uses, and its latency. */
export interface Sharing {
  readonly endpoints: number;
  readonly resources: readonly Resource[];
  /** [endpoints x endpoints] resources; null where no way is known. */
  readonly ways: readonly (readonly number[] | null)[];
  /** [endpoints x endpoints] seconds of a flow of no bytes. */
  readonly latencyS: Float64Array;
}

/**
 * Returns when flows that start at once have arrived, seconds, [flows]: `ways` are the resources of each, `capacity` theirs. Rates are
 * max-min fair, by raising all that are not yet limited together, and change whenever a flow ends; NaN where a capacity is. O(flows^2 x resources on ways).
 */
export function arrivals(ways: readonly (readonly number[])[], capacity: ArrayLike<number>, bytes: number): number[] {
  const left = ways.map(() => bytes);
  const arrived = ways.map(() => 0);
  let open = ways.map((_, flow) => flow);
  let now = 0;
  while (open.length > 0) {
    const rates = fairRates(
      open.map((flow) => ways[flow]),
      capacity,
    );
    const step = open.reduce((least, flow, i) => Math.min(least, left[flow] / rates[i]), Number.POSITIVE_INFINITY);
    if (step === Number.POSITIVE_INFINITY) break;
    now += step;
    open = open.filter((flow, i) => {
      left[flow] -= rates[i] * step;
      if (left[flow] > 1e-9 * bytes) return true;
      arrived[flow] = now;
      return false;
    });
  }
  return arrived;
}

function fairRates(ways: readonly (readonly number[])[], capacity: ArrayLike<number>): number[] {
  const spare = new Map<number, number>();
  const users = new Map<number, number>();
  for (const way of ways) {
    for (const r of way) {
      spare.set(r, capacity[r]);
      users.set(r, (users.get(r) ?? 0) + 1);
    }
  }
  const rates = ways.map(() => 0);
  let rising = ways.map((_, i) => i);
  while (rising.length > 0) {
    let rise = Number.POSITIVE_INFINITY;
    for (const [r, rest] of spare) {
      const n = users.get(r) as number;
      if (n > 0) rise = Math.min(rise, rest / n);
    }
    if (!Number.isFinite(rise)) {
      for (const i of rising) rates[i] = rise;
      return rates;
    }
    for (const i of rising) rates[i] += rise;
    const full = new Set<number>();
    for (const [r, rest] of spare) {
      const n = users.get(r) as number;
      spare.set(r, rest - rise * n);
      if (n > 0 && rest - rise * n <= 1e-12 * capacity[r]) full.add(r);
    }
    rising = rising.filter((i) => {
      if (!ways[i].some((r) => full.has(r))) return true;
      for (const r of ways[i]) users.set(r, (users.get(r) as number) - 1);
      return false;
    });
  }
  return rates;
}

/** Returns what flows should take, seconds, [flows]; NaN for all where a way is not known. */
export function predicted(sharing: Sharing, flows: readonly ProbeFlow[], bytes: number): number[] {
  const pairs = flows.map(({ source, target }) => source * sharing.endpoints + target);
  const ways = pairs.map((pair) => sharing.ways[pair]);
  if (ways.includes(null)) return flows.map(() => Number.NaN);
  const capacity = sharing.resources.map(({ bytesPerSecond }) => bytesPerSecond);
  return arrivals(ways as readonly (readonly number[])[], capacity, bytes).map(
    (time, flow) => time + sharing.latencyS[pairs[flow]],
  );
}

/** Returns when flows with limits of their own that share `capacity` besides have arrived, [flows] seconds. */
export const arrivalsThrough = (capacity: number, limits: readonly number[], bytes: number): number[] =>
  arrivals(
    limits.map((_, i) => [0, i + 1]),
    [capacity, ...limits],
    bytes,
  );

/**
 * Returns the capacity that flows with these limits share when the last arrives after `lastS` seconds; Infinity where
 * nothing shared is needed to explain it. By halving, to 1e-6.
 */
export function sharedCapacity(limits: readonly number[], bytes: number, lastS: number): number {
  const sum = limits.reduce((total, limit) => total + limit, 0);
  const last = (capacity: number): number => Math.max(...arrivalsThrough(capacity, limits, bytes));
  if (last(sum) >= lastS) return Number.POSITIVE_INFINITY;
  let [low, high] = [(bytes * limits.length) / lastS / 2, sum];
  while (high - low > 1e-6 * high) {
    const middle = (low + high) / 2;
    if (last(middle) > lastS) low = middle;
    else high = middle;
  }
  return high;
}
