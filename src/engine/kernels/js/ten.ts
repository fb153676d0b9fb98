/**
 * The time-expanded network: slot lengths, the queue of arrivals, and the resources in use; the twin of native/kernels/ten.h,
 * function by function.
 */
import type { TenNetwork } from "../../contract/kernels.ts";
import { group, type Lists, NONE } from "./lists.ts";

export const LATEST = Number.MAX_SAFE_INTEGER;

/** Returns whether the route takes units of resources, which others may take too. */
export const shared = (network: TenNetwork, route: number): boolean =>
  network.useOffset[route] < network.useOffset[route + 1];

/** Returns the routes that share resources, or those that do not, grouped by `end`: their source or target. */
export function groupRoutes(network: TenNetwork, end: Int32Array, sharing: boolean): Lists {
  return group(
    end.map((v, r) => (shared(network, r) === sharing ? v : NONE)),
    network.npuCount,
  );
}

/** Returns the routes that use each resource. */
export function groupUsers(network: TenNetwork): Lists {
  const routeOfUse = new Int32Array(network.useResource.length);
  for (let r = 0; r < network.slotPs.length; r++) routeOfUse.fill(r, network.useOffset[r], network.useOffset[r + 1]);
  const { offset, items } = group(network.useResource, network.capacity.length);
  return { offset, items: items.map((use) => routeOfUse[use]) };
}

/** The distinct slot lengths in ascending order, and each route's rank among them. */
export interface SlotRanks {
  readonly rank: Int32Array;
  readonly slot: Float64Array;
}

export function slotRanks(network: TenNetwork): SlotRanks {
  const slot = Float64Array.from(new Set(network.slotPs)).sort();
  const rankOf = new Map<number, number>();
  slot.forEach((ps, i) => {
    rankOf.set(ps, i);
  });
  return { rank: Int32Array.from(network.slotPs, (ps) => rankOf.get(ps) as number), slot };
}

interface Ring {
  head: number;
  size: number;
  time: Float64Array;
  route: Int32Array;
  generation: Int32Array;
}

function grown(ring: Ring): Ring {
  const capacity = ring.time.length;
  const next = {
    head: 0,
    size: ring.size,
    time: new Float64Array(capacity * 2),
    route: new Int32Array(capacity * 2),
    generation: new Int32Array(capacity * 2),
  };
  for (let i = 0; i < ring.size; i++) {
    const from = (ring.head + i) & (capacity - 1);
    next.time[i] = ring.time[from];
    next.route[i] = ring.route[from];
    next.generation[i] = ring.generation[from];
  }
  return next;
}

/** One growing ring of arrivals per slot rank; see native/kernels/ten.h. */
export class ArrivalQueue {
  private readonly rings: Ring[];
  /** The arrival taken by the last successful pop. */
  route = NONE;
  generation = 0;

  constructor(ranks: number) {
    this.rings = Array.from({ length: ranks }, () => ({
      head: 0,
      size: 0,
      time: new Float64Array(64),
      route: new Int32Array(64),
      generation: new Int32Array(64),
    }));
  }

  push(rank: number, time: number, route: number, generation: number): void {
    let ring = this.rings[rank] as Ring;
    if (ring.size === ring.time.length) {
      ring = grown(ring);
      this.rings[rank] = ring;
    }
    const at = (ring.head + ring.size++) & (ring.time.length - 1);
    ring.time[at] = time;
    ring.route[at] = route;
    ring.generation[at] = generation;
  }

  /** Returns the least time in the queue, or Infinity. */
  nextTime(): number {
    let next = Number.POSITIVE_INFINITY;
    for (const ring of this.rings) {
      if (ring.size > 0 && ring.time[ring.head] < next) next = ring.time[ring.head];
    }
    return next;
  }

  /** Takes the next arrival at exactly `time`, lower ranks first; false when there is none. */
  pop(time: number): boolean {
    for (const ring of this.rings) {
      if (ring.size === 0 || ring.time[ring.head] !== time) continue;
      this.route = ring.route[ring.head];
      this.generation = ring.generation[ring.head];
      ring.head = (ring.head + 1) & (ring.time.length - 1);
      ring.size--;
      return true;
    }
    return false;
  }
}

/** Units in use of every resource. */
export class Resources {
  private readonly network: TenNetwork;
  private readonly used: Int32Array;

  constructor(network: TenNetwork) {
    this.network = network;
    this.used = new Int32Array(network.capacity.length);
  }

  /** Returns the units of one resource that are still free. */
  left(resource: number): number {
    return this.network.capacity[resource] - this.used[resource];
  }

  free(route: number): boolean {
    const { useOffset, useResource, useUnits } = this.network;
    for (let i = useOffset[route]; i < useOffset[route + 1]; i++) {
      if (this.left(useResource[i]) < useUnits[i]) return false;
    }
    return true;
  }

  take(route: number): void {
    const { useOffset, useResource, useUnits } = this.network;
    for (let i = useOffset[route]; i < useOffset[route + 1]; i++) this.used[useResource[i]] += useUnits[i];
  }

  release(route: number): void {
    const { useOffset, useResource, useUnits } = this.network;
    for (let i = useOffset[route]; i < useOffset[route + 1]; i++) this.used[useResource[i]] -= useUnits[i];
  }
}
