import { boundOf } from "../../model/bounds/bounds.ts";
import type { Collective } from "../../model/collective/collective.ts";
import { ceil } from "../../model/numbers/rational.ts";
import { type RouteSet, type RouteTimes, reversedRoutes, routeTimes } from "../../model/routes/routes.ts";
import type { SwitchDegree } from "../../model/routes/routing.ts";
import { reversed, switchCount, type Topology } from "../../model/topology/topology.ts";
import type { Phase } from "./phases.ts";
import type { PhaseTransfers } from "./row-order.ts";
import { endsOf } from "./row-order.ts";

/** A set of routes that a phase may use, in the direction of synthesis (`routes`) and in true direction (`trueRoutes`). */
export interface Network {
  readonly trueRoutes: RouteSet;
  readonly routes: RouteSet;
  readonly times: RouteTimes;
  readonly label: string;
}

/** One trial's outcome. */
export interface Outcome {
  readonly transfers: PhaseTransfers;
  readonly endPs: number;
  readonly label: string;
}

/** A trial ready to run. */
export type Attempt = () => Promise<Outcome>;

/** Returns the networks of a phase, one per route set; reversed routes for a phase on the reversed topology. */
export function networksOf(
  topology: Topology,
  collective: Collective,
  phase: Phase,
  routeSets: readonly { readonly degree: SwitchDegree; readonly routes: RouteSet }[],
): Network[] {
  return routeSets.map(({ degree, routes }) => ({
    trueRoutes: routes,
    routes: phase.reversed ? reversedRoutes(routes) : routes,
    times: routeTimes(topology, routes, collective.chunkBytes),
    label: switchCount(topology) === 0 ? "" : degree === "ports" ? "ports" : `degree ${degree}`,
  }));
}

/** Returns the least bound of the phase on any of its networks, in whole picoseconds. */
export function targetPs(topology: Topology, phase: Phase, networks: readonly Network[]): number {
  const phaseTopology = phase.reversed ? reversed(topology) : topology;
  let least = Number.POSITIVE_INFINITY;
  for (const { routes, times } of networks) {
    least = Math.min(least, Number(ceil(boundOf(phaseTopology, phase.collective, routes, times).ps)));
  }
  return least;
}

/** Returns the outcome of a trial that found these transfers; empty labels are left out. */
export function outcome(
  phase: Phase,
  network: Network,
  found: { readonly chunk: Int32Array; readonly route: Int32Array; readonly startPs: Float64Array },
  labels: readonly string[],
): Outcome {
  const { slotPs } = network.times;
  const ends = endsOf({ ...found, slotPs });
  const transfers: PhaseTransfers = {
    ...found,
    slotPs,
    ends,
    routes: network.trueRoutes,
    reversed: phase.reversed,
    reduces: phase.reduces,
  };
  return { transfers, endPs: ends.endPs, label: labels.filter((label) => label !== "").join(", ") };
}
