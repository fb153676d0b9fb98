import { CancelledError } from "../../../base/errors.ts";
import type { CancelFlag, RateProblem } from "../../contract/kernels.ts";
import { exactSum } from "../exact-sum.ts";
import { type Amount, BIGINTS, DOUBLES, Flow, type FlowGraph, flowGraph } from "./flow.ts";
import { group, touch, touched } from "./lists.ts";

function gcd(a: Amount, b: Amount): Amount {
  let x = a;
  let y = b;
  while (y > 0) [x, y] = [y, x % y];
  return x;
}

function commonDivisor(values: Float64Array): number {
  let divisor = 0;
  for (let i = 0; i < values.length && divisor !== 1; i++) divisor = gcd(values[i], divisor);
  return divisor === 0 ? 1 : divisor;
}

/** NPUs breadth-first over links in both directions, from the least that has not been reached. */
function orderSinks({ offset, tail }: FlowGraph, npuCount: number): Int32Array {
  const seen = touched(offset.length - 1);
  const order = new Int32Array(npuCount);
  let ordered = 0;
  let taken = 0;
  for (let start = 0; start < npuCount; start++) {
    touch(seen, start);
    for (; taken < seen.count; taken++) {
      const v = seen.list[taken];
      if (v < npuCount) order[ordered++] = v;
      for (let a = offset[v]; a < offset[v + 1]; a++) touch(seen, tail[a]);
    }
  }
  return order;
}

/** The JavaScript twin of native/kernels/rate.h: the same cut. */
export function rateJs(problem: RateProblem, cancel?: CancelFlag): Uint8Array {
  const { nodeCount, npuCount } = problem;
  const capacityDivisor = commonDivisor(problem.capacity);
  const weightDivisor = commonDivisor(problem.weight);
  const weights = exactSum(problem.weight) / BigInt(weightDivisor);
  const capacities = exactSum(problem.capacity) / BigInt(capacityDivisor);
  const arithmetic = capacities * weights <= BigInt(Number.MAX_SAFE_INTEGER) ? DOUBLES : BIGINTS;
  const { of, zeros } = arithmetic;
  const out = group(problem.linkSource, nodeCount);
  const graph = flowGraph(problem, capacityDivisor, out, group(problem.linkTarget, nodeCount), arithmetic);
  const { offset, tail, capacity } = graph;
  const flow = new Flow(graph, arithmetic);
  const order = orderSinks(graph, npuCount);
  const weight = zeros(npuCount);
  for (let v = 0; v < npuCount; v++) weight[v] = of(problem.weight[v] / weightDivisor);
  const total = of(Number(weights));
  const cut = new Uint8Array(nodeCount);
  let p = of(0);
  let q = of(1);
  let all = total;

  /** The cut with the greatest ratio among those that lack one NPU and nothing else. */
  const cutOneOff = (): void => {
    let lacking = 0;
    for (let v = 0; v < npuCount; v++) {
      let into = of(0);
      for (let a = offset[v]; a < offset[v + 1]; a++) into += capacity[a];
      if (!((total - weight[v]) * q > p * into)) continue;
      p = total - weight[v];
      q = into;
      lacking = v;
    }
    cut.fill(1);
    cut[lacking] = 0;
  };

  /** Sets p/q to the ratio of the cut. */
  const measure = (): void => {
    p = of(0);
    q = of(0);
    for (let v = 0; v < nodeCount; v++) {
      if (cut[v] !== 0) {
        if (v < npuCount) p += weight[v];
        continue;
      }
      for (let a = offset[v]; a < offset[v + 1]; a++) if (cut[tail[a]] !== 0) q += capacity[a];
    }
  };

  /** Sets up the network for p/q, the first `done` sinks supplied without limit. */
  const rescale = (done: number): void => {
    const common = gcd(p, q);
    p /= common;
    q /= common;
    all = q * total;
    flow.scale(p);
    for (let v = 0; v < npuCount; v++) flow.feed(v, q * weight[v]);
    for (let i = 0; i < done; i++) flow.feed(order[i], all);
  };

  cutOneOff();
  if (!(p > 0 && q > 0)) return cut;
  rescale(0);
  for (let done = 0; done < npuCount; done++) {
    const sink = order[done];
    for (;;) {
      if (cancel !== undefined && Atomics.load(cancel, 0) !== 0) throw new CancelledError();
      if (!(flow.solve(sink, all) < all)) break;
      flow.markSourceSide(cut);
      measure();
      if (!(q > 0)) return cut;
      rescale(done);
    }
    flow.undo();
    flow.feed(sink, all);
  }
  return cut;
}
