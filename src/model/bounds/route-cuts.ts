import { toGBps } from "../numbers/units.ts";
import type { Topology } from "../topology/topology.ts";
import { type Best, offerWhole } from "./best.ts";
import { type Capacity, capacityOf, smallestTime, transfersBy } from "./capacity.ts";
import type { DemandOf } from "./demand.ts";
import type { Budget } from "./families.ts";
import { fitsAtNpu, type RouteView } from "./graph.ts";
import { noWay } from "./infeasible.ts";
import { crossingBandwidth, crossingRoutes, markSet, type Ports, type Sides } from "./sides.ts";
import type { Witness } from "./witness.ts";

/** What the tail bounds of one problem have in common, so that nothing is worked out twice. */
export interface Tails {
  /** By the text of what must enter and over what. */
  readonly borders: Map<string, Border>;
  /** Texts of the members tried: number of the border, chunks wanted, capacities. */
  readonly members: Set<string>;
}

export interface Border {
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
