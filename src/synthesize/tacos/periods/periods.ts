import type { Collective } from "../../../model/collective/collective.ts";
import { rational } from "../../../model/numbers/rational.ts";
import { type PeriodSchedule, periodEndPs } from "../../../model/periods/period-schedule.ts";
import { type RouteSet, type RouteTimes, routeTimes } from "../../../model/routes/routes.ts";
import { routesOf } from "../../../model/routes/routing.ts";
import { placesOf, type Topology } from "../../../model/topology/topology.ts";
import type { KernelRunner } from "../../synthesizer.ts";
import { combsOf } from "./combs.ts";
import { type DuplexNetwork, duplexNetwork } from "./duplex.ts";
import { type Packing, packed, retimed, shallowTrees } from "./packing.ts";

/**
 * All-reduce in periods of spanning trees: chunks go up a tree, summed, and down the same tree. Trees that use all links alike are
 * packed (combs.ts, packing.ts); one chunk for each gets a timetable that repeats every period (the kernel `period`); round follows round
 * by one period, so T trees, k rounds and a last arrival at `lat` take (k - 1) periods + lat.
 *
 * No schedule in which every NPU both sends and hears each sum is shorter than chunks / rate, where the rate is the least over
 * partitions of the NPUs of (what crosses between the parts) / (parts - 1) both ways; trees / period reaches it on meshes and tori.
 * The halves of TACOS one after the other take 2 / rate on the larger ones. 8x8 mesh, 16 chunks per NPU: 604 slots, the limit 576.
 */
export interface Periods {
  readonly packing: Packing;
  /** Without trees that have no chunk. */
  readonly schedule: PeriodSchedule;
  /** Timetables that were made. */
  readonly tables: number;
  /** When it ends where latency does not occupy links. */
  readonly endPs: number;
  /** The same if rounds had no beginning and no end. */
  readonly idealPs: number;
  /** A reduce-scatter and an all-gather one after the other end no earlier. */
  readonly halvesPs: number;
}

const MOST_TREES = 512;
/** Up to so many places, trees and NPUs of all trees together, several packings and timetables are tried. */
export const MOST_TRIED_PLACES = 2e5;
/** More trees are not packed: their timetable would take minutes. */
const MOST_PLACES = 7e7;
/** Periods longer by these shares leave free cells, so that a round takes fewer of them; tried until this share is reached. */
const SLACKS = [0, 0.02, 0.06];
const FULL = 0.95;
/** Jobs of all timetables of the best packing together, and timetables. */
const MOST_JOBS = 4e5;
const MOST_TABLES = 12;

/** Where timetables are made; `breathe` is called between them, and may reject. */
export interface PeriodContext {
  readonly runner: Pick<KernelRunner, "period">;
  readonly breathe?: () => Promise<void>;
}

/** Returns the periods that end first, or null where routes do not go both ways alike, or NPUs are too many. */
export async function periodsOf(
  topology: Topology,
  collective: Collective,
  routes: RouteSet,
  times: RouteTimes,
  seed: number,
  { runner, breathe = async () => {} }: PeriodContext,
): Promise<Periods | null> {
  const network = duplexNetwork(topology.npuCount, routes, times);
  if (network === null) return null;
  const { npuCount, tail, head, there, back, serialPs, latencyPs } = network;
  const { chunkCount } = collective;
  const halvesPs = 2 * (chunkCount - chunkCount / npuCount) * slowestEntryPs(network);
  let tables = 0;
  const make = async (packing: Packing, turn: number): Promise<Periods> => {
    await breathe();
    const { trees, periodPs } = packing;
    const used = new Uint8Array(trees.length * tail.length);
    for (const [i, tree] of trees.entries()) used.set(tree, i * tail.length);
    const problem = { npuCount, treeCount: trees.length, tail, head, serialPs, latencyPs, used, periodPs };
    const table = await runner.period({ ...problem, shakePs: (turn % 4) * serialPs[0], seed, turn });
    tables++;
    const places = Math.min(trees.length, chunkCount) * npuCount;
    const entry = table.entry.subarray(0, places);
    const startPs = table.startPs.subarray(0, 2 * places);
    const schedule: PeriodSchedule = {
      kind: "periods",
      topology,
      collective,
      routes,
      there,
      back,
      entry,
      startPs,
      periodPs,
    };
    const idealPs = (chunkCount / trees.length) * periodPs;
    return { packing, schedule, tables, endPs: periodEndPs(schedule), idealPs, halvesPs };
  };
  const sooner = (one: Periods | null, other: Periods): Periods =>
    one === null || other.endPs < one.endPs ? other : one;
  let best: Periods | null = null;
  for (const packingWith of packingsOf(topology, routes, seed)) {
    if (best !== null && packingWith(network, 0).trees.length > chunkCount) continue;
    for (const slack of SLACKS) {
      best = sooner(best, await make(packingWith(network, slack), 0));
      if (best.idealPs > FULL * best.endPs || best.packing.trees.length * npuCount > MOST_TRIED_PLACES) break;
    }
  }
  if (best === null) return null;
  const { packing } = best;
  const most = Math.min(MOST_TABLES, Math.floor(MOST_JOBS / (2 * packing.trees.length * npuCount)));
  for (let turn = 1; turn < most; turn++) best = sooner(best, await make(packing, turn));
  return { ...best, tables };
}

/** Chunks for which trees are packed, whatever the chunks are: long ones, so that rounding to picoseconds does not tell. */
const WEIGHED_BYTES = rational(2 ** 30);

/** Returns a packing with this slack, in the times of a network of the same edges. */
type PackingWith = (network: DuplexNetwork, slack: number) => Packing;

const remembered = new WeakMap<Topology, { readonly seed: number; readonly packings: readonly PackingWith[] }>();

/** Returns packings of a network, made when they are asked for, once for each topology: first those of fewest trees. */
function packingsOf(topology: Topology, routes: RouteSet, seed: number): readonly PackingWith[] {
  const known = remembered.get(topology);
  if (known?.seed === seed) return known.packings;
  const times = routeTimes(topology, routes, WEIGHED_BYTES);
  const weighed = duplexNetwork(topology.npuCount, routes, times) as DuplexNetwork;
  const packings = forestsOf(topology, weighed, seed).map((forests): PackingWith => {
    const made = new Map<number, Packing>();
    return (network, slack) => {
      const packing = made.get(slack) ?? packed(weighed, forests(), slack);
      made.set(slack, packing);
      return retimed(packing, weighed, network);
    };
  });
  remembered.set(topology, { seed, packings });
  return packings;
}

/** Returns how long a chunk takes to enter the NPU with the least bandwidth, over all its edges at once. */
function slowestEntryPs({ npuCount, incident, serialPs }: DuplexNetwork): number {
  let slowestPs = 0;
  for (let npu = 0; npu < npuCount; npu++) {
    let chunksPerPs = 0;
    for (let k = incident.offset[npu]; k < incident.offset[npu + 1]; k++)
      chunksPerPs += 1 / serialPs[incident.items[k]];
    slowestPs = Math.max(slowestPs, 1 / chunksPerPs);
  }
  return slowestPs;
}

/**
 * Returns whether no periods of trees end before a reduce-scatter and an all-gather one after the other may: N - 1 edges of each
 * tree, both ways, then take the edges of all NPUs as long as the halves take those of the NPU that hears slowest. O(routes log
 * routes).
 */
export function halvesReachTrees(topology: Topology, routes: RouteSet, times: RouteTimes): boolean {
  const network = duplexNetwork(topology.npuCount, routes, times);
  if (network === null) return true;
  const chunksPerPs = network.serialPs.reduce((sum, ps) => sum + 1 / ps, 0);
  const rounding = 1 + 1e-9;
  return (
    2 * (1 - 1 / topology.npuCount) * slowestEntryPs(network) <= (rounding * (topology.npuCount - 1)) / chunksPerPs
  );
}

/** Returns how many places the combs of a grid have at least, trees and NPUs; null where there are none. O(routes log routes). */
export function combPlaces(topology: Topology): number | null {
  const known = knownPlaces.get(topology);
  if (known !== undefined) return known;
  const places = countedPlaces(topology);
  knownPlaces.set(topology, places);
  return places;
}

const knownPlaces = new WeakMap<Topology, number | null>();

function countedPlaces(topology: Topology): number | null {
  const grid = placesOf(topology);
  if (grid === null) return null;
  const routes = routesOf(topology, 1);
  const network = duplexNetwork(topology.npuCount, routes, routeTimes(topology, routes, WEIGHED_BYTES));
  const combs = network === null ? null : combsOf(grid, network, Math.floor(MOST_PLACES / topology.npuCount));
  return combs?.choices[0] === undefined ? null : combs.choices[0].count * topology.npuCount;
}

/** Returns what packings begin with: combs of a grid, else shallow trees. */
function forestsOf(topology: Topology, network: DuplexNetwork, seed: number): (() => Uint8Array[])[] {
  const { npuCount } = topology;
  const mostTrees = Math.min(MOST_TREES, Math.floor(MOST_TRIED_PLACES / npuCount));
  const grid = placesOf(topology);
  const combs = grid === null ? null : combsOf(grid, network, Math.floor(MOST_PLACES / npuCount));
  if (combs !== null && combs.choices.length > 0) {
    const few = combs.choices.filter(({ count }) => count <= mostTrees);
    return (few.length > 0 ? few : combs.choices.slice(0, 1)).map(
      (choice) => () => Array.from({ length: choice.count }, (_, i) => combs.comb(choice, i)),
    );
  }
  const counts = [...new Set([16, 32, 64].map((count) => Math.min(count, mostTrees)))].filter((count) => count > 0);
  return counts.map((count) => () => shallowTrees(network, count, seed));
}
