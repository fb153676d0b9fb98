import { type Random, random } from "../../src/base/random.ts";
import { type Collective, collective } from "../../src/model/collective/collective.ts";
import { type RouteSet, routeTimes } from "../../src/model/routes/routes.ts";
import { routesOf } from "../../src/model/routes/routing.ts";
import type { SlotSchedule } from "../../src/model/slots/slot-schedule.ts";
import { translatedSchedule } from "../../src/model/symmetry/translation.ts";
import type { Topology } from "../../src/model/topology/topology.ts";
import { everyone } from "./everyone.ts";
import { PASSES, type RootlessKind } from "./slot-passes.ts";
import { type Arrival, slotScheduleOf } from "./slot-schedules.ts";

const wholeCollective = (npus: number, kind: RootlessKind, chunksPerNpu: number): Collective =>
  collective({ kind, groups: [everyone(npus)], sizeBytes: 1e6, chunksPerNpu, rootRank: 0 });

/**
 * Returns arrivals that bring every chunk from its origin to all NPUs: in each slot every route that is not idle, which it
 * is asked where it could bring something, brings some chunk that its source had before.
 */
export function greedyArrivals(
  npus: number,
  routes: RouteSet,
  origin: Int32Array,
  { below }: Random,
  isIdle = (): boolean => false,
): Arrival[] {
  const since = Array.from({ length: npus }, () => new Map<number, number>());
  for (const [chunk, npu] of origin.entries()) (since[npu] as Map<number, number>).set(chunk, 0);
  const arrivals: Arrival[] = [];
  for (let slot = 0; since.some((held) => held.size < origin.length); slot++) {
    for (const [route, source] of routes.source.entries()) {
      const target = since[routes.target[route]] as Map<number, number>;
      const ready = [...(since[source] as Map<number, number>)].filter(([c, from]) => from <= slot && !target.has(c));
      if (ready.length === 0 || isIdle()) continue;
      const [chunk] = ready[below(ready.length)] as [number, number];
      target.set(chunk, slot + 1);
      arrivals.push({ chunk, route, slot });
    }
  }
  return arrivals;
}

/** Returns a correct slot schedule on direct links: in each slot every port brings some chunk that its source had before. */
export function greedySlots(topology: Topology, kind: RootlessKind, chunksPerNpu: number, seed: number): SlotSchedule {
  const { npuCount } = topology;
  const routes = routesOf(topology, 1);
  const whole = wholeCollective(npuCount, kind, chunksPerNpu);
  const origin = Int32Array.from({ length: whole.chunkCount }, (_, c) => Math.floor(c / chunksPerNpu));
  const arrivals = greedyArrivals(npuCount, routes, origin, random(seed));
  const slotPs = routeTimes(topology, routes, whole.chunkBytes).slotPs[0];
  return slotScheduleOf({ topology, collective: whole, origin, arrivals, passes: PASSES[kind], slotPs, routes });
}

/** Returns the schedule of a ring `ring:n` in which chunks go round both ways, kept as NPU 0's log and its translations. */
export function ringSlots(topology: Topology, kind: RootlessKind): SlotSchedule {
  const n = topology.npuCount;
  const routes = routesOf(topology, 1);
  const arrivals: Arrival[] = [];
  for (const [route, source] of routes.source.entries()) {
    const target = routes.target[route];
    const step = (target - source + n) % n;
    const reach = step === 1 ? n >> 1 : (n - 1) >> 1;
    for (let slot = 0; slot < reach; slot++) {
      const chunk = step === 1 ? (source - slot + n) % n : (source + slot) % n;
      arrivals.push({ chunk, route, slot });
    }
  }
  const whole = wholeCollective(n, kind, 1);
  const origin = everyone(n);
  const passes = PASSES[kind];
  const slotPs = routeTimes(topology, routes, whole.chunkBytes).slotPs[0];
  const plain = slotScheduleOf({ topology, collective: whole, origin, arrivals, passes, slotPs, routes });
  const rows = { topology, routes, sizes: [n], chunksPerNpu: 1, row: plain.row(0) };
  return translatedSchedule(rows, whole, { slotPs, slots: plain.slots, passes });
}
