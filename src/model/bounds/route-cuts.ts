import { toGBps } from "../numbers/units.ts";
import type { Topology } from "../topology/topology.ts";
import {
  type Capacity,
  type Charged,
  capacityByLink,
  capacityOf,
  capacityText,
  smallestTime,
  transfersBy,
} from "./capacity.ts";
import type { Budget } from "./cut-sets.ts";
import type { DemandOf } from "./demand.ts";
import { fitsAtNpu, type RouteView } from "./graph.ts";
import { chargedBandwidth, crossingBandwidth, crossingRoutes, markSet, type Ports, type Sides } from "./sides.ts";
import { type Best, noWay, offerWhole, type Witness } from "./witness.ts";

/** What the tail bounds of one problem have in common, so that nothing is worked out twice. */
interface Tails {
  /** By the text of what must enter and over what. */
  readonly borders: Map<string, Border>;
  /** Texts of the members tried: number of the border, chunks wanted, capacities. */
  readonly members: Set<string>;
}

interface Border {
  readonly number: number;
  /** Instants to try, ascending. */
  readonly instants: readonly number[];
  /** Transfers that can have ended before each instant. */
  readonly arrived: readonly number[];
}

export const noTails = (): Tails => ({ borders: new Map(), members: new Set() });

/** What the cuts of one bound share. */
export interface CutContext {
  readonly view: RouteView;
  readonly ports: Ports;
  readonly sides: Sides;
  readonly budget: Budget;
  /** Array cells that one demand reads beyond its set. */
  readonly demandCost: number;
  readonly best: Best;
  readonly tails: Tails;
}

/**
 * Returns whether the cut around one NPU may raise the bound: false where as many transfers as must enter and leave it fit
 * over its own routes by the time known so far. True where that takes more than a look.
 */
export function npuMayRaise(
  { view, best, budget }: CutContext,
  npu: number,
  into: number,
  outOf: number,
  release: Float64Array | null,
): boolean {
  if (!view.direct) return true;
  budget.left -= 2;
  return (
    !fitsAtNpu(view, npu, "in", release, into, best.wholePs) ||
    !fitsAtNpu(view, npu, "out", release, outOf, best.wholePs)
  );
}

/**
 * Tries one set and its complement: the smallest T by which as many whole transfers fit over the border as chunks must
 * cross it. `release[npu]` is the earliest time any chunk can be at an NPU (null: 0), so nothing crosses from there sooner.
 */
export function tryCut(
  context: CutContext,
  nodes: Int32Array,
  demandOf: DemandOf,
  release: Float64Array | null,
  from: number | null,
): void {
  const { view, sides, best, budget } = context;
  const { into, outOf } = demandOf(nodes);
  markSet(sides, nodes);
  budget.left -= nodes.length + context.demandCost;
  for (const direction of ["in", "out"] as const) {
    const demand = direction === "in" ? into : outOf;
    if (demand === 0) continue;
    const charged = crossingRoutes(view, sides, nodes, direction);
    budget.left -= 8 * charged.route.length + nodes.length;
    const capacity = capacityOf(view, charged, release);
    const time = crossingTime(capacity, demand, best.wholePs);
    if (time === null) throw noWay(view.topology, nodes, direction, demand);
    offerWhole(best, time, () => ({
      ...cutWitness(context, nodes, direction, `${demand} chunks`),
      ...usedOf(context, nodes, direction, charged),
      chunks: demand,
      ...(from === null ? {} : { from }),
    }));
  }
}

/** Returns the time at which `demand` transfers fit, or `known` when they fit by then; null when they never do. */
export function crossingTime(capacity: Capacity, demand: number, known: number): number | null {
  if (transfersBy(capacity, known) >= demand) return known;
  if (capacity.slot.length === 0 && capacity.shared.length === 0) return null;
  return smallestTime(known, (time) => transfersBy(capacity, time) >= demand);
}

/** Returns what the witness of a cut says of routes that do not use all of the links over its border. */
export function usedOf(
  { view, ports, sides }: Pick<CutContext, "view" | "ports" | "sides">,
  nodes: ArrayLike<number>,
  direction: "in" | "out",
  charged: Charged,
): { usedGBps?: number } {
  markSet(sides, nodes);
  const width = crossingBandwidth(view.topology, ports, sides, nodes);
  const used = chargedBandwidth(view, charged);
  return used < (direction === "in" ? width.into : width.outOf) ? { usedGBps: toGBps(used) } : {};
}

export function cutWitness(
  context: { readonly view: { readonly topology: Topology }; readonly ports: Ports; readonly sides: Sides },
  nodes: ArrayLike<number>,
  direction: "in" | "out",
  demand: string,
): Witness & { kind: "cut" } {
  const { topology } = context.view;
  markSet(context.sides, nodes);
  const { into, outOf } = crossingBandwidth(topology, context.ports, context.sides, nodes);
  const list = Array.from(nodes);
  return {
    kind: "cut",
    nodes: list,
    direction,
    npusInside: list.filter((v) => v < topology.npuCount).length,
    entryGBps: toGBps(direction === "in" ? into : outOf),
    demand,
  };
}

/** Instants tried per slot length: this many of the last ones and as many spread evenly. */
const INSTANTS = 48;

/**
 * Tries the tail bound on one set G: what enters G last must still be spread to every member that wants it.
 *
 * `needOf(d)` is the number of chunks that start outside G and that the NPU d of G must receive, all of them wanted by d.
 * Proof, for any instant tau. Let x_l be the transfers over entering link l that have ended before tau and X their sum: at
 * least need - X chunks are nowhere in G before tau. To d each of these comes over a route inside G that starts at tau or
 * later, at most I_d(T - tau) by T, or straight from outside over one of d's own entering links, at most C_l(T) - x_l more.
 * So need <= X + I_d(T - tau) + sum over d's links of (C_l(T) - x_l)
 *         <= sum over the other links of C_l(tau - 1) + I_d(T - tau) + sum over d's links of C_l(T),
 * with C_l(t) the whole transfers that fit by t. For each tau the right side grows with T: the bound is the largest over
 * tau and d of the smallest T. Any choice of instants is valid; those at which a transfer can end are the ones that matter.
 * O(members x instants x their routes), cut off by the budget; of members with equal capacities the first is tried.
 */
export function tryTail(
  context: CutContext,
  nodes: Int32Array,
  needOf: (npu: number) => number,
  release: Float64Array | null,
): void {
  const { view, sides, best, budget } = context;
  const { topology, routes } = view;
  const { npuCount } = topology;
  let need = 0;
  for (const v of nodes) if (v < npuCount) need = Math.max(need, needOf(v));
  if (need === 0) return;
  markSet(sides, nodes);
  const stamp = sides.current;
  const entering = crossingRoutes(view, sides, nodes, "in");
  if (entering.route.length === 0) return;
  const whole = capacityOf(view, entering, release);
  const ownOf = ownCapacities(context, entering, release);
  budget.left -= 8 * entering.route.length;

  const { number, instants, arrived } = borderOf(context, whole, need);

  let latest = best.wholePs;
  let found: { npu: number; afterPs: number; wanted: number } | null = null;
  for (const member of nodes) {
    if (member >= npuCount || budget.left <= 0) continue;
    const wanted = needOf(member);
    if (wanted === 0) continue;
    const inner: Charged = { route: [], position: [] };
    for (let i = view.entering.offset[member]; i < view.entering.offset[member + 1]; i++) {
      const route = view.entering.items[i];
      if (sides.stamp[routes.source[route]] !== stamp) continue;
      inner.route.push(route);
      inner.position.push(routes.linkOffset[route + 1] - 1);
    }
    const inside = capacityOf(view, inner, null);
    const own = ownOf(member);
    const by = (time: number): number => own.reduce((sum, link) => sum + transfersBy(link, time), 0);
    if (inner.route.length === 0 && own.length === 0) continue;
    const key = `${number}|${wanted}|${capacityText(inside)}|${own.map(capacityText).join("|")}`;
    if (context.tails.members.has(key)) continue;
    context.tails.members.add(key);
    budget.left -= instants.length * (2 + inside.slot.length + 2 * own.length);
    for (let i = 0; i < instants.length; i++) {
      const tau = instants[i];
      const missing = wanted - (arrived[i] - by(tau - 1));
      if (missing <= 0) continue;
      const fits = (time: number): boolean => transfersBy(inside, time - tau) + by(time) >= missing;
      if (fits(latest)) continue;
      latest = smallestTime(latest, fits);
      found = { npu: member, afterPs: tau, wanted };
    }
  }
  if (found === null) return;
  const { npu, afterPs, wanted } = found;
  offerWhole(best, latest, () => {
    const { kind: _, ...cut } = cutWitness(context, nodes, "in", `${wanted} chunks`);
    return { ...cut, ...usedOf(context, nodes, "in", entering), chunks: wanted, kind: "tail", npu, afterPs };
  });
}

/** Returns what is known of a border, worked out once for all sets with an equal one. */
function borderOf({ tails, budget }: CutContext, whole: Capacity, need: number): Border {
  const text = `${need}|${capacityText(whole)}`;
  const known = tails.borders.get(text);
  if (known !== undefined) return known;
  const allIn = smallestTime(0, (time) => transfersBy(whole, time) >= need);
  const instants = arrivalInstants(whole, allIn);
  const arrived = instants.map((tau) => transfersBy(whole, tau - 1));
  budget.left -= 60 * instants.length * (whole.slot.length + whole.shared.length);
  const border = { number: tails.borders.size, instants, arrived };
  tails.borders.set(text, border);
  return border;
}

/** Returns, for a member, the capacities of the links by which routes enter the set straight to it. */
function ownCapacities(
  { view }: CutContext,
  entering: Charged,
  release: Float64Array | null,
): (member: number) => Capacity[] {
  const { target, links } = view.routes;
  if (view.direct) {
    const own = new Map<number, Charged>();
    entering.route.forEach((route, i) => {
      let charged = own.get(target[route]);
      if (charged === undefined) {
        charged = { route: [], position: [] };
        own.set(target[route], charged);
      }
      charged.route.push(route);
      charged.position.push(entering.position[i]);
    });
    return (member) => {
      const charged = own.get(member);
      return charged === undefined ? [] : [capacityOf(view, charged, release)];
    };
  }
  const byLink = capacityByLink(view, entering, release);
  const ownLinks = new Map<number, Set<number>>();
  entering.route.forEach((route, i) => {
    const link = links[entering.position[i]];
    const own = ownLinks.get(target[route]);
    if (own === undefined) ownLinks.set(target[route], new Set([link]));
    else own.add(link);
  });
  return (member) => Array.from(ownLinks.get(member) ?? [], (link) => byLink.get(link) as Capacity);
}

/** Returns ascending instants up to `last` at which a transfer can end: the last ones of each slot and some spread evenly. */
function arrivalInstants(capacity: Capacity, last: number): number[] {
  const found = new Set<number>([last]);
  const add = (slot: number, release: number): void => {
    const count = Math.floor((last - release) / slot);
    for (let k = Math.max(1, count - INSTANTS); k <= count; k++) found.add(release + k * slot);
    const step = Math.max(1, Math.floor(count / INSTANTS));
    for (let k = step; k <= count; k += step) found.add(release + k * slot);
  };
  const seen = new Set<string>();
  const visit = (slot: number, release: number): void => {
    const key = `${slot}:${release}`;
    if (seen.has(key) || seen.size >= 16) return;
    seen.add(key);
    add(slot, release);
  };
  for (let i = 0; i < capacity.slot.length; i++) visit(capacity.slot[i], capacity.release[i]);
  for (const link of capacity.shared) visit(link.slot, link.release);
  return [...found].sort((a, b) => a - b);
}
