import type { LpSolution, LpSolver } from "../../engine/contract/programs.ts";
import { disjointSets, numberedSets } from "../../model/graph/graph.ts";
import { commonDivisor } from "../../model/numbers/integers.ts";
import { mapFinder } from "../../model/symmetry/map-finder.ts";
import { oppositeLinks } from "../../model/topology/link-classes.ts";
import type { Topology } from "../../model/topology/topology.ts";
import { programRows } from "../program-rows.ts";
import { type PackingNetwork, packingNetwork } from "./packing.ts";

/** "out": what is broadcast from roots in the set leaves it. "in": contributions to roots in the set come into it. */
export type Direction = "out" | "in";

/** A node set that lacks a member, standing for all its images. */
export interface OrbitCut {
  readonly direction: Direction;
  /** [nodes] */
  readonly inside: Uint8Array;
}

/** Values for each node and link, equal on orbits; in units of the network. */
export interface AllReducePoint {
  /** Buffer per second. */
  readonly rate: number;
  /** [npus] what each reduces and broadcasts; switches that must be reached nothing. */
  readonly shares: Float64Array;
  /** [links] bandwidth for broadcasting and for reducing. */
  readonly out: Float64Array;
  readonly in: Float64Array;
}

/** Multipliers of the linear program, as doubles. */
export interface AllReducePrices {
  /** The cuts with a weight, each the total of all its images. */
  readonly cuts: readonly { readonly cut: OrbitCut; readonly weight: number }[];
  /** [nodes] what capacity gains on its way to a node that only forwards; 0 at members. */
  readonly out: Float64Array;
  readonly in: Float64Array;
}

export interface AllReduceProgram {
  /** Returns how many of the cuts were new. */
  addCuts(cuts: readonly OrbitCut[]): number;
  /** Null where the solver had no room or gave up. */
  solve(): { readonly point: AllReducePoint; readonly prices: AllReducePrices } | null;
  close(): void;
}

/**
 * Opens the linear program of Zhao 2026, B.7, (B.5), with its flows replaced by cuts: maximize the sum of x_v where every
 * node set S that lacks a member has x(S) <= cBC(out of S) and x(S) <= cRE(into S) (maximum flow = minimum cut), and
 * cBC + cRE <= b on every link.
 *
 * Deviations. Cuts come as they are found to be violated, instead of 2 |Vc| |E| flow variables. One variable per orbit of
 * members or links. Instead of a multi-commodity flow among members (b' in B.7) capacities are kept balanced at nodes that
 * only forward: then trees through them exist (splitting off needs no more), and any multi-commodity flow is balanced.
 * Where every link has an equal opposite one, reversing the network turns a solution into one with cBC and cRE exchanged, and
 * the mean of both has cRE(e) = cBC(opposite of e): then there are no variables for reducing, and no cuts "in".
 *
 * Bandwidths are divided by the greatest one, so the numbers are near 1.
 */
export function allReduceProgram(
  network: AllReduceNetwork,
  orbits: AllReduceOrbits,
  solver: LpSolver,
): AllReduceProgram {
  const program = programOf(network, orbits);
  const { rateColumn, shareOrbits, fixed } = program;
  const columns = rateColumn + 1;
  // the rate is the sum of shares: with it, sets of most members can be written by those that they lack
  const shares = Float64Array.from(orbits.nodes.subarray(0, shareOrbits));
  fixed.add(0, 0, [[rateColumn, 1], ...[...shares].map((size, o) => [o, -size] as const)]);
  capacityRows(program);
  const balanced: BalancedRows = {
    out: balanceRows(program, outColumn),
    in: network.opposite === null ? balanceRows(program, inColumn) : [],
  };
  const objective = new Float64Array(columns);
  objective[rateColumn] = 1;
  const session = solver.open({
    objective,
    lower: new Float64Array(columns),
    upper: new Float64Array(columns).fill(Number.POSITIVE_INFINITY),
    rows: fixed.lpRows(),
  });
  const known = new Set<string>();
  const cuts: OrbitCut[] = [];

  return {
    addCuts: (found) => {
      const rows = programRows();
      let added = 0;
      for (const cut of found) {
        const row = coefficientsOf(program, cut);
        const key = [...row].join(" ");
        if (known.has(key)) continue;
        known.add(key);
        cuts.push(cut);
        rows.add(Number.NEGATIVE_INFINITY, 0, row);
        added++;
      }
      if (added > 0) session.addRows(rows.lpRows());
      return added;
    },
    solve: () => {
      const solution = session.solve();
      return solution.status === "optimal"
        ? { point: pointOf(program, solution), prices: pricesOf(program, balanced, cuts, solution) }
        : null;
    },
    close: () => session.close(),
  };
}

/** The columns of the program, and the rows that it begins with. */
interface Program {
  readonly network: AllReduceNetwork;
  readonly backwards: AllReduceNetwork;
  readonly orbits: AllReduceOrbits;
  /** The greatest bandwidth. */
  readonly most: number;
  readonly shareOrbits: number;
  readonly rateColumn: number;
  readonly fixed: ReturnType<typeof programRows>;
  firstCutRow: number;
}

function programOf(network: AllReduceNetwork, orbits: AllReduceOrbits): Program {
  const { rootCount, bandwidth, opposite } = network;
  const most = bandwidth.reduce((a, b) => Math.max(a, b), 1);
  const shareOrbits = orbits.nodeOrbit.subarray(0, rootCount).reduce((count, o) => Math.max(count, o + 1), 0);
  const rateColumn = shareOrbits + (opposite === null ? 2 : 1) * orbits.links.length;
  const backwards = reversedNetwork(network);
  return { network, backwards, orbits, most, shareOrbits, rateColumn, fixed: programRows(), firstCutRow: 1 };
}

const outColumn = ({ shareOrbits }: Program, orbit: number): number => shareOrbits + orbit;

const inColumn = ({ shareOrbits, orbits }: Program, orbit: number): number => shareOrbits + orbits.links.length + orbit;

/** cBC + cRE <= b, one row for each orbit of links, or pair of orbits that are opposite to each other. */
function capacityRows(program: Program): void {
  const { fixed, most, orbits } = program;
  const { linkSource, opposite, bandwidth } = program.network;
  const { linkOrbit } = orbits;
  const done = new Uint8Array(orbits.links.length);
  for (let l = 0; l < linkSource.length; l++) {
    const orbit = linkOrbit[l];
    const other = opposite === null ? orbit : linkOrbit[opposite[l]];
    if (done[orbit] === 1) continue;
    done[orbit] = done[other] = 1;
    const second = opposite === null ? inColumn(program, orbit) : outColumn(program, other);
    const first = outColumn(program, orbit);
    const entries: [number, number][] =
      first === second
        ? [[first, 2]]
        : [
            [first, 1],
            [second, 1],
          ];
    fixed.add(Number.NEGATIVE_INFINITY, bandwidth[l] / most, entries);
    program.firstCutRow++;
  }
}

/** [row, orbit] of each orbit of forwarding nodes. */
type Rows = readonly (readonly [row: number, orbit: number])[];

interface BalancedRows {
  readonly out: Rows;
  readonly in: Rows;
}

/** As much comes into each orbit of forwarding nodes as leaves it. */
function balanceRows(program: Program, columnOf: typeof outColumn): Rows {
  const { orbits, fixed } = program;
  const { npuCount, linkSource, linkTarget } = program.network;
  const { nodeOrbit, linkOrbit } = orbits;
  const sums = new Map<number, Map<number, number>>();
  const count = (node: number, l: number, sign: number): void => {
    if (node < npuCount) return;
    const row = sums.get(nodeOrbit[node]) ?? new Map<number, number>();
    const column = columnOf(program, linkOrbit[l]);
    row.set(column, (row.get(column) ?? 0) + sign);
    sums.set(nodeOrbit[node], row);
  };
  for (let l = 0; l < linkSource.length; l++) {
    count(linkTarget[l], l, 1);
    count(linkSource[l], l, -1);
  }
  return [...sums].map(([orbit, row]) => {
    const nodes = orbits.nodes[orbit];
    for (const [column, sum] of row) row.set(column, sum / nodes);
    fixed.add(0, 0, row);
    return [program.firstCutRow++, orbit];
  });
}

function coefficientsOf(program: Program, { direction, inside }: OrbitCut): Map<number, number> {
  const { rateColumn, network, backwards } = program;
  const { rootCount, linkSource } = network;
  const { nodeOrbit, linkOrbit } = program.orbits;
  const row = new Map<number, number>();
  const count = (column: number, by: number): void => {
    row.set(column, (row.get(column) ?? 0) + by);
  };
  const most = 2 * inside.subarray(0, rootCount).reduce((sum, bit) => sum + bit, 0) > rootCount;
  if (most) count(rateColumn, 1);
  for (let v = 0; v < rootCount; v++) {
    if (most && inside[v] === 0) count(nodeOrbit[v], -1);
    if (!most && inside[v] === 1) count(nodeOrbit[v], 1);
  }
  const way = direction === "out" ? network : backwards;
  const columnOf = direction === "out" ? outColumn : inColumn;
  for (let l = 0; l < linkSource.length; l++) {
    if (inside[way.linkSource[l]] === 1 && inside[way.linkTarget[l]] === 0) count(columnOf(program, linkOrbit[l]), -1);
  }
  return new Map([...row].sort(([a], [b]) => a - b));
}

function pointOf(program: Program, { objective: value, primal }: LpSolution): AllReducePoint {
  const { most } = program;
  const { npuCount, rootCount, opposite } = program.network;
  const { linkOrbit, nodeOrbit } = program.orbits;
  const link = (columnOf: typeof outColumn) =>
    Float64Array.from(linkOrbit, (orbit) => Math.max(0, primal[columnOf(program, orbit)] * most));
  const out = link(outColumn);
  const shares = new Float64Array(npuCount);
  for (let v = 0; v < rootCount; v++) shares[v] = Math.max(0, primal[nodeOrbit[v]] * most);
  return {
    rate: value * most,
    shares,
    out,
    in: opposite === null ? link(inColumn) : Float64Array.from(opposite, (l) => out[l]),
  };
}

function pricesOf(
  { orbits, firstCutRow }: Program,
  balanced: BalancedRows,
  cuts: readonly OrbitCut[],
  { dual }: LpSolution,
): AllReducePrices {
  const gains = (rows: Rows): Float64Array => {
    const gain = new Float64Array(orbits.nodes.length);
    for (const [row, orbit] of rows) gain[orbit] = -dual[row] / orbits.nodes[orbit];
    return Float64Array.from(orbits.nodeOrbit, (orbit) => gain[orbit]);
  };
  const weights = cuts.map((cut, i) => ({ cut, weight: dual[firstCutRow + i] }));
  return { cuts: weights.filter(({ weight }) => weight > 0), out: gains(balanced.out), in: gains(balanced.in) };
}

/**
 * Maps of the network onto itself that take members to members, and the orbits of nodes and links under them. An optimum of
 * a linear program that is the same under all maps exists (average any optimum over them), so one variable per orbit is
 * enough; any group of maps will do, so the search may give up whenever it likes.
 */

/** Nodes and links looked at in all; about a second. */
const MOST_WORK = 5e7;
/** So many nodes of a class in a row that no map is found for end the search in it. */
const MOST_FAILURES = 6;

export interface AllReduceOrbits {
  /** Maps that generate the group: [nodes] where each takes every node; of links that they take to each other any may be taken. */
  readonly maps: readonly Int32Array[];
  /** [nodes] */
  readonly nodeOrbit: Int32Array;
  /** [node orbits] */
  readonly nodes: Int32Array;
  /** [links] */
  readonly linkOrbit: Int32Array;
  /** [link orbits] */
  readonly links: Int32Array;
}

/**
 * Returns the orbits under the known maps ([nodes] each; those that do not keep the network and its members are left out)
 * and those that are found. O(work) up to a second, plus O(links) per map.
 */
export function allReduceOrbits(network: AllReduceNetwork, known: readonly Int32Array[] = []): AllReduceOrbits {
  const { nodeCount, npuCount, rootCount } = network;
  const arcs = arcsOf(network);
  const maps: Int32Array[] = [];
  const nodeSets = disjointSets(nodeCount);
  const admit = (map: Int32Array): boolean => {
    if (!keeps(map, network, arcs)) return false;
    maps.push(map);
    for (let v = 0; v < nodeCount; v++) nodeSets.join(v, map[v]);
    return true;
  };
  for (const map of known) admit(map);
  const colour = new Int32Array(nodeCount).fill(1, 0, rootCount).fill(2, rootCount, npuCount);
  const finder = mapFinder(colour, arcs.source, arcs.target, arcs.kind, MOST_WORK);
  for (const alike of finder.classes) {
    let failures = 0;
    for (let i = 1; i < alike.length && failures < MOST_FAILURES; i++) {
      if (nodeSets.least(alike[i]) === nodeSets.least(alike[0])) continue;
      const map = finder.find(alike[0], alike[i]);
      failures = map !== null && admit(map) ? 0 : failures + 1;
    }
  }
  const arcSets = disjointSets(arcs.source.length);
  for (const map of maps) {
    for (let a = 0; a < arcs.source.length; a++) arcSets.join(a, arcs.imageOf(a, map));
  }
  const nodes = numberedSets(nodeCount, nodeSets.least);
  const links = numberedSets(arcs.ofLink.length, (l) => arcSets.least(arcs.ofLink[l]));
  return { maps, nodeOrbit: nodes.of, nodes: nodes.size, linkOrbit: links.of, links: links.size };
}

/** Links with the same ends and the same bandwidth, as one. */
interface Arcs {
  readonly source: Int32Array;
  readonly target: Int32Array;
  /** Links that it stands for. */
  readonly count: Int32Array;
  /** Number of the pair (bandwidth, count). */
  readonly kind: Int32Array;
  /** [links] */
  readonly ofLink: Int32Array;
  /** Returns the arc that a map of nodes takes an arc to; -1 where there is none. */
  imageOf(arc: number, map: Int32Array): number;
}

function arcsOf({ nodeCount, linkSource, linkTarget, bandwidth }: AllReduceNetwork): Arcs {
  const bandwidths = new Map<number, number>();
  for (const b of bandwidth) if (!bandwidths.has(b)) bandwidths.set(b, bandwidths.size);
  const rank = bandwidth.map((b) => bandwidths.get(b) as number);
  const index = new Map<number, number>();
  const keyOf = (u: number, v: number, b: number): number => (b * nodeCount + u) * nodeCount + v;
  const first: number[] = [];
  const count: number[] = [];
  const ofLink = linkSource.map((u, l) => {
    const key = keyOf(u, linkTarget[l], rank[l]);
    const known = index.get(key);
    if (known !== undefined) {
      count[known]++;
      return known;
    }
    index.set(key, first.length);
    count.push(1);
    return first.push(l) - 1;
  });
  const kinds = new Map<string, number>();
  const kind = Int32Array.from(first, (l, a) => {
    const key = `${rank[l]}:${count[a]}`;
    const known = kinds.get(key) ?? kinds.size;
    kinds.set(key, known);
    return known;
  });
  return {
    source: Int32Array.from(first, (l) => linkSource[l]),
    target: Int32Array.from(first, (l) => linkTarget[l]),
    count: Int32Array.from(count),
    kind,
    ofLink,
    imageOf: (arc, map) => {
      const l = first[arc];
      return index.get(keyOf(map[linkSource[l]], map[linkTarget[l]], rank[l])) ?? -1;
    },
  };
}

/** Returns whether a map permutes the nodes and takes members to members, stops to stops and arcs to arcs of their kind. O(arcs). */
function keeps(map: Int32Array, { nodeCount, npuCount, rootCount }: AllReduceNetwork, arcs: Arcs): boolean {
  const isAlike = (a: number, b: number): boolean => a < rootCount === b < rootCount && a < npuCount === b < npuCount;
  const taken = new Uint8Array(nodeCount);
  for (let v = 0; v < nodeCount; v++) {
    const image = map[v];
    if (image === undefined || image < 0 || taken[image] !== 0 || !isAlike(v, image)) return false;
    taken[image] = 1;
  }
  return arcs.source.every((_, a) => {
    const image = arcs.imageOf(a, map);
    return image >= 0 && arcs.kind[image] === arcs.kind[a];
  });
}

/** A packing network in units, as the linear program of all-reduce sees it. */
export interface AllReduceNetwork extends PackingNetwork {
  /** Members; the other of the `npuCount` nodes are stops: switches that trees have to reach, and root nothing. */
  readonly rootCount: number;
  /** Bytes per second in one unit; bandwidths are exact integers >= 1 of them, without a common divisor. */
  readonly unit: number;
  /** [links] a link of equal bandwidth the other way, each of another; null where some link has none. */
  readonly opposite: Int32Array | null;
}

/**
 * Returns the network of a group. `usable` [links] is what may be used of each link, in bytes per second: exact integers. `stops`
 * are switches that duplicate and sum, and that trees have to reach as well.
 * O(nodes + links log links).
 */
export function allReduceNetwork(
  topology: Topology,
  members: Int32Array,
  usable: Float64Array,
  stops: readonly number[] = [],
): AllReduceNetwork {
  const network = packingNetwork(topology, Int32Array.from([...members, ...stops]), usable, "out");
  const unit = commonDivisor(network.bandwidth) || 1;
  const bandwidth = network.bandwidth.map((b) => b / unit);
  const opposite = oppositeLinks(network.linkSource, network.linkTarget, [bandwidth]);
  return { ...network, rootCount: members.length, bandwidth, unit, opposite };
}

/** Returns the network with every link turned around; links keep their numbers. */
export const reversedNetwork = (network: AllReduceNetwork): AllReduceNetwork => ({
  ...network,
  linkSource: network.linkTarget,
  linkTarget: network.linkSource,
});
