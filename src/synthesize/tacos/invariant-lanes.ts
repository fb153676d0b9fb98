import type { TenNetwork } from "../../engine/contract/kernels.ts";
import { disjointSets } from "../../model/graph/disjoint-sets.ts";
import type { RouteSet } from "../../model/routes/routes.ts";
import { portsOf } from "../../model/slots/slot-schedule.ts";
import { portTranslation, translateAll } from "../../model/symmetry/translation.ts";
import type { Topology } from "../../model/topology/topology.ts";
import { type LaneProblem, type LaneSpread, spreadOverLanes } from "./invariant-events.ts";

/** Trials that must end by the target; then so many halvings of what is left, of so many trials each. */
const TRIALS_AT_TARGET = 16;
const HALVINGS = 8;
const TRIALS_PER_HALVING = 4;
/** Visits of elements that all trials together may take, beyond the first two. */
const MOST_WORK = 1e8;

/** An all-gather that is the same for every NPU, transfer by transfer. */
export interface InvariantTransfers {
  /** In order of ends. */
  readonly chunk: Int32Array;
  readonly route: Int32Array;
  readonly startPs: Float64Array;
  readonly endPs: number;
  readonly trials: number;
}

/**
 * Returns an all-gather in which every NPU does the same, on a network whose routes are invariant under translations by
 * `sizes` (translation.ts), of any lengths, also where they share links; NPU v owns chunks v * chunksPerNpu onwards. Null
 * when the orbits that fit their links do not reach everyone.
 *
 * All translations of a route are used at once: through a switch that is a rotation, which fills every port in both
 * directions. So one NPU is synthesized (spreadOverLanes). Trials may not end after a limit: first none, then `targetPs` (a
 * lower bound), then by halving the gap that is left. Beyond the TACOS papers. O(transfers) for the result.
 */
export function invariantTransfers(
  topology: Topology,
  routes: RouteSet,
  network: TenNetwork,
  sizes: readonly number[],
  chunksPerNpu: number,
  options: { readonly seed: number; readonly targetPs: number; readonly trials?: number | null },
): InvariantTransfers | null {
  const orbits = orbitsOf(topology, routes, network, sizes);
  if (orbits === null) return null;
  const { lanes, kept, laneOf, slotPs } = lanesOf(network, orbits);
  const { npuCount } = network;
  const shifted = new Int32Array(kept.length * npuCount);
  kept.forEach((orbit, i) => {
    translateAll(sizes, routes.source[orbit[0]], shifted.subarray(i * npuCount, (i + 1) * npuCount));
  });
  const problem = { npuCount, chunksPerNpu, lanes, laneOf, slotPs, shifted };
  const affordable = 2 + Math.floor(MOST_WORK / (npuCount * chunksPerNpu * (kept.length + 16 * lanes)));
  const searched = search(problem, options, options.trials ?? affordable);
  if (searched === null) return null;
  return { ...everywhere(searched.best, kept, sizes, chunksPerNpu), ...searched };
}

/** Returns the shortest spread that the trials find; the first that ends by the target ends the search. */
function search(
  problem: LaneProblem,
  { seed, targetPs }: { readonly seed: number; readonly targetPs: number },
  most: number,
): { best: LaneSpread; endPs: number; trials: number } | null {
  let trials = 1;
  let best = spreadOverLanes(problem, seed, Number.POSITIVE_INFINITY);
  if (best === null) return null;
  const improve = (limitPs: number, tries: number): boolean => {
    for (let i = 0; i < tries && trials < most; i++) {
      const found = spreadOverLanes(problem, (seed + trials++) >>> 0, limitPs);
      if (found === null) continue;
      best = found;
      return true;
    }
    return false;
  };
  if (best.endPs > targetPs && !improve(targetPs, TRIALS_AT_TARGET)) {
    let failedPs = targetPs;
    for (let halving = 0; halving < HALVINGS && trials < most; halving++) {
      const limitPs = Math.floor((failedPs + best.endPs) / 2);
      if (limitPs <= failedPs || !improve(limitPs, TRIALS_PER_HALVING)) failedPs = limitPs;
    }
  }
  return { best, endPs: best.endPs, trials };
}

/** Returns for each port of NPU 0 its route and the translations of it: [v] is the one into NPU v. */
function orbitsOf(
  topology: Topology,
  routes: RouteSet,
  { npuCount }: TenNetwork,
  sizes: readonly number[],
): Int32Array[] | null {
  const translation = portTranslation(topology, routes, sizes);
  if (translation === null) return null;
  const { offset, items } = portsOf(routes, npuCount);
  const orbits = Array.from({ length: translation.ports }, () => new Int32Array(npuCount));
  const port = new Int32Array(translation.ports);
  for (let v = 0; v < npuCount; v++) {
    if (!translation.portsAt(v, port)) return null;
    for (let p = 0; p < orbits.length; p++) orbits[p][v] = items[offset[v] + port[p]];
  }
  return orbits;
}

/** Returns the orbits whose routes can all be used at once, those with a link in common on one lane. O(route links). */
function lanesOf(network: TenNetwork, orbits: readonly Int32Array[]) {
  const { useOffset, useResource, useUnits, capacity } = network;
  const load = new Float64Array(capacity.length);
  const kept = orbits.filter((orbit) => {
    let fits = true;
    for (const route of orbit) {
      for (let i = useOffset[route]; i < useOffset[route + 1]; i++) {
        load[useResource[i]] += useUnits[i];
        if (load[useResource[i]] > capacity[useResource[i]]) fits = false;
      }
    }
    for (const route of orbit) for (let i = useOffset[route]; i < useOffset[route + 1]; i++) load[useResource[i]] = 0;
    return fits;
  });
  const shared = disjointSets(capacity.length);
  const firstResource = kept.map((orbit) => {
    let first = -1;
    for (const route of orbit) {
      for (let i = useOffset[route]; i < useOffset[route + 1]; i++) {
        if (first < 0) first = useResource[i];
        else shared.join(first, useResource[i]);
      }
    }
    return first;
  });
  const numbered = new Map<number, number>();
  let lanes = 0;
  const laneOf = Int32Array.from(firstResource, (resource) => {
    if (resource < 0) return lanes++;
    const lane = numbered.get(shared.least(resource)) ?? lanes++;
    numbered.set(shared.least(resource), lane);
    return lane;
  });
  return { lanes, kept, laneOf, slotPs: Float64Array.from(kept, (orbit) => network.slotPs[orbit[0]]) };
}

/** Returns the transfers into all NPUs. */
function everywhere(
  { element, orbit, startPs }: LaneSpread,
  orbits: readonly Int32Array[],
  sizes: readonly number[],
  chunksPerNpu: number,
): Pick<InvariantTransfers, "chunk" | "route" | "startPs"> {
  const npus = sizes.reduce((product, size) => product * size, 1);
  const rows = element.length * npus;
  const all = { chunk: new Int32Array(rows), route: new Int32Array(rows), startPs: new Float64Array(rows) };
  const image = new Int32Array(npus);
  for (let i = 0, row = 0; i < element.length; i++) {
    translateAll(sizes, Math.floor(element[i] / chunksPerNpu), image);
    for (let v = 0; v < npus; v++, row++) {
      all.chunk[row] = image[v] * chunksPerNpu + (element[i] % chunksPerNpu);
      all.route[row] = orbits[orbit[i]][v];
      all.startPs[row] = startPs[i];
    }
  }
  return all;
}
