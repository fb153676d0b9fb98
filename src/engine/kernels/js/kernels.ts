import { CancelledError } from "../../../base/errors.ts";
import { replayJs } from "../../../model/replay/replay.ts";
import type {
  CancelFlag,
  Kernels,
  PackProblem,
  PlaceProblem,
  RateProblem,
  SweepProblem,
} from "../../contract/kernels.ts";
import {
  checkArborescenceValues,
  checkBalanceValues,
  checkConcurrentValues,
  checkMatchValues,
  checkPackValues,
  checkPartitionValues,
  checkPeriodValues,
  checkPlaceValues,
  checkRateValues,
  checkRelayValues,
  checkReplayValues,
  checkSpreadValues,
  checkSweepValues,
  exactSum,
} from "../check.ts";
import { PACK_OUTCOME, rateOfCut, type TreeColumns } from "../outputs.ts";
import { KERNELS, type Kernel } from "../problems.ts";
import { STATUS, throwForStatus } from "../status.ts";
import { arborescenceJs } from "./arborescence.ts";
import { balanceJs } from "./balance.ts";
import { concurrentJs } from "./concurrent.ts";
import { BIGINTS, commonDivisor, DOUBLES, Flow, type FlowGraph, flowGraph, gcd } from "./flow.ts";
import { group, NONE, touch, touched } from "./lists.ts";
import { matchJs } from "./match.ts";
import { PackRepair } from "./pack-repair.ts";
import { PackSearch } from "./pack-search.ts";
import { PackState } from "./pack-state.ts";
import { partitionJs } from "./partition.ts";
import { periodJs } from "./period.ts";
import { relayJs } from "./relay.ts";
import { spreadJs } from "./spread.ts";
import { ArrivalQueue, groupUsers, LATEST, Resources, shared, slotRanks } from "./ten.ts";

/** Returns a kernel that checks its problem as the others do; `run` returns the answer. */
const checked =
  <Problem, Out, Answer>(
    kernel: Kernel<Problem, Out, Answer>,
    checkValues: (problem: Problem) => void,
    run: (problem: Problem, cancel?: CancelFlag) => Answer,
  ) =>
  (problem: Problem, cancel?: CancelFlag): Answer => {
    kernel.takes(problem);
    checkValues(problem);
    return run(problem, cancel);
  };

/** The same where `run` writes to the caller's arrays and returns a status. */
const checkedInto = <Problem, Out, Answer>(
  kernel: Kernel<Problem, Out, Answer>,
  checkValues: (problem: Problem) => void,
  run: (problem: Problem, out: Out, cancel?: CancelFlag) => number,
) =>
  checked(kernel, checkValues, (problem, cancel) => {
    const out = kernel.allocate(problem);
    return kernel.answer(run(problem, out, cancel), out, problem);
  });

/** The JavaScript twins of the kernels: always there, the reference for the compiled ones. */
export const jsKernels: Kernels = {
  backend: "js",
  match: checked(KERNELS.match, checkMatchValues, matchJs),
  spread: checked(KERNELS.spread, checkSpreadValues, spreadJs),
  relay: checked(KERNELS.relay, checkRelayValues, relayJs),
  place: checked(KERNELS.place, checkPlaceValues, placeJs),
  rate: checked(KERNELS.rate, checkRateValues, (problem, cancel) => rateOfCut(problem, rateJs(problem, cancel))),
  period: checkedInto(KERNELS.period, checkPeriodValues, periodJs),
  pack: checkedInto(KERNELS.pack, checkPackValues, packJs),
  sweep: checked(KERNELS.sweep, checkSweepValues, sweepJs),
  partition: checked(KERNELS.partition, checkPartitionValues, partitionJs),
  arborescence: checkedInto(KERNELS.arborescence, checkArborescenceValues, arborescenceJs),
  concurrent: checkedInto(KERNELS.concurrent, checkConcurrentValues, concurrentJs),
  balance: checkedInto(KERNELS.balance, checkBalanceValues, balanceJs),
  replay: checked(KERNELS.replay, checkReplayValues, (problem, cancel) =>
    replayJs(problem, () => {
      if (cancel !== undefined && Atomics.load(cancel, 0) !== 0) throw new CancelledError();
    }),
  ),
  judge: () => false,
};

/** The JavaScript twin of native/kernels/sweep.h: the same flows. */
function sweepJs(problem: SweepProblem, cancel?: CancelFlag): Float64Array {
  const { nodeCount, linkSource, linkTarget, supply, sinks } = problem;
  const graph = flowGraph(problem, 1, group(linkSource, nodeCount), group(linkTarget, nodeCount), DOUBLES);
  const flows = new Flow(graph, DOUBLES);
  flows.scale(1);
  for (let v = 0; v < nodeCount; v++) flows.feed(v, supply[v]);
  const all = Number(exactSum(supply));
  const flow = new Float64Array(sinks.length);
  for (let i = 0; i < sinks.length; i++) {
    if (cancel !== undefined && Atomics.load(cancel, 0) !== 0) throw new CancelledError();
    flow[i] = flows.solve(sinks[i], all);
    flows.undo();
  }
  return flow;
}

/**
 * The JavaScript twin of native/kernels/pack.h, where the problem and the algorithm are explained. Writes the same trees to
 * `out`, or a cut that forbids them; returns the status.
 */
function packJs(problem: PackProblem, out: TreeColumns, cancel?: CancelFlag): number {
  const state = new PackState(problem, out);
  const search = new PackSearch(state, problem, cancel);
  const violated = search.begin(out.cut);
  const end = violated ? "stuck" : search.run();
  if (end === "tooSmall") return STATUS.outputTooSmall;
  if (end === "packed" && state.treeCount > 0 && problem.repairs > 0) {
    new PackRepair(state, search, problem.seed).run(problem.repairs, problem.enoughHeight);
  }
  out.summary[0] = end === "packed" ? state.treeCount : 0;
  out.summary[1] = violated ? PACK_OUTCOME.violated : end === "packed" ? PACK_OUTCOME.packed : PACK_OUTCOME.stuck;
  out.summary[2] = search.sweeps;
  out.summary[3] = search.rollbacks;
  return STATUS.ok;
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
function rateJs(problem: RateProblem, cancel?: CancelFlag): Uint8Array {
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

/** Moves the entry at place `at` of the binary heap in heap[begin ..] up; least (key, transfer) on top. */
function siftUp(heap: Int32Array, begin: number, at: number, key: Float64Array): void {
  const moved = heap[begin + at];
  const least = key[moved];
  let i = at;
  while (i > 0) {
    const up = (i - 1) >> 1;
    const other = heap[begin + up];
    const rival = key[other];
    if (rival < least || (rival === least && other < moved)) break;
    heap[begin + i] = other;
    i = up;
  }
  heap[begin + i] = moved;
}

/** Moves the top entry of the heap of `size` entries down. */
function siftDown(heap: Int32Array, begin: number, size: number, key: Float64Array): void {
  const moved = heap[begin];
  const least = key[moved];
  let i = 0;
  for (let child = 1; child < size; child = 2 * i + 1) {
    let other = heap[begin + child];
    let rival = key[other];
    if (child + 1 < size) {
      const right = heap[begin + child + 1];
      const rightKey = key[right];
      if (rightKey < rival || (rightKey === rival && right < other)) {
        child++;
        other = right;
        rival = rightKey;
      }
    }
    if (least < rival || (least === rival && moved < other)) break;
    heap[begin + i] = other;
    i = child;
  }
  heap[begin + i] = moved;
}

/** A route that could start, and the freed resource that looks for its next one after it; NONE: none does. */
interface Offer {
  readonly key: number;
  readonly route: number;
  readonly resource: number;
}

const isLater = (a: Offer, b: Offer): boolean => (a.key !== b.key ? a.key > b.key : a.route > b.route);

/** The JavaScript twin of native/kernels/place.h: the same starts. */
export function placeJs(problem: PlaceProblem, cancel?: CancelFlag): Float64Array {
  const { network, route, successorOffset, successor, key } = problem;
  const { useOffset, useResource, capacity } = network;
  const transfers = route.length;
  const routes = network.slotPs.length;
  const { rank, slot } = slotRanks(network);
  const queue = new ArrivalQueue(slot.length);
  const resources = new Resources(network);
  const users = groupUsers(network);
  const waits = new Int32Array(transfers);
  const heap = new Int32Array(transfers);
  const heapBegin = group(route, routes).offset;
  const heapSize = new Int32Array(routes);
  const carried = new Int32Array(routes).fill(NONE);
  const head = new Float64Array(routes).fill(Number.POSITIVE_INFINITY);
  const open = touched(routes);
  const freed = touched(capacity.length);
  const offers: Offer[] = [];
  const startPs = new Float64Array(transfers);
  let placed = 0;

  const makeReady = (transfer: number): void => {
    const r = route[transfer];
    const begin = heapBegin[r];
    const size = heapSize[r]++;
    heap[begin + size] = transfer;
    siftUp(heap, begin, size, key);
    if (carried[r] !== NONE) return;
    head[r] = key[heap[begin]];
    touch(open, r);
  };

  const launch = (r: number, now: number): void => {
    const begin = heapBegin[r];
    const transfer = heap[begin];
    const size = --heapSize[r];
    heap[begin] = heap[begin + size];
    if (size > 1) siftDown(heap, begin, size, key);
    head[r] = Number.POSITIVE_INFINITY;
    startPs[transfer] = now;
    carried[r] = transfer;
    placed++;
    queue.push(rank[r], now + slot[rank[r]], r, 0);
  };

  const launchOpen = (now: number): void => {
    for (let i = 0; i < open.count; i++) {
      const r = open.list[i];
      open.marks[r] = 0;
      if (!shared(network, r)) launch(r, now);
      else if (resources.free(r)) give({ key: head[r], route: r, resource: NONE });
    }
    open.count = 0;
    for (let i = 0; i < freed.count; i++) offerNext(freed.list[i]);
    for (let offer = takeLeast(); offer !== null; offer = takeLeast()) {
      if (head[offer.route] !== Number.POSITIVE_INFINITY && resources.free(offer.route)) {
        resources.take(offer.route);
        launch(offer.route, now);
      }
      if (offer.resource !== NONE) offerNext(offer.resource);
    }
    for (let i = 0; i < freed.count; i++) freed.marks[freed.list[i]] = 0;
    freed.count = 0;
  };

  const give = (offer: Offer): void => {
    let i = offers.push(offer) - 1;
    for (let up = (i - 1) >> 1; i > 0 && isLater(offers[up], offer); up = (i - 1) >> 1) {
      offers[i] = offers[up];
      i = up;
    }
    offers[i] = offer;
  };

  const takeLeast = (): Offer | null => {
    const least = offers[0] ?? null;
    const moved = offers.pop();
    if (moved === undefined || offers.length === 0) return least;
    let i = 0;
    for (let child = 1; child < offers.length; child = 2 * i + 1) {
      if (child + 1 < offers.length && isLater(offers[child], offers[child + 1])) child++;
      if (!isLater(moved, offers[child])) break;
      offers[i] = offers[child];
      i = child;
    }
    offers[i] = moved;
    return least;
  };

  const offerNext = (resource: number): void => {
    if (resources.left(resource) === 0) return;
    let least = NONE;
    for (let j = users.offset[resource]; j < users.offset[resource + 1]; j++) {
      const r = users.items[j];
      if (head[r] < (least === NONE ? Number.POSITIVE_INFINITY : head[least]) && resources.free(r)) least = r;
    }
    if (least !== NONE) give({ key: head[least], route: least, resource });
  };

  const complete = (r: number): void => {
    const transfer = carried[r];
    carried[r] = NONE;
    if (heapSize[r] > 0) head[r] = key[heap[heapBegin[r]]];
    if (shared(network, r)) {
      resources.release(r);
      for (let i = useOffset[r]; i < useOffset[r + 1]; i++) touch(freed, useResource[i]);
    } else if (heapSize[r] > 0) touch(open, r);
    for (let k = successorOffset[transfer]; k < successorOffset[transfer + 1]; k++) {
      const next = successor[k];
      if (--waits[next] === 0) makeReady(next);
    }
  };

  for (let k = 0; k < successor.length; k++) waits[successor[k]]++;
  for (let i = 0; i < transfers; i++) if (waits[i] === 0) makeReady(i);
  let now = 0;
  for (let polls = 0; ; polls++) {
    launchOpen(now);
    if ((polls & 63) === 0 && cancel !== undefined && Atomics.load(cancel, 0) !== 0) throw new CancelledError();
    now = queue.nextTime();
    if (now === Number.POSITIVE_INFINITY) break;
    if (now > LATEST) throwForStatus(STATUS.timeOverflow, 0, 0);
    while (queue.pop(now)) complete(queue.route);
  }
  if (placed < transfers) throwForStatus(STATUS.badArgument, 0, 0);
  return startPs;
}
