import type { LpSolution, LpSolver } from "../../engine/contract/lp.ts";
import { programRows } from "../program-rows.ts";
import { type AllReduceNetwork, reversedNetwork } from "./allreduce-network.ts";
import type { AllReduceOrbits } from "./allreduce-symmetry.ts";

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
  /** [members] what each reduces and broadcasts. */
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
  const { memberCount, source, target, bandwidth, opposite } = network;
  const { nodeOrbit, linkOrbit } = orbits;
  const most = bandwidth.reduce((a, b) => Math.max(a, b), 1);
  const shareOrbits = nodeOrbit.subarray(0, memberCount).reduce((count, orbit) => Math.max(count, orbit + 1), 0);
  const linkOrbits = orbits.links.length;
  const outColumn = (orbit: number): number => shareOrbits + orbit;
  const inColumn = (orbit: number): number => shareOrbits + linkOrbits + orbit;
  const rateColumn = inColumn(opposite === null ? linkOrbits : 0);
  const columns = rateColumn + 1;
  const backwards = reversedNetwork(network);

  const fixed = programRows();
  // the rate is the sum of shares: with it, sets of most members can be written by those that they lack
  const shares = Float64Array.from(orbits.nodes.subarray(0, shareOrbits));
  fixed.add(0, 0, [[rateColumn, 1], ...[...shares].map((size, o) => [o, -size] as const)]);
  let firstCutRow = 1;
  capacityRows();
  const balanced = { out: balanceRows(outColumn), in: opposite === null ? balanceRows(inColumn) : [] };
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

  /** cBC + cRE <= b, one row for each orbit of links, or pair of orbits that are opposite to each other. */
  function capacityRows(): void {
    const done = new Uint8Array(linkOrbits);
    for (let l = 0; l < source.length; l++) {
      const orbit = linkOrbit[l];
      const other = opposite === null ? orbit : linkOrbit[opposite[l]];
      if (done[orbit] === 1) continue;
      done[orbit] = done[other] = 1;
      const second = opposite === null ? inColumn(orbit) : outColumn(other);
      const first = outColumn(orbit);
      const entries: [number, number][] =
        first === second
          ? [[first, 2]]
          : [
              [first, 1],
              [second, 1],
            ];
      fixed.add(Number.NEGATIVE_INFINITY, bandwidth[l] / most, entries);
      firstCutRow++;
    }
  }

  /** As much comes into each orbit of forwarding nodes as leaves it; returns [row, orbit] of each. */
  function balanceRows(columnOf: (orbit: number) => number): [number, number][] {
    const sums = new Map<number, Map<number, number>>();
    const count = (node: number, l: number, sign: number): void => {
      if (node < memberCount) return;
      const row = sums.get(nodeOrbit[node]) ?? new Map<number, number>();
      const column = columnOf(linkOrbit[l]);
      row.set(column, (row.get(column) ?? 0) + sign);
      sums.set(nodeOrbit[node], row);
    };
    for (let l = 0; l < source.length; l++) {
      count(target[l], l, 1);
      count(source[l], l, -1);
    }
    return [...sums].map(([orbit, row]) => {
      const nodes = orbits.nodes[orbit];
      for (const [column, sum] of row) row.set(column, sum / nodes);
      fixed.add(0, 0, row);
      return [firstCutRow++, orbit];
    });
  }

  function coefficientsOf({ direction, inside }: OrbitCut): Map<number, number> {
    const row = new Map<number, number>();
    const count = (column: number, by: number): void => {
      row.set(column, (row.get(column) ?? 0) + by);
    };
    const most = 2 * inside.subarray(0, memberCount).reduce((sum, bit) => sum + bit, 0) > memberCount;
    if (most) count(rateColumn, 1);
    for (let v = 0; v < memberCount; v++) {
      if (most && inside[v] === 0) count(nodeOrbit[v], -1);
      if (!most && inside[v] === 1) count(nodeOrbit[v], 1);
    }
    const way = direction === "out" ? network : backwards;
    const columnOf = direction === "out" ? outColumn : inColumn;
    for (let l = 0; l < source.length; l++) {
      if (inside[way.source[l]] === 1 && inside[way.target[l]] === 0) count(columnOf(linkOrbit[l]), -1);
    }
    return new Map([...row].sort(([a], [b]) => a - b));
  }

  const pointOf = ({ objective: value, primal }: LpSolution): AllReducePoint => {
    const link = (columnOf: (orbit: number) => number) =>
      Float64Array.from(linkOrbit, (orbit) => Math.max(0, primal[columnOf(orbit)] * most));
    const out = link(outColumn);
    return {
      rate: value * most,
      shares: Float64Array.from(nodeOrbit.subarray(0, memberCount), (orbit) => Math.max(0, primal[orbit] * most)),
      out,
      in: opposite === null ? link(inColumn) : Float64Array.from(opposite, (l) => out[l]),
    };
  };

  const pricesOf = ({ dual }: LpSolution): AllReducePrices => {
    const gains = (rows: readonly [number, number][]): Float64Array => {
      const gain = new Float64Array(orbits.nodes.length);
      for (const [row, orbit] of rows) gain[orbit] = -dual[row] / orbits.nodes[orbit];
      return Float64Array.from(nodeOrbit, (orbit) => gain[orbit]);
    };
    const weights = cuts.map((cut, i) => ({ cut, weight: dual[firstCutRow + i] }));
    return { cuts: weights.filter(({ weight }) => weight > 0), out: gains(balanced.out), in: gains(balanced.in) };
  };

  return {
    addCuts: (found) => {
      const rows = programRows();
      let added = 0;
      for (const cut of found) {
        const row = coefficientsOf(cut);
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
      return solution.status === "optimal" ? { point: pointOf(solution), prices: pricesOf(solution) } : null;
    },
    close: () => session.close(),
  };
}
