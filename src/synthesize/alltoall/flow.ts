import { InfeasibleError, InputError, InternalError } from "../../base/errors.ts";
import type { ConcurrentProblem } from "../../engine/contract/kernels.ts";
import type { LpSolver } from "../../engine/contract/lp.ts";
import { unreachable } from "../../model/bounds/infeasible.ts";
import { distancesFrom } from "../../model/graph/graph.ts";
import { compare } from "../../model/numbers/rational.ts";
import { nodeCount, type Topology } from "../../model/topology/topology.ts";
import type { NetworkSymmetry } from "../../model/trees/tree-flow.ts";
import { exactBound, exactRate, partsFor, wholeFlow } from "./exact.ts";
import { type FlowArcs, flowArcs, graphUnder } from "./flow-arcs.ts";
import { flowByLp, MOST_LP_COLUMNS } from "./flow-lp.ts";
import type { AllToAllFlow, FlowRunner } from "./flow-types.ts";
import { type FlowOrbits, noOrbits, orbitsFor } from "./orbits.ts";

export type { AllToAllFlow, FlowRunner } from "./flow-types.ts";

export interface FlowOptions {
  /** A group with exactly one map that takes NPU 0 to each NPU; undefined: looked for. Not used with demands. */
  readonly symmetry?: NetworkSymmetry | null;
}

/** The kernel stops after so many rounds; a gap of 0.02 % takes some hundred. */
const MOST_ROUNDS = 1000;
/** Where the linear program is small, the kernel only tries so long. */
const ROUNDS_BEFORE_LP = 100;
/** Flows of all sources have at most so many numbers: 1 GiB. */
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
  const orbits = demand === null ? orbitsFor(topology, options.symmetry) : noOrbits(topology);
  const arcs = flowArcs(topology, orbits);
  const task = taskOf(topology, demand, arcs, orbits, wanted);
  if (task.sources.length * arcs.target.length > MOST_NUMBERS)
    throw new InputError(
      "the flow of an all-to-all",
      `at most ${MOST_NUMBERS} flows of sources over links`,
      topology.name,
    );
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
