import { InfeasibleError, InputError, InternalError } from "../../base/errors.ts";
import type { ConcurrentFlow, ConcurrentProblem } from "../../engine/contract/kernels.ts";
import type { LpProblem, LpSolver } from "../../engine/contract/programs.ts";
import { unreachable } from "../../model/bounds/witness.ts";
import { distancesFrom, type Graph, graph, groupedBy } from "../../model/graph/graph.ts";
import { compare, type Rational, rational } from "../../model/numbers/rational.ts";
import { nodeCount, outLinks, type Topology } from "../../model/topology/topology.ts";
import type { NetworkSymmetry } from "../../model/trees/tree-flow.ts";
import { type FlowOrbits, noOrbits, orbitsFor } from "./orbits.ts";

export interface FlowOptions {
  /** A group with exactly one map that takes NPU 0 to each NPU; undefined: looked for. Not used with demands. */
  readonly symmetry?: NetworkSymmetry | null;
  /** The network's orbits, where they are known; found under the symmetry else. Not used with demands. */
  readonly orbits?: FlowOrbits | undefined;
}

/** The kernel stops after this many rounds; a gap of 0.02 % takes some hundred. */
const MOST_ROUNDS = 1000;
/** Where the linear program is small, the kernel only tries so long. */
const ROUNDS_BEFORE_LP = 100;
/** Flows of all sources have at most this many numbers: 1 GiB, and as much for the best ones in the kernel. */
const MOST_NUMBERS = 2 ** 27;

/**
 * Returns the maximum concurrent flow of an all-to-all, within `gap` (0.01: 1 %) of the optimum wherever the kernel or the linear
 * program gets there; rate and bound say how near it is. `demand` [NPUs * NPUs], row by source, whole numbers, the diagonal
 * does not count; null: one unit to every other NPU. Throws InfeasibleError where a demand has no path, InputError where there
 * is no demand, one is no whole number, the sum of a row is 2^50 or more, the gap is not above 0, or the network is too large.
 */
export async function allToAllFlow(
  topology: Topology,
  demand: Float64Array | null,
  gap: number,
  runner: FlowRunner,
  lp: LpSolver | null,
  options: FlowOptions = {},
): Promise<AllToAllFlow> {
  if (!(gap > 0 && gap < Number.POSITIVE_INFINITY))
    throw new InputError("the gap of an all-to-all's flow", "a number above 0", gap);
  const wanted = checkedDemand(topology, demand);
  const orbits = demand === null ? (options.orbits ?? orbitsFor(topology, options.symmetry)) : noOrbits(topology);
  const arcs = flowArcs(topology, orbits);
  const task = taskOf(topology, demand, arcs, orbits, wanted);
  if (task.sources.length * arcs.target.length > MOST_NUMBERS)
    throw new InputError(
      "the flow of an all-to-all",
      `at most ${MOST_NUMBERS} flows of sources over links`,
      topology.name,
    ).as("out-of-range");
  const small = lp !== null && task.sources.length * arcs.target.length <= MOST_LP_COLUMNS;
  const problem = { ...task, gap, maxRounds: small ? ROUNDS_BEFORE_LP : MOST_ROUNDS };
  const found = await runner.concurrent(problem).catch((error: unknown) => {
    throw error instanceof InfeasibleError ? unreached(topology, arcs, task.sources, wanted) : error;
  });
  const carried = carriedBy(topology, arcs, orbits, wanted, task, found.flow);
  const ones = new Int32Array(arcs.classSize.length).fill(1);
  const proved = provedBy(arcs, wanted, task, found.length) ?? provedBy(arcs, wanted, task, ones);
  if (carried === null || proved === null) throw new InternalError("a concurrent flow that carries or proves nothing");
  const near = { ...carried, ...proved, method: `concurrent flow in ${found.rounds} rounds, ${orbits.about}` };
  if (!small || found.bound <= found.rate * (1 + gap)) return near;
  const solved = flowByLp(problem, arcs, lp);
  if (solved === null) return near;
  // The solver's tolerances may be wider than the least demands and the narrowest links.
  const exact = carriedBy(topology, arcs, orbits, wanted, task, solved.flow);
  const limit = provedBy(arcs, wanted, task, solved.length);
  const isFaster = exact !== null && compare(exact.rate, near.rate) >= 0;
  const isTighter = limit !== null && compare(limit.bound, near.bound) <= 0;
  const method = isFaster ? `linear program, ${orbits.about}` : near.method;
  return { ...near, ...(isFaster ? exact : {}), ...(isTighter ? limit : {}), method };
}

type Wanted = (npu: number) => Float64Array;

/** Returns what each NPU wants to be brought to each node. */
function checkedDemand(topology: Topology, demand: Float64Array | null): Wanted {
  const { npuCount } = topology;
  const nodes = nodeCount(topology);
  if (demand === null) {
    if (npuCount < 2) throw new InputError("an all-to-all", "2 NPUs or more", npuCount);
    const all = new Float64Array(nodes).fill(1, 0, npuCount);
    return (npu) => all.with(npu, 0);
  }
  const wanted: Wanted = (npu) => {
    const row = new Float64Array(nodes);
    row.set(demand.subarray(npu * npuCount, (npu + 1) * npuCount));
    row[npu] = 0;
    return row;
  };
  if (demand.length !== npuCount * npuCount)
    throw new InputError("the demand of an all-to-all", `${npuCount * npuCount} numbers`, demand.length);
  let most = 0;
  for (let npu = 0; npu < npuCount; npu++) {
    const row = wanted(npu);
    const wrong = row.find((value) => !Number.isSafeInteger(value) || value < 0);
    if (wrong !== undefined) throw new InputError(`the demand of NPU ${npu}`, "whole numbers of 0 or more", wrong);
    most = Math.max(most, sumOf(row));
  }
  if (most === 0) throw new InputError("the demand of an all-to-all", "something to send", 0);
  if (partsFor(most) < 1) throw new InputError("the demand of an all-to-all", "less than 2^50 for each source", most);
  return wanted;
}

const sumOf = (row: Float64Array): number => row.reduce((sum, value) => sum + value, 0);

type Task = Omit<ConcurrentProblem, "gap" | "maxRounds">;

/** Returns the kernel's problem, without sources that send nothing. */
function taskOf(
  topology: Topology,
  demand: Float64Array | null,
  arcs: FlowArcs,
  orbits: FlowOrbits,
  wanted: Wanted,
): Task {
  const nodes = nodeCount(topology);
  const sends = orbits.sources.map((npu) => (sumOf(wanted(npu)) > 0 ? 1 : 0));
  const sources = orbits.sources.filter((_, s) => sends[s] === 1);
  let rows: Float64Array | null = null;
  if (demand !== null) {
    rows = new Float64Array(sources.length * nodes);
    for (let s = 0; s < sources.length; s++) rows.set(wanted(sources[s]), s * nodes);
  }
  return {
    nodeCount: nodes,
    arcOffset: arcs.offset,
    arcTarget: arcs.target,
    arcClass: arcs.arcClass,
    capacity: arcs.capacity,
    sources,
    sourceWeight: orbits.weight.filter((_, s) => sends[s] === 1),
    demand: rows,
    terminals: Uint8Array.from({ length: nodes }, (_, v) => (v < topology.npuCount ? 1 : 0)),
    wantsFlow: 1,
  };
}

/** Returns the error that names a demand without a path. */
function unreached(topology: Topology, arcs: FlowArcs, sources: Int32Array, wanted: Wanted): Error {
  const network = graphUnder(arcs, new Int32Array(arcs.classSize.length).fill(1));
  for (const source of sources) {
    const dist = distancesFrom(network, [source]);
    const target = wanted(source).findIndex((demand, v) => demand > 0 && dist[v] === Number.POSITIVE_INFINITY);
    if (target < 0) continue;
    return unreachable(topology, source, target);
  }
  return new InternalError("a concurrent flow misses a path that is there");
}

/** Returns the bound that lengths [classes] prove, exactly; null where they prove none. */
function provedBy(
  arcs: FlowArcs,
  wanted: Wanted,
  { sources, sourceWeight }: Task,
  length: Int32Array,
): Pick<AllToAllFlow, "bound" | "lengths"> | null {
  const bound = exactBound(arcs, sources, sourceWeight, (s) => wanted(sources[s]), length);
  if (bound === null) return null;
  const lengths = new Int32Array(arcs.target.length);
  for (let a = 0; a < lengths.length; a++) lengths[arcs.link[a]] = length[arcs.arcClass[a]];
  return { bound, lengths };
}

/** Returns what flows [sources * arcs] carry, with the rate that they reach exactly; null where one misses a demand. */
function carriedBy(
  topology: Topology,
  arcs: FlowArcs,
  orbits: FlowOrbits,
  wanted: Wanted,
  { sources, sourceWeight }: Task,
  found: Float64Array,
): Pick<AllToAllFlow, "rate" | "flow"> | null {
  const count = arcs.target.length;
  const parts = partsFor(sources.reduce((most, npu) => Math.max(most, sumOf(wanted(npu))), 0));
  const flows: Float64Array[] = [];
  for (const [s, npu] of sources.entries()) {
    const whole = wholeFlow(arcs, npu, wanted(npu), parts, found.slice(s * count, (s + 1) * count));
    if (whole === null) return null;
    flows.push(whole);
  }
  const place = new Map(Array.from(sources, (npu, s) => [npu, s]));
  return {
    rate: exactRate(arcs, sourceWeight, parts, flows),
    flow(npu) {
      const flow = new Float64Array(count);
      if (!(npu >= 0 && npu < topology.npuCount)) throw new InternalError(`no flow of NPU ${npu}`);
      const orbit = orbits.sourceOf[npu];
      const s = place.get(orbits.sources[orbit]);
      if (s === undefined) return flow;
      const own = evenly(arcs, flows[s], orbits.still[orbit], parts);
      const map = orbits.mapTo(npu);
      for (let link = 0; link < count; link++) flow[map === null ? link : map[link]] = own[link];
      return flow;
    },
  };
}

/** Returns a flow [links] for a rate of one, averaged over the maps that leave its source in place. */
function evenly(arcs: FlowArcs, whole: Float64Array, still: FlowOrbits["still"][number], parts: number): Float64Array {
  const own = new Float64Array(whole.length);
  for (let a = 0; a < whole.length; a++) own[arcs.link[a]] = whole[a] / parts;
  if (still === null) return own;
  const sum = new Float64Array(still.size.length);
  for (let link = 0; link < own.length; link++) sum[still.of[link]] += own[link];
  return own.map((_, link) => sum[still.of[link]] / still.size[still.of[link]]);
}

/** The most parts of a demand of one. */
const MOST_PARTS = 2 ** 24;
/** A source's demands are at most so many parts in all, so that doubles hold them. */
const MOST_SUM = 2 ** 50;
/** Distances beyond are rounded; a shorter one weakens a bound and is safe. */
const FARTHEST = 2 ** 53;

/** Returns how many whole parts a demand of one is, where the demands of a source are at most `sum` in all; below 1 for 2^50 on. */
function partsFor(sum: number): number {
  let parts = MOST_PARTS;
  while (parts * sum > MOST_SUM) parts /= 2;
  return parts;
}

/**
 * Returns a flow in whole parts (`parts` for a demand of one at a rate of one) that carries exactly the demand `wanted` [nodes] of a
 * source, split at every node much as `flow` [arcs] is, which may have circles and rounding errors; they are left out.
 * Null where the flow does not reach a node that wants something. O(arcs) for each circle.
 */
function wholeFlow(
  arcs: FlowArcs,
  source: number,
  wanted: Float64Array,
  parts: number,
  flow: Float64Array,
): Float64Array | null {
  const order = orderAlong(arcs, source, flow);
  const need = Float64Array.from(wanted, (demand, v) => (v === source ? 0 : demand * parts));
  const whole = new Float64Array(flow.length);
  const rank = new Int32Array(need.length).fill(need.length);
  order.forEach((v, i) => {
    rank[v] = i;
  });
  for (let i = order.length - 1; i > 0; i--) {
    const v = order[i];
    if (need[v] === 0) continue;
    let sum = 0;
    let widest = -1;
    for (let k = arcs.inOffset[v]; k < arcs.inOffset[v + 1]; k++) {
      const a = arcs.inArcs[k];
      if (!(flow[a] > 0) || rank[arcs.source[a]] >= i) continue;
      sum += flow[a];
      if (widest < 0 || flow[a] > flow[widest]) widest = a;
    }
    if (widest < 0) return null;
    let rest = need[v];
    for (let k = arcs.inOffset[v]; k < arcs.inOffset[v + 1]; k++) {
      const a = arcs.inArcs[k];
      if (!(flow[a] > 0) || rank[arcs.source[a]] >= i || a === widest) continue;
      whole[a] = Math.min(rest, Math.floor(need[v] * (flow[a] / sum)));
      rest -= whole[a];
      need[arcs.source[a]] += whole[a];
    }
    whole[widest] = rest;
    need[arcs.source[widest]] += rest;
  }
  return need.every((rest, v) => rest === 0 || rank[v] < order.length) ? whole : null;
}

/**
 * Takes circles out of a flow and returns the nodes that it reaches such that all arcs in use lead onwards, the source first.
 * Circles are met by a depth-first walk along arcs in use; each loses its least arc, and the walk goes on before that.
 */
function orderAlong(arcs: FlowArcs, source: number, flow: Float64Array): Int32Array {
  const nodes = arcs.offset.length - 1;
  const state = new Uint8Array(nodes); // 1: on the walk, 2: done
  const next = arcs.offset.slice(0, nodes);
  const walk = [source];
  const by = [-1];
  const done: number[] = [];
  const leave = (): number => {
    by.pop();
    return walk.pop() ?? source;
  };
  state[source] = 1;
  while (walk.length > 0) {
    const v = walk[walk.length - 1];
    if (next[v] === arcs.offset[v + 1]) {
      state[v] = 2;
      done.push(leave());
      continue;
    }
    const a = next[v]++;
    const to = arcs.target[a];
    if (!(flow[a] > 0) || state[to] === 2) continue;
    if (state[to] === 0) {
      state[to] = 1;
      walk.push(to);
      by.push(a);
      continue;
    }
    const tail = arcs.source[breakCircle(flow, [...by.slice(walk.indexOf(to) + 1), a])];
    while (walk[walk.length - 1] !== tail) {
      const left = leave();
      state[left] = 0;
      next[left] = arcs.offset[left];
    }
  }
  return Int32Array.from(done.reverse());
}

/** Takes the least flow of a circle off all its arcs; returns the arc that had it. */
function breakCircle(flow: Float64Array, circle: readonly number[]): number {
  let least = circle[0];
  for (const a of circle) if (flow[a] < flow[least]) least = a;
  const amount = flow[least];
  for (const a of circle) flow[a] -= amount;
  flow[least] = 0;
  return least;
}

/**
 * Returns the greatest rate at which whole flows, each [arcs] in parts, fit: the least over classes of capacity by load,
 * where the images of the flows load the links of a class evenly. Exact.
 */
function exactRate(
  { arcClass, classSize, capacity }: FlowArcs,
  weight: Float64Array,
  parts: number,
  flows: readonly Float64Array[],
): Rational {
  const load = new Array<bigint>(classSize.length).fill(0n);
  flows.forEach((flow, s) => {
    const sum = sumsByClass(arcClass, classSize.length, flow);
    for (let c = 0; c < load.length; c++) if (sum[c] > 0n) load[c] += sum[c] * BigInt(weight[s]);
  });
  let best: Rational | null = null;
  for (let c = 0; c < load.length; c++) {
    if (load[c] === 0n) continue;
    const num = BigInt(capacity[c]) * BigInt(classSize[c]) * BigInt(parts);
    if (best === null || num * best.den < best.num * load[c]) best = rational(num, load[c]);
  }
  if (best === null) throw new InternalError("a concurrent flow without any flow");
  return best;
}

/** Returns [classes] the sum of whole numbers over the arcs of each class; doubles hold parts of sums up to 2^53. */
function sumsByClass(arcClass: Int32Array, classes: number, values: Float64Array): bigint[] {
  const low = new Float64Array(classes);
  const high = new Float64Array(classes);
  const half = 2 ** 26;
  for (let a = 0; a < values.length; a++) {
    const top = Math.floor(values[a] / half);
    high[arcClass[a]] += top;
    low[arcClass[a]] += values[a] - top * half;
  }
  return Array.from(low, (part, c) => BigInt(high[c]) * BigInt(half) + BigInt(part));
}

/**
 * Returns the bound that lengths [classes] prove: the sum of capacity * length over links by the sum of demand * distance over
 * pairs (duality of LP A.1). Null where all distances are 0. Exact. One search for each source.
 */
function exactBound(
  arcs: FlowArcs,
  sources: Int32Array,
  weight: Float64Array,
  wanted: (s: number) => Float64Array,
  length: Int32Array,
): Rational | null {
  let paid = 0n;
  for (let c = 0; c < length.length; c++) {
    paid += BigInt(arcs.capacity[c]) * BigInt(arcs.classSize[c]) * BigInt(length[c]);
  }
  let reached = 0n;
  const network = graphUnder(arcs, length);
  for (let s = 0; s < sources.length; s++) {
    const dist = distancesFrom(network, [sources[s]]);
    const demand = wanted(s);
    let own = 0n;
    for (let v = 0; v < dist.length; v++) {
      if (demand[v] > 0 && v !== sources[s]) own += BigInt(demand[v]) * BigInt(Math.min(dist[v], FARTHEST));
    }
    reached += own * BigInt(weight[s]);
  }
  return reached === 0n ? null : rational(paid, reached);
}

/**
 * The concurrent flow of an all-to-all (Zhao 2026, LP A.1), with its proof: every NPU sends `rate` times its demand to every
 * other at once, and no flow does so faster than `bound`. Both are exact, in bytes per second for one unit of demand.
 */
export interface AllToAllFlow {
  /** Reached by the flows, to the last digit: rate <= the optimum. */
  readonly rate: Rational;
  /** sum of bandwidth * length over links, by sum of demand * distance over pairs: the optimum <= bound. */
  readonly bound: Rational;
  /** [links] lengths that prove the bound, 0 .. 2^30. */
  readonly lengths: Int32Array;
  /** Returns the flow of an NPU's demand over each link, for one unit of rate, without circles, [links]. O(links) and more. */
  flow(source: number): Float64Array;
  /** In words: how it was found. */
  readonly method: string;
}

/** What the flow needs of the kernels' runner. */
export interface FlowRunner {
  concurrent(problem: ConcurrentProblem): Promise<ConcurrentFlow>;
}

/** Above this many flows of sources over arcs the linear program is not tried. */
export const MOST_LP_COLUMNS = 4000;

const LONGEST = 2 ** 30;
/** Coefficients of 1e15 are refused by the solver, and lost in its tolerances before. */
const MOST_COEFFICIENT = 2 ** 40;

/**
 * Returns the optimum of LP (A.1) of Zhao 2026, grouped by sources: a column for the flow of each source over each arc and one for
 * the rate, a row for each node that a source reaches and one for each class. Capacities count relative to the greatest. Null
 * where the solver fails, or demands or capacities are too far apart for it.
 */
function flowByLp(
  problem: ConcurrentProblem,
  arcs: FlowArcs,
  lp: LpSolver,
): Pick<ConcurrentFlow, "flow" | "length"> | null {
  const program = programOf(problem, arcs);
  if (program.rows.value.some((value) => Math.abs(value) > MOST_COEFFICIENT)) return null;
  const solution = lp.solve(program);
  const count = problem.arcTarget.length;
  const columns = problem.sources.length * count;
  const rate = solution.primal[columns];
  if (solution.status !== "optimal" || !(rate > 0)) return null;
  const nodes = problem.sources.length * problem.nodeCount;
  const dual = solution.dual.subarray(nodes);
  const price = Float64Array.from(dual, (value, c) => Math.max(value, 0) / arcs.classSize[c] / arcs.capacity[c]);
  const dearest = price.reduce((most, value) => Math.max(most, value), 0);
  if (!(dearest > 0)) return null;
  return {
    flow: solution.primal.slice(0, columns).map((value) => Math.max(value, 0) / rate),
    length: Int32Array.from(price, (value) => Math.round((value / dearest) * LONGEST)),
  };
}

function programOf(problem: ConcurrentProblem, arcs: FlowArcs): LpProblem {
  const { nodeCount, sources, sourceWeight, demand, terminals } = problem;
  const count = arcs.target.length;
  const columns = sources.length * count + 1;
  const scale = arcs.capacity.reduce((most, value) => Math.max(most, value), 0);
  const rows: { column: number; value: number }[][] = [];
  sources.forEach((source, s) => {
    for (let v = 0; v < nodeCount; v++) {
      const row: { column: number; value: number }[] = [];
      rows.push(row);
      if (v === source) continue;
      for (let k = arcs.inOffset[v]; k < arcs.inOffset[v + 1]; k++) {
        row.push({ column: s * count + arcs.inArcs[k], value: 1 });
      }
      for (let a = arcs.offset[v]; a < arcs.offset[v + 1]; a++) row.push({ column: s * count + a, value: -1 });
      const wants = demand === null ? terminals[v] : demand[s * nodeCount + v];
      if (wants > 0) row.push({ column: columns - 1, value: -wants });
    }
  });
  const nodeRows = rows.length;
  for (let c = 0; c < arcs.classSize.length; c++) rows.push([]);
  sources.forEach((_, s) => {
    for (let a = 0; a < count; a++) {
      const c = arcs.arcClass[a];
      const value = (sourceWeight[s] / arcs.classSize[c]) * (scale / arcs.capacity[c]);
      rows[nodeRows + c].push({ column: s * count + a, value });
    }
  });
  const offset = new Int32Array(rows.length + 1);
  rows.forEach((row, i) => {
    offset[i + 1] = offset[i] + row.length;
  });
  const entries = rows.flat();
  return {
    objective: new Float64Array(columns).with(columns - 1, 1),
    lower: new Float64Array(columns),
    upper: new Float64Array(columns).fill(Number.POSITIVE_INFINITY),
    rows: {
      lower: Float64Array.from(rows, (_, i) => (i < nodeRows ? 0 : Number.NEGATIVE_INFINITY)),
      upper: Float64Array.from(rows, (_, i) => (i < nodeRows ? 0 : 1)),
      offset,
      column: Int32Array.from(entries, ({ column }) => column),
      value: Float64Array.from(entries, ({ value }) => value),
    },
  };
}

/** The links of a network by the nodes that they leave, with their classes. */
export interface FlowArcs {
  /** [nodes + 1] */
  readonly offset: Int32Array;
  /** [arcs] */
  readonly target: Int32Array;
  readonly source: Int32Array;
  /** [arcs] the link that it is. */
  readonly link: Int32Array;
  /** Arcs that enter v: inArcs[inOffset[v] .. inOffset[v + 1]]. */
  readonly inOffset: Int32Array;
  readonly inArcs: Int32Array;
  /** [arcs] */
  readonly arcClass: Int32Array;
  /** [classes] */
  readonly classSize: Int32Array;
  /** [classes] bytes per second of one link. */
  readonly capacity: Float64Array;
}

/** Returns the links as arcs. O(nodes + links). */
function flowArcs(topology: Topology, { linkClass, classSize }: FlowOrbits): FlowArcs {
  const { offset, links } = outLinks(topology);
  const target = links.map((link) => topology.linkTarget[link]);
  const entering = groupedBy(target, nodeCount(topology));
  const capacity = new Float64Array(classSize.length);
  for (let link = 0; link < linkClass.length; link++) capacity[linkClass[link]] = topology.linkBytesPerSecond[link];
  return {
    offset,
    target,
    source: links.map((link) => topology.linkSource[link]),
    link: links,
    inOffset: entering.offset,
    inArcs: entering.items,
    arcClass: links.map((link) => linkClass[link]),
    classSize,
    capacity,
  };
}

/** Returns the arcs as a graph in which each is as long as `length` says of its class, whole numbers >= 0. O(nodes + arcs). */
const graphUnder = ({ offset, source, target, arcClass }: FlowArcs, length: Int32Array): Graph =>
  graph(
    offset.length - 1,
    source,
    target,
    Float64Array.from(arcClass, (c) => length[c]),
  );
