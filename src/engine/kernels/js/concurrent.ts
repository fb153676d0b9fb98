import { CancelledError } from "../../../base/errors.ts";
import type { CancelFlag, ConcurrentProblem } from "../../contract/kernels.ts";
import type { ConcurrentColumns } from "../outputs.ts";
import { STATUS } from "../status.ts";
import { ClassLoads } from "./concurrent-loads.ts";
import { ShortestPaths } from "./concurrent-paths.ts";
import { group } from "./lists.ts";

const SHARPEST = 20;
const LEAST_SHARE = 1e-12;

/** The twin of native/kernels/concurrent.h, function by function: the same bits, written to `out`; returns the status. */
export function concurrentJs(problem: ConcurrentProblem, out: ConcurrentColumns, cancel?: CancelFlag): number {
  const { nodeCount, arcOffset, arcTarget, arcClass, sources, sourceWeight, gap } = problem;
  const arcs = arcTarget.length;
  const { summary } = out;
  const paths = new ShortestPaths(problem);
  const loads = new ClassLoads(problem);
  const entering = group(arcTarget, nodeCount);
  const tail = new Int32Array(arcs);
  for (let v = 0; v < nodeCount; v++) tail.fill(v, arcOffset[v], arcOffset[v + 1]);
  const flows = problem.wantsFlow === 1 ? out.flow : new Float64Array(sources.length * arcs);
  const next = new Float64Array(arcs);
  const need = new Float64Array(nodeCount);
  const change = new Float64Array(problem.capacity.length);
  const step = new Float64Array(sources.length).fill(1);

  const flowOf = (s: number): Float64Array => flows.subarray(s * arcs, (s + 1) * arcs);

  const demandOf = (s: number): void => {
    for (let v = 0; v < nodeCount; v++) {
      const demand = problem.demand === null ? (problem.terminals[v] !== 0 ? 1 : 0) : problem.demand[s * nodeCount + v];
      need[v] = v === sources[s] ? 0 : demand;
    }
  };

  const isHop = (arc: number, head: number): boolean => paths.dist[tail[arc]] + 1 === paths.dist[head];

  const splitEvenly = (s: number): boolean => {
    const flow = flowOf(s);
    flow.fill(0);
    change.fill(1);
    paths.run(sources[s], change);
    demandOf(s);
    for (let v = 0; v < nodeCount; v++) if (need[v] > 0 && paths.rank[v] === nodeCount) return false;
    for (let i = paths.settled - 1; i > 0; i--) {
      const w = paths.order[i];
      let ways = 0;
      for (let k = entering.offset[w]; k < entering.offset[w + 1]; k++) if (isHop(entering.items[k], w)) ways++;
      const share = need[w] / ways;
      for (let k = entering.offset[w]; k < entering.offset[w + 1]; k++) {
        const a = entering.items[k];
        if (!isHop(a, w)) continue;
        flow[a] = share;
        need[tail[a]] += share;
      }
    }
    return true;
  };

  const reachedBy = (s: number): number => {
    demandOf(s);
    let sum = 0;
    for (let i = 1; i < paths.settled; i++) sum += need[paths.order[i]] * paths.dist[paths.order[i]];
    return sum;
  };

  const measure = (): void => {
    loads.clear();
    for (let s = 0; s < sources.length; s++) loads.add(flowOf(s), sourceWeight[s]);
    loads.price();
    summary[0] = 1 / loads.greatest;
    loads.round();
    let reached = 0;
    for (let s = 0; s < sources.length; s++) {
      paths.run(sources[s], loads.whole);
      reached += sourceWeight[s] * reachedBy(s);
    }
    const { paid, used } = loads.totals();
    if (paid / reached < summary[1]) {
      summary[1] = paid / reached;
      out.length.set(loads.whole);
    }
    const uneven = (loads.greatest * paid) / used - 1;
    const astray = used / reached - 1;
    if (astray >= 0.4 * uneven || loads.sharpness === SHARPEST) return;
    loads.sharpen();
    loads.price();
  };

  const detourOf = (arc: number): number => {
    const head = arcTarget[arc];
    if (paths.parent[head] === arc) return 0;
    const detour = paths.dist[tail[arc]] + loads.lengths[arcClass[arc]] - paths.dist[head];
    return detour > 0 ? detour : 0;
  };

  const reroute = (flow: Float64Array, cut: number): void => {
    next.fill(0);
    for (let i = paths.settled - 1; i > 0; i--) {
      const w = paths.order[i];
      const wanted = need[w];
      if (wanted === 0) continue;
      let sum = 0;
      for (let k = entering.offset[w]; k < entering.offset[w + 1]; k++) sum += flow[entering.items[k]];
      const tree = paths.parent[w];
      let rest = wanted;
      for (let k = entering.offset[w]; k < entering.offset[w + 1]; k++) {
        const a = entering.items[k];
        if (flow[a] === 0 || a === tree || paths.rank[tail[a]] >= i) continue;
        const share = (flow[a] / sum) * (1 - cut * detourOf(a));
        if (!(share > LEAST_SHARE)) continue;
        next[a] = wanted * share;
        need[tail[a]] += wanted * share;
        rest -= wanted * share;
      }
      if (rest < 0) rest = 0;
      next[tree] = rest;
      need[tail[tree]] += rest;
    }
  };

  const adapt = (s: number, theta: number): void => {
    if (theta >= 1) {
      if (step[s] < 64) step[s] *= 2;
    } else if (theta < 0.3 && step[s] > 1e-4) {
      step[s] *= 0.5;
    }
  };

  /** Reroutes; returns how much of the change is best. */
  const moveBy = (s: number, flow: Float64Array, cut: number): number => {
    demandOf(s);
    reroute(flow, cut);
    change.fill(0);
    for (let a = 0; a < arcs; a++) change[arcClass[a]] += next[a] - flow[a];
    loads.scale(change, sourceWeight[s]);
    return loads.search(change);
  };

  const improve = (s: number): void => {
    paths.run(sources[s], loads.lengths);
    const flow = flowOf(s);
    let longer = 0;
    let squares = 0;
    for (let a = 0; a < arcs; a++) {
      if (flow[a] === 0) continue;
      const detour = detourOf(a);
      longer += flow[a] * detour;
      squares += flow[a] * detour * detour;
    }
    if (longer <= (gap / 8) * reachedBy(s)) return;
    let theta = moveBy(s, flow, (step[s] * longer) / squares);
    if (theta > 0) adapt(s, theta);
    else theta = moveBy(s, flow, Number.POSITIVE_INFINITY);
    if (theta === 0) return;
    loads.move(change, theta);
    loads.price();
    for (let a = 0; a < arcs; a++) flow[a] += theta * (next[a] - flow[a]);
  };

  const breathe = (): void => {
    if (cancel !== undefined && Atomics.load(cancel, 0) !== 0) throw new CancelledError();
  };

  for (let s = 0; s < sources.length; s++) {
    breathe();
    if (!splitEvenly(s)) return STATUS.unreachable;
  }
  summary[1] = Number.POSITIVE_INFINITY;
  for (summary[2] = 0; ; summary[2]++) {
    measure();
    if (summary[1] <= summary[0] * (1 + gap) || summary[2] === problem.maxRounds) return STATUS.ok;
    for (let s = 0; s < sources.length; s++) {
      breathe();
      improve(s);
    }
  }
}
