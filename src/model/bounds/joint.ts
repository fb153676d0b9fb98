import { type Collective, repeatedCollectives, sizeClasses } from "../collective/collective.ts";
import { distancesFrom, type Graph, graph } from "../graph/graph.ts";
import { gcd } from "../numbers/integers.ts";
import { addTo } from "../numbers/ordering.ts";
import { compare, format, type Rational, rational } from "../numbers/rational.ts";
import { PS_PER_SECOND } from "../numbers/units.ts";
import { type RouteSet, type RouteTimes, routeCount, routeTimes } from "../routes/routes.ts";
import type { Topology } from "../topology/topology.ts";
import { boundOf, limitOf, mergedBoundOf } from "./bounds.ts";
import { type Charged, smallestTime } from "./capacity.ts";
import { BUDGET, type Budget, type Visitor, visitSets, worstCuts } from "./cut-sets.ts";
import { demandCost, demandOf } from "./demand.ts";
import { type RouteView, routeView } from "./graph.ts";
import { cutWitness, usedOf } from "./route-cuts.ts";
import { crossingBandwidth, crossingRoutes, markSet, type Ports, portsOf, type Sides, sidesOf } from "./sides.ts";
import type { Bound, Witness } from "./witness.ts";
import { usedBy, usedInAll } from "./work.ts";

/** A weight for each size of chunks is tried for this many different routes over a border. */
const MOST_WEIGHTS = 4;
/** So many different collectives, those of most bytes, are bounded by themselves as well. */
const MOST_ALONE = 200;
/** Array cells that a cut costs for each size of chunks: sums of large integers. */
const COST_OF_SIZE = 30;
/** More parts of a demand are summed up by kind. */
const MOST_PARTS = 8;

/** What the cuts of several tenants share. Demands are listed by different collective: equal ones add up. */
interface Cuts {
  readonly topology: Topology;
  readonly distinct: readonly Collective[];
  /** [distinct] how many tenants are alike. */
  readonly times: readonly number[];
  /** Those that are bounded by themselves. */
  readonly alone: readonly Collective[];
  /** One collective of each size of chunks, and [distinct] which. */
  readonly sizes: readonly Collective[];
  readonly sizeOf: readonly number[];
  readonly ports: Ports;
  readonly sides: Sides;
  readonly budget: Budget;
  best: Bound;
}

/**
 * Returns a proved lower bound on the link-busy time of any schedule of all the collectives together over these routes: the
 * largest of the bounds of each alone and, for every set of nodes that bounds try and its complement, the time that its
 * border needs for the whole transfers of all of them; and the time that all routes need for all transfers.
 *
 * Proof for a border, or for all routes. Give each tenant's chunks any weight w. A transfer of tenant t on route r takes slot(t, r), a whole
 * multiple of g, the greatest common divisor of the slots on r; so by T the route carries at most floor(T / g) x g of slots,
 * and weight at most that times the largest w(t) / slot(t, r). The weights of all chunks that must cross are no more than
 * the sum over the routes. (Routes that share a link by halves and more count as its lanes; see `capacityOf`.) The weights
 * tried are the slots on the routes themselves; with equal slots the bound is the count of whole transfers. In the network model
 * (`inNetwork`: its times) a route is held for serialisations only, which are in the place of slots.
 * Equal tenants, and chunks of equal size, count as one. Throws InfeasibleError. Cost as of `boundOf`, for at most 200 of the
 * different collectives, and of the cuts, whose number shrinks with what each costs.
 */
export function jointBoundOf(
  topology: Topology,
  collectives: readonly Collective[],
  routes: RouteSet,
  inNetwork?: (topology: Topology, routes: RouteSet, chunkBytes: Rational) => RouteTimes,
): Bound {
  const cuts = cutsOf(topology, collectives);
  const timesOf = ({ chunkBytes }: Collective): RouteTimes => (inNetwork ?? routeTimes)(topology, routes, chunkBytes);
  const slots = cuts.sizes.map((one) => (inNetwork === undefined ? timesOf(one).slotPs : timesOf(one).serialPs));
  const boundAlone = inNetwork === undefined ? boundOf : mergedBoundOf;
  for (const collective of cuts.alone) offer(cuts, boundAlone(topology, collective, routes, timesOf(collective)));
  if (slots.some((column) => column.includes(0))) return cuts.best; // any number of chunks fits anywhere
  const view = routeView(topology, routes, timesOf(collectives[0]));
  const tryMachines = (charged: Charged, demands: readonly number[], witness: () => Witness): void => {
    if (demands.every((chunks) => chunks === 0)) return;
    const demand = bySize(cuts, demands);
    const machines = machinesOf(view, charged, slots, demand);
    cuts.budget.left -= machines.length * (8 + COST_OF_SIZE * (slots.length - 1));
    for (const weights of machines.slice(0, MOST_WEIGHTS).map(({ slot }) => slot)) {
      const terms = termsOf(machines, weights, demand);
      const needed = demand.reduce((sum, chunks, t) => sum + BigInt(chunks) * BigInt(weights[t]), 0n);
      const fits = (time: number): boolean => carried(terms, time) >= needed;
      const known = Math.floor(Number(cuts.best.ps.num / cuts.best.ps.den));
      if (fits(known)) continue;
      offer(cuts, { ps: rational(smallestTime(known, fits)), witness: witness() });
    }
  };
  eachCut(cuts, view, (set, direction, demand) => {
    const charged = crossingRoutes(view, cuts.sides, set, direction);
    tryMachines(charged, demand, () => ({
      ...cutWitness({ view, ...cuts }, set, direction, demandText(cuts, demand)),
      ...usedOf({ view, ...cuts }, set, direction, charged),
      chunks: totalOf(demand),
    }));
  });
  const work = cuts.distinct.map(
    (collective, i) => cuts.times[i] * transfersNeeded(collective, routes, topology.npuCount),
  );
  const every = Array.from({ length: routeCount(routes) }, (_, route) => route);
  tryMachines({ route: every, position: Array.from(routes.linkOffset.subarray(0, -1)) }, work, () => ({
    kind: "work",
    demand: demandText(cuts, work, "transfers"),
    ...usedInAll(topology, usedBy(topology, routes)),
  }));
  return cuts.best;
}

/**
 * Returns a proved lower bound free of any choice of chunks and algorithm: the largest of the limits of each collective alone
 * and of the bytes of all that must cross a cut over its bandwidth. Throws InfeasibleError.
 */
export function jointLimitOf(topology: Topology, collectives: readonly Collective[]): Bound {
  const cuts = cutsOf(topology, collectives);
  for (const collective of cuts.alone) offer(cuts, limitOf(topology, collective));
  eachCut(cuts, null, (set, direction, demand) => {
    const width = crossingBandwidth(topology, cuts.ports, cuts.sides, set);
    const bandwidth = direction === "in" ? width.into : width.outOf;
    if (bandwidth === 0) return;
    let bytes = rational(0);
    cuts.budget.left -= COST_OF_SIZE * (cuts.sizes.length - 1);
    bySize(cuts, demand).forEach((chunks, size) => {
      const { num, den } = cuts.sizes[size].chunkBytes;
      bytes = rational(bytes.num * den + BigInt(chunks) * num * bytes.den, bytes.den * den);
    });
    const ps: Rational = rational(bytes.num * BigInt(PS_PER_SECOND), bytes.den * BigInt(bandwidth));
    if (compare(ps, cuts.best.ps) <= 0) return;
    const witness = cutWitness({ view: { topology }, ...cuts }, set, direction, demandText(cuts, demand));
    offer(cuts, { ps, witness: { ...witness, bytes: format(bytes) } });
  });
  return cuts.best;
}

function cutsOf(topology: Topology, collectives: readonly Collective[]): Cuts {
  const { distinct, times } = repeatedCollectives(collectives);
  const { classes, of } = sizeClasses(distinct);
  const largest = distinct.toSorted((a, b) => b.sizeBytes - a.sizeBytes);
  return {
    topology,
    distinct,
    times,
    alone: distinct.length <= MOST_ALONE ? distinct : largest.slice(0, MOST_ALONE),
    sizes: classes,
    sizeOf: of,
    ports: portsOf(topology),
    sides: sidesOf(topology),
    budget: { left: BUDGET },
    best: { ps: rational(0), witness: { kind: "nothing" } },
  };
}

function offer(cuts: Cuts, bound: Bound): void {
  if (compare(bound.ps, cuts.best.ps) > 0) cuts.best = bound;
}

/** Returns the sums of what the collectives of each size of chunks demand. */
function bySize({ sizes, sizeOf }: Cuts, demands: readonly number[]): number[] {
  const sums = sizes.map(() => 0);
  demands.forEach((chunks, i) => {
    sums[sizeOf[i]] += chunks;
  });
  return sums;
}

/** Calls `visit` for each set and direction in which chunks of two tenants or more must cross, with the set marked. */
function eachCut(
  cuts: Cuts,
  view: RouteView | null,
  visit: (set: Int32Array, direction: "in" | "out", demand: readonly number[]) => void,
): void {
  const { topology, distinct, times, alone, sides, budget } = cuts;
  const busy = distinct.map((c) => c.chunkCount > 0 && (c.kind === "custom" || c.groupSize > 1));
  const demands = distinct.map((collective) => demandOf(collective, topology.npuCount));
  const cost = distinct.reduce((sum, collective) => sum + demandCost(collective), 0);
  const trySet = (set: Int32Array): void => {
    budget.left -= distinct.length * set.length + cost;
    const both = demands.map((of, t) => (busy[t] ? of(set) : { into: 0, outOf: 0 }));
    for (const direction of ["in", "out"] as const) {
      const demand = both.map(({ into, outOf }, i) => times[i] * (direction === "in" ? into : outOf));
      if (demand.reduce((tenants, chunks, i) => (chunks > 0 ? tenants + times[i] : tenants), 0) < 2) continue;
      markSet(sides, set);
      visit(set, direction, demand);
    }
  };
  const visitor: Visitor = {
    visit: (set, _, again) => {
      if (!again) trySet(Int32Array.from(set));
    },
    worthTrying: () => true,
    prefixes: () => null,
  };
  visitSets(topology, view, budget, visitor);
  for (const collective of alone) {
    if (budget.left <= 0) return;
    for (const set of worstCuts(topology, collective)) trySet(set);
  }
}

/** Something that carries one transfer at a time: a route over the border, or a lane of a link that routes share. */
interface Machine {
  /** [sizes] the shortest slot of chunks of the size. */
  readonly slot: readonly number[];
  /** Divides every slot of the chunks that cross. */
  readonly unit: number;
  count: number;
}

function machinesOf(
  view: RouteView,
  charged: Charged,
  slots: readonly Float64Array[],
  demand: readonly number[],
): Machine[] {
  const { links, shareNum, shareDen } = view.routes;
  const byLink = new Map<number, number[]>();
  charged.route.forEach((_, i) => {
    const link = links[charged.position[i]];
    addTo(byLink, link, i);
  });
  const machines = new Map<string, Machine>();
  const add = (entries: readonly number[], count: number): void => {
    const slot = slots.map((column) => Math.min(...entries.map((i) => column[charged.route[i]])));
    let unit = 0;
    demand.forEach((chunks, t) => {
      if (chunks > 0) for (const i of entries) unit = gcd(unit, slots[t][charged.route[i]]);
    });
    const key = `${unit}:${slot.join()}`;
    const known = machines.get(key);
    if (known === undefined) machines.set(key, { slot, unit, count });
    else known.count += count;
  };
  for (const entries of byLink.values()) {
    const lanes = Math.max(
      ...entries.map((i) => Math.floor(shareDen[charged.position[i]] / shareNum[charged.position[i]])),
    );
    if (lanes >= entries.length) for (const i of entries) add([i], 1);
    else add(entries, lanes);
  }
  return [...machines.values()];
}

/** Weight that machines carry: count x floor(time / unit) x unit x num / den. */
interface Term {
  readonly count: bigint;
  readonly unit: number;
  readonly num: bigint;
  readonly den: bigint;
}

function termsOf(machines: readonly Machine[], weights: readonly number[], demand: readonly number[]): Term[] {
  return machines.map(({ slot, unit, count }) => {
    let [num, den] = [0n, 1n];
    demand.forEach((chunks, t) => {
      const [w, s] = [BigInt(weights[t]), BigInt(slot[t])];
      if (chunks > 0 && w * den > num * s) [num, den] = [w, s];
    });
    return { count: BigInt(count), unit, num, den };
  });
}

/** Returns the weight carried by a time, each term rounded up: an upper bound. */
function carried(terms: readonly Term[], time: number): bigint {
  let sum = 0n;
  for (const { count, unit, num, den } of terms) {
    const busy = BigInt(Math.floor(time / unit)) * BigInt(unit);
    sum += (count * busy * num + den - 1n) / den;
  }
  return sum;
}

const totalOf = (demand: readonly number[]): number => demand.reduce((a, b) => a + b, 0);

/** Returns "71 chunks (35 of allgather, 36 of broadcast)"; where the collectives are many, by kind. */
function demandText({ distinct }: Cuts, demand: readonly number[], what = "chunks"): string {
  const crossing = demand.flatMap((chunks, i) => (chunks > 0 ? [{ chunks, kind: distinct[i].kind }] : []));
  const kinds = new Map<string, number>();
  for (const { chunks, kind } of crossing) kinds.set(kind, (kinds.get(kind) ?? 0) + chunks);
  const told = crossing.length <= MOST_PARTS ? crossing : [...kinds].map(([kind, chunks]) => ({ chunks, kind }));
  const parts = told.map(({ chunks, kind }) => `${chunks} of ${kind}`);
  return `${totalOf(demand)} ${what} (${parts.join(", ")})`;
}

/** Above this many (sources x arcs) hops are not counted. */
const DISTANCE_WORK = 20_000_000;

/**
 * Returns how many transfers a collective takes at least over these routes; 0 where that is not known (custom).
 *
 * Everyone but the holder receives an all-gathered or broadcast chunk, everyone but its NPU sends a contribution to a reduced
 * one, an all-reduced chunk takes both (see `deliveries` in work.ts), and a chunk with one target takes its hops.
 */
function transfersNeeded(collective: Collective, routes: RouteSet, npuCount: number): number {
  const { kind, groupSize, groupCount, chunksPerNpu } = collective;
  const others = (groupSize - 1) * groupCount * chunksPerNpu;
  switch (kind) {
    case "allgather":
    case "reducescatter":
      return groupSize * others;
    case "allreduce":
      return 2 * groupSize * others;
    case "broadcast":
    case "reduce":
      return others;
    case "custom":
      return 0;
    default:
      return totalHops(collective, routes, npuCount) * chunksPerNpu;
  }
}

/** Returns the hops from root to members, members to root, or from everyone to everyone in a group, over all groups. */
function totalHops(
  { kind, groupCount, groupSize, groupMembers, rootRank }: Collective,
  routes: RouteSet,
  npus: number,
) {
  const ones = new Float64Array(routes.source.length).fill(1);
  const turned = kind === "gather";
  const hops: Graph = graph(npus, turned ? routes.target : routes.source, turned ? routes.source : routes.target, ones);
  const sources = kind === "alltoall" ? groupMembers.length : groupCount;
  if (sources * (ones.length + npus) > DISTANCE_WORK) return 0;
  let sum = 0;
  for (let group = 0; group < groupCount; group++) {
    const members = groupMembers.subarray(group * groupSize, (group + 1) * groupSize);
    for (const [rank, source] of members.entries()) {
      if (kind !== "alltoall" && rank !== rootRank) continue;
      const distance = distancesFrom(hops, [source]);
      for (const v of members) sum += distance[v];
    }
  }
  return Number.isFinite(sum) ? sum : 0;
}
