import * as fc from "fast-check";
import { draw } from "../../src/base/random.ts";
import type { ConcurrentFlow, ConcurrentProblem } from "../../src/engine/contract/kernels.ts";
import type { LpSolver } from "../../src/engine/contract/programs.ts";
import { nodeCount, outLinks, type Topology } from "../../src/model/topology/topology.ts";

/** Problems of the concurrent kernel, and their answer from a linear program with a flow for every pair. */

/** Source, target, capacity. */
export type FlowArc = readonly [number, number, number];

/** Returns a problem whose arcs are all classes of their own, all nodes sources and targets. */
export function concurrentOf(
  nodeCount: number,
  arcs: readonly FlowArc[],
  more: Partial<ConcurrentProblem> = {},
): ConcurrentProblem {
  const sorted = [...arcs].sort(([a], [b]) => a - b);
  const arcOffset = new Int32Array(nodeCount + 1);
  for (const [source] of sorted) arcOffset[source + 1]++;
  for (let v = 0; v < nodeCount; v++) arcOffset[v + 1] += arcOffset[v];
  return {
    nodeCount,
    arcOffset,
    arcTarget: Int32Array.from(sorted, ([, target]) => target),
    arcClass: Int32Array.from(sorted.keys()),
    capacity: Float64Array.from(sorted, ([, , capacity]) => capacity),
    sources: Int32Array.from({ length: nodeCount }, (_, v) => v),
    sourceWeight: new Float64Array(nodeCount).fill(1),
    demand: null,
    terminals: new Uint8Array(nodeCount).fill(1),
    gap: 1e-3,
    maxRounds: 2000,
    wantsFlow: 1,
    ...more,
  };
}

/** Random strongly connected problems: parallel arcs, self-loops, nodes that only forward, unequal demands and weights. */
export const concurrentProblems = (mostNodes: number, gap: number): fc.Arbitrary<ConcurrentProblem> =>
  fc
    .record({
      nodes: fc.integer({ min: 2, max: mostNodes }),
      extra: fc.array(fc.tuple(fc.nat(), fc.nat(), fc.integer({ min: 1, max: 9 })), { maxLength: 3 * mostNodes }),
      ring: fc.array(fc.integer({ min: 1, max: 9 }), { minLength: mostNodes, maxLength: mostNodes }),
      forwards: fc.nat(2),
      demands: fc.option(fc.array(fc.nat(5), { minLength: mostNodes ** 2, maxLength: mostNodes ** 2 })),
      wantsFlow: fc.nat(1),
    })
    .map(({ nodes, extra, ring, forwards, demands, wantsFlow }) => {
      const arcs: FlowArc[] = ring.slice(0, nodes).map((capacity, v) => [v, (v + 1) % nodes, capacity]);
      for (const [from, to, capacity] of extra) arcs.push([from % nodes, to % nodes, capacity]);
      const ends = Math.max(2, nodes - forwards);
      const demand = demands === null ? null : Float64Array.from(demands.slice(0, ends * nodes));
      if (demand !== null) demand[1] = 1;
      return concurrentOf(nodes, arcs, {
        sources: Int32Array.from({ length: ends }, (_, v) => v),
        sourceWeight: Float64Array.from({ length: ends }, (_, v) => 1 + (v % 3)),
        terminals: Uint8Array.from({ length: nodes }, (_, v) => (v < ends ? 1 : 0)),
        demand,
        gap,
        wantsFlow,
      });
    });

/** Returns a random network of 6 to 12 NPUs and 2 to 4 switches with links of 1 to 100 each way, so that loads are far apart at first. */
export function irregularProblem(seed: number, more: Partial<ConcurrentProblem>): ConcurrentProblem {
  let drawn = 0;
  const below = (bound: number): number => draw(seed, 1, drawn++) % bound;
  const npus = 6 + below(7);
  const nodes = npus + 2 + below(3);
  const arcs: FlowArc[] = Array.from({ length: nodes }, (_, v) => [v, (v + 1) % nodes, 1 + below(100)]);
  for (let extra = 0; extra < 3 * nodes; extra++) {
    const [from, to] = [below(nodes), below(nodes)];
    if (from !== to) arcs.push([from, to, 1 + below(100)]);
  }
  return concurrentOf(nodes, arcs, {
    sources: Int32Array.from({ length: npus }, (_, v) => v),
    sourceWeight: new Float64Array(npus).fill(1),
    terminals: Uint8Array.from({ length: nodes }, (_, v) => (v < npus ? 1 : 0)),
    ...more,
  });
}

const demandOf = ({ nodeCount, demand, terminals, sources }: ConcurrentProblem, s: number, v: number): number =>
  v === sources[s] ? 0 : demand === null ? terminals[v] : demand[s * nodeCount + v];

function tailsOf({ nodeCount, arcOffset, arcTarget }: ConcurrentProblem): Int32Array {
  const tail = new Int32Array(arcTarget.length);
  for (let v = 0; v < nodeCount; v++) tail.fill(v, arcOffset[v], arcOffset[v + 1]);
  return tail;
}

/** Returns the greatest rate by a linear program with a flow for every pair, as (A.1) of Zhao 2026 for its sources. All arcs are classes of their own. */
export function rateByLp(problem: ConcurrentProblem, lp: LpSolver): number {
  const { nodeCount, arcTarget, sources } = problem;
  const tail = tailsOf(problem);
  const arcs = arcTarget.length;
  const pairs: { readonly s: number; readonly target: number; readonly demand: number }[] = [];
  for (let s = 0; s < sources.length; s++) {
    for (let v = 0; v < nodeCount; v++) {
      const demand = demandOf(problem, s, v);
      if (demand > 0) pairs.push({ s, target: v, demand });
    }
  }
  const columns = pairs.length * arcs + 1;
  const rows: { readonly entries: Map<number, number>; readonly lower: number; readonly upper: number }[] = [];
  const add = (entries: Map<number, number>, column: number, value: number) =>
    entries.set(column, (entries.get(column) ?? 0) + value);
  pairs.forEach(({ s, target, demand }, p) => {
    for (let v = 0; v < nodeCount; v++) {
      if (v === sources[s]) continue;
      const entries = new Map<number, number>();
      for (let a = 0; a < arcs; a++) {
        if (arcTarget[a] === v) add(entries, p * arcs + a, 1);
        if (tail[a] === v) add(entries, p * arcs + a, -1);
      }
      if (v === target) add(entries, columns - 1, -demand);
      rows.push({ entries, lower: 0, upper: 0 });
    }
  });
  for (let a = 0; a < arcs; a++) {
    const entries = new Map(pairs.map(({ s }, p) => [p * arcs + a, problem.sourceWeight[s]]));
    rows.push({ entries, lower: Number.NEGATIVE_INFINITY, upper: problem.capacity[a] });
  }
  const offset = new Int32Array(rows.length + 1);
  rows.forEach(({ entries }, i) => {
    offset[i + 1] = offset[i] + entries.size;
  });
  const solution = lp.solve({
    objective: Float64Array.from({ length: columns }, (_, j) => (j === columns - 1 ? 1 : 0)),
    lower: new Float64Array(columns),
    upper: new Float64Array(columns).fill(Number.POSITIVE_INFINITY),
    rows: {
      lower: Float64Array.from(rows, ({ lower }) => lower),
      upper: Float64Array.from(rows, ({ upper }) => upper),
      offset,
      column: Int32Array.from(rows.flatMap(({ entries }) => [...entries.keys()])),
      value: Float64Array.from(rows.flatMap(({ entries }) => [...entries.values()])),
    },
  });
  if (solution.status !== "optimal") throw new Error(`the linear program is ${solution.status}`);
  return solution.objective;
}

/** Returns what is wrong with a flow: demands that are not met, negative amounts, a rate or a bound that is not what it is said to be. */
export function brokenFlowLaws(problem: ConcurrentProblem, found: ConcurrentFlow): string[] {
  const { nodeCount, arcTarget, sources, sourceWeight, capacity } = problem;
  const wrong: string[] = [];
  const near = (a: number, b: number): boolean => Math.abs(a - b) <= 1e-9 * Math.max(Math.abs(a), Math.abs(b), 1e-9);
  const arcs = arcTarget.length;
  const tail = tailsOf(problem);
  if (!near(boundByLengths(problem, found.length), found.bound)) wrong.push("the lengths prove another bound");
  if (found.rate > found.bound * (1 + 1e-12)) wrong.push("the rate is above the bound");
  if (problem.wantsFlow === 0) return found.flow.length === 0 ? wrong : [...wrong, "a flow nobody asked for"];
  const load = new Float64Array(arcs);
  for (let s = 0; s < sources.length; s++) {
    const flow = found.flow.subarray(s * arcs, (s + 1) * arcs);
    if (flow.some((amount) => !(amount >= 0))) wrong.push(`source ${s} has a negative flow`);
    for (let a = 0; a < arcs; a++) load[a] += sourceWeight[s] * flow[a];
    for (let v = 0; v < nodeCount; v++) {
      let rest = 0;
      for (let a = 0; a < arcs; a++) {
        if (arcTarget[a] === v) rest += flow[a];
        if (tail[a] === v) rest -= flow[a];
      }
      if (v !== sources[s] && Math.abs(rest - demandOf(problem, s, v)) > 1e-8) wrong.push(`source ${s} owes node ${v}`);
    }
  }
  const rate = 1 / load.reduce((most, amount, a) => Math.max(most, amount / capacity[a]), 0);
  if (!near(rate, found.rate)) wrong.push("the flows reach another rate");
  return wrong;
}

/** Returns what lengths prove: all distances by Floyd and Warshall. */
function boundByLengths(problem: ConcurrentProblem, length: Int32Array): number {
  const { nodeCount, arcTarget, sources, sourceWeight, capacity } = problem;
  const tail = tailsOf(problem);
  const far = Array.from({ length: nodeCount }, (_, v) =>
    Array.from({ length: nodeCount }, (_, w) => (v === w ? 0 : Number.POSITIVE_INFINITY)),
  );
  for (let a = 0; a < arcTarget.length; a++) {
    far[tail[a]][arcTarget[a]] = Math.min(far[tail[a]][arcTarget[a]], length[a]);
  }
  for (let k = 0; k < nodeCount; k++) {
    for (const row of far) for (let w = 0; w < nodeCount; w++) row[w] = Math.min(row[w], row[k] + far[k][w]);
  }
  let spent = 0;
  for (let s = 0; s < sources.length; s++) {
    for (let v = 0; v < nodeCount; v++) {
      const demand = demandOf(problem, s, v);
      if (demand > 0) spent += sourceWeight[s] * demand * far[sources[s]][v];
    }
  }
  return capacity.reduce((sum, value, a) => sum + value * length[a], 0) / spent;
}

/** Returns the greatest rate of an all-to-all, or of the demands of pairs, in units of `unit` bytes per second, as rateByLp. */
export function allToAllRate(topology: Topology, demand: Float64Array | null, unit: number, lp: LpSolver): number {
  const { npuCount, linkTarget, linkBytesPerSecond } = topology;
  const nodes = nodeCount(topology);
  const { links } = outLinks(topology);
  const rows = new Float64Array(npuCount * nodes);
  for (let s = 0; s < npuCount; s++) {
    for (let v = 0; v < npuCount; v++) rows[s * nodes + v] = demand === null ? 1 : demand[s * npuCount + v];
  }
  const arcs = Array.from(
    links,
    (link) => [topology.linkSource[link], linkTarget[link], linkBytesPerSecond[link] / unit] as const,
  );
  return rateByLp(
    concurrentOf(nodes, arcs, {
      sources: Int32Array.from({ length: npuCount }, (_, v) => v),
      sourceWeight: new Float64Array(npuCount).fill(1),
      demand: rows,
    }),
    lp,
  );
}
