import type { ConcurrentFlow, ConcurrentProblem } from "../../engine/kernels/kernels.ts";
import type { LpSolver } from "../../engine/milp/lp.ts";
import { InfeasibleError, InputError, InternalError } from "../../errors.ts";
import { unreachable } from "../../model/bounds/infeasible.ts";
import { distancesFrom } from "../../model/graph.ts";
import { nodeCount, type Topology } from "../../model/topology.ts";
import type { NetworkSymmetry } from "../../model/tree-flow.ts";
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
 * is no demand, one is no whole number, the sum of a row is 2^50 or more, or the network is too large.
 */
export async function allToAllFlow(
  topology: Topology,
  demand: Float64Array | null,
  gap: number,
  runner: FlowRunner,
  lp: LpSolver | null,
  options: FlowOptions = {},
): Promise<AllToAllFlow> {
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
  const near = proved(topology, arcs, orbits, wanted, task, found);
  const method = `concurrent flow in ${found.rounds} rounds, ${orbits.about}`;
  if (!small || found.bound <= found.rate * (1 + gap)) return { ...near, method };
  const solved = flowByLp(problem, arcs, lp);
  if (solved === null) return { ...near, method };
  return { ...proved(topology, arcs, orbits, wanted, task, solved), method: `linear program, ${orbits.about}` };
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

/** Returns the flow with rate and bound proved exactly. */
function proved(
  topology: Topology,
  arcs: FlowArcs,
  orbits: FlowOrbits,
  wanted: Wanted,
  { sources, sourceWeight }: Task,
  found: Pick<ConcurrentFlow, "flow" | "length">,
): Omit<AllToAllFlow, "method"> {
  const count = arcs.target.length;
  const parts = partsFor(Math.max(...Array.from(sources, (npu) => sumOf(wanted(npu)))));
  const flows = Array.from(sources, (npu, s) =>
    wholeFlow(arcs, npu, wanted(npu), parts, found.flow.slice(s * count, (s + 1) * count)),
  );
  const bound = exactBound(arcs, sources, sourceWeight, (s) => wanted(sources[s]), found.length);
  if (bound === null) throw new InternalError("lengths that prove nothing");
  const lengths = new Int32Array(count);
  for (let a = 0; a < count; a++) lengths[arcs.link[a]] = found.length[arcs.arcClass[a]];
  const place = new Map(Array.from(sources, (npu, s) => [npu, s]));
  return {
    rate: exactRate(arcs, sourceWeight, parts, flows),
    bound,
    lengths,
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
