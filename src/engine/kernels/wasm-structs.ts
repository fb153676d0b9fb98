import { REPLAY_MODE, REPLAY_WANTS, type ReplayProblem } from "../../model/replay/problem.ts";
import type {
  ArborescenceProblem,
  BalanceProblem,
  ConcurrentProblem,
  MatchPolicy,
  PackProblem,
  RateProblem,
  SpreadLogs,
  SpreadProblem,
  SweepProblem,
  TenNetwork,
} from "../contract/kernels.ts";
import { mapCountOf } from "../contract/kernels.ts";
import type { BalanceColumns, ConcurrentColumns, Outputs, TreeColumns } from "./outputs.ts";
import type { ReplayColumns } from "./replay-columns.ts";
import { STATUS } from "./status.ts";
import type { WasmHeap } from "./wasm-memory.ts";

/** Problems and answers in the module's memory, as the structs of native/abi.h; wasm/entry.cpp asserts the offsets. */

const NETWORK_BYTES = 44;
const TRANSFERS_BYTES = 40;
const POLICY_BYTES = 24;
const SPREAD_BYTES = 68;
const LOGS_BYTES = 36;
const RATE_BYTES = 28;
const SWEEP_BYTES = 32;
const PACK_BYTES = 52;
const TREES_BYTES = 48;
const ARBORESCENCE_BYTES = 24;
const BALANCE_BYTES = 36;
const BALANCED_BYTES = 64;
const CONCURRENT_BYTES = 64;
const CONCURRENT_FLOW_BYTES = 32;
const REPLAY_BYTES = 108;
const REPLAYED_BYTES = 40;

export function putNetwork(heap: WasmHeap, network: TenNetwork): number {
  const arrays = [
    heap.put(network.routeSource),
    heap.put(network.routeTarget),
    heap.put(network.slotPs),
    heap.put(network.useOffset),
    heap.put(network.useResource),
    heap.put(network.useUnits),
    heap.put(network.capacity),
  ];
  const pointer = heap.allocate(NETWORK_BYTES);
  const counts = [network.npuCount, network.routeSource.length, network.useResource.length, network.capacity.length];
  putWords(heap, pointer, [...counts, ...arrays]);
  return pointer;
}

export function putPolicy(heap: WasmHeap, policy: MatchPolicy): number {
  const pointer = heap.allocate(POLICY_BYTES);
  const { seed, choice, window, lateLimit, novelty, overtaking } = policy;
  putWords(heap, pointer, [seed, choice, window, lateLimit, novelty, overtaking]);
  return pointer;
}

function putWords(heap: WasmHeap, pointer: number, words: readonly number[]): void {
  const view = heap.view();
  for (let i = 0; i < words.length; i++) view.setUint32(pointer + 4 * i, words[i], true);
}

/** Allocates struct BanyanTransfers and its arrays; `collect` copies the kernel's answer into `outputs`. */
export function putOutputs(heap: WasmHeap, outputs: Outputs): { pointer: number; collect: () => void } {
  const { chunk, route, startPs, summary } = outputs;
  const arrays = [chunk, route, startPs].map((column) => heap.allocate(column.byteLength));
  const pointer = heap.allocate(TRANSFERS_BYTES);
  heap.view().setFloat64(pointer, chunk.length, true);
  putWords(heap, pointer + 8, arrays);
  const take = (): void => {
    const view = heap.view();
    summary[0] = view.getFloat64(pointer + 24, true);
    summary[1] = view.getInt32(pointer + 32, true);
    summary[2] = view.getInt32(pointer + 36, true);
    const count = Math.min(Math.max(summary[0], 0), chunk.length);
    for (const [i, column] of [chunk, route, startPs].entries()) heap.take(column.subarray(0, count), arrays[i]);
  };
  return { pointer, collect: take };
}

/** Allocates struct BanyanSpread. */
export function putSpread(heap: WasmHeap, problem: SpreadProblem): number {
  const { seed, choice, window, lateLimit } = problem.policy;
  const columns = [problem.routeSource, problem.routeTarget, problem.heldOffset, problem.heldChunk, problem.wanted];
  const pointers = columns.map((column) => heap.put(column));
  const maps = heap.put(problem.maps);
  const pointer = heap.allocate(SPREAD_BYTES);
  const counts = [problem.npuCount, problem.chunkCount, problem.routeSource.length, problem.heldChunk.length];
  putWords(heap, pointer, [
    ...counts,
    ...pointers,
    seed,
    choice,
    window,
    lateLimit,
    problem.threads,
    0,
    mapCountOf(problem.maps, problem.npuCount),
    maps,
  ]);
  return pointer;
}

/** Allocates struct BanyanRate. */
export function putRate(heap: WasmHeap, problem: RateProblem): number {
  const { nodeCount, npuCount, linkSource, linkTarget, capacity, weight } = problem;
  const pointers = [linkSource, linkTarget, capacity, weight].map((column) => heap.put(column));
  const pointer = heap.allocate(RATE_BYTES);
  putWords(heap, pointer, [nodeCount, npuCount, linkSource.length, ...pointers]);
  return pointer;
}

/** Allocates struct BanyanPack. */
export function putPack(heap: WasmHeap, problem: PackProblem): number {
  const { nodeCount, npuCount, linkSource, linkTarget, capacity, copies } = problem;
  const { seed, depthPrice, loadPrice, scheduled, repairs, enoughHeight } = problem;
  const pointers = [linkSource, linkTarget, capacity, copies].map((column) => heap.put(column));
  const pointer = heap.allocate(PACK_BYTES);
  const settings = [depthPrice, loadPrice, Number(scheduled), repairs, enoughHeight];
  putWords(heap, pointer, [nodeCount, npuCount, linkSource.length, seed, ...pointers, ...settings]);
  return pointer;
}

/** Allocates struct BanyanTrees and its arrays; `collect` copies the kernel's answer into `out`. */
export function putTrees(heap: WasmHeap, npuCount: number, out: TreeColumns): { pointer: number; collect: () => void } {
  const arrays = [out.root, out.copies, out.linkOffset, out.links, out.cut].map((column) =>
    heap.allocate(column.byteLength),
  );
  const pointer = heap.allocate(TREES_BYTES);
  heap.view().setFloat64(pointer, out.links.length, true);
  putWords(heap, pointer + 8, [out.root.length, 0, ...arrays]);
  const take = (): void => {
    for (const [i, at] of [12, 36, 40, 44].entries()) out.summary[i] = heap.view().getInt32(pointer + at, true);
    const trees = out.summary[0];
    const edges = trees * (npuCount - 1);
    heap.take(out.root.subarray(0, trees), arrays[0]);
    heap.take(out.copies.subarray(0, trees), arrays[1]);
    heap.take(out.linkOffset.subarray(0, edges + 1), arrays[2]);
    heap.take(out.links.subarray(0, out.linkOffset[edges]), arrays[3]);
    heap.take(out.cut, arrays[4]);
  };
  return { pointer, collect: take };
}

/** Allocates struct BanyanSweep. */
export function putSweep(heap: WasmHeap, problem: SweepProblem): number {
  const { nodeCount, linkSource, linkTarget, capacity, supply, sinks } = problem;
  const pointers = [linkSource, linkTarget, capacity, supply, sinks].map((column) => heap.put(column));
  const pointer = heap.allocate(SWEEP_BYTES);
  putWords(heap, pointer, [nodeCount, linkSource.length, sinks.length, ...pointers]);
  return pointer;
}

/** Allocates struct BanyanArborescence. */
export function putArborescence(
  heap: WasmHeap,
  { nodeCount, root, arcSource, arcTarget, cost }: ArborescenceProblem,
): number {
  const pointers = [arcSource, arcTarget, cost].map((column) => heap.put(column));
  const pointer = heap.allocate(ARBORESCENCE_BYTES);
  putWords(heap, pointer, [nodeCount, root, arcSource.length, ...pointers]);
  return pointer;
}

/** Allocates struct BanyanLogs and its arrays; `collect` copies the kernel's answer into `logs`. */
export function putLogs(heap: WasmHeap, logs: SpreadLogs, maxSlots: number, summary: Float64Array) {
  const { chunk, ports, slots } = logs;
  const offsets = [heap.put(logs.logOffset), heap.put(logs.portOffset)] as const;
  const arrays = [heap.allocate(chunk.byteLength), heap.put(ports), heap.put(slots)] as const;
  const pointer = heap.allocate(LOGS_BYTES);
  putWords(heap, pointer, [chunk.BYTES_PER_ELEMENT, maxSlots, offsets[0], arrays[0], offsets[1], arrays[1], arrays[2]]);
  const take = (): void => {
    for (const [i, column] of [chunk, ports, slots].entries()) heap.take(column, arrays[i] as number);
    const view = heap.view();
    summary[1] = view.getInt32(pointer + LOGS_BYTES - 8, true);
    summary[2] = view.getInt32(pointer + LOGS_BYTES - 4, true);
  };
  return { pointer, collect: take };
}

/** Allocates struct BanyanConcurrent. */
export function putConcurrent(heap: WasmHeap, problem: ConcurrentProblem): number {
  const { arcOffset, arcTarget, arcClass, capacity, sources, sourceWeight, demand, terminals } = problem;
  const columns = [arcOffset, arcTarget, arcClass, capacity, sources, sourceWeight, demand, terminals];
  const pointers = columns.map((column) => heap.put(column));
  const pointer = heap.allocate(CONCURRENT_BYTES);
  heap.view().setFloat64(pointer, problem.gap, true);
  const counts = [problem.nodeCount, arcTarget.length, capacity.length, sources.length, problem.maxRounds];
  putWords(heap, pointer + 8, [...counts, ...pointers]);
  return pointer;
}

/** Allocates struct BanyanConcurrentFlow and its arrays; `collect` copies the kernel's answer into `out`. */
export function putConcurrentColumns(heap: WasmHeap, { wantsFlow }: ConcurrentProblem, out: ConcurrentColumns) {
  const length = heap.put(out.length);
  const flow = wantsFlow === 1 ? heap.allocate(out.flow.byteLength) : 0;
  const pointer = heap.allocate(CONCURRENT_FLOW_BYTES);
  putWords(heap, pointer + 20, [length, flow]);
  const collect = (): void => {
    out.summary[0] = heap.view().getFloat64(pointer, true);
    out.summary[1] = heap.view().getFloat64(pointer + 8, true);
    out.summary[2] = heap.view().getInt32(pointer + 16, true);
    heap.take(out.length, length);
    if (wantsFlow === 1) heap.take(out.flow, flow);
  };
  return { pointer, collect };
}

/** Allocates struct BanyanBalance. */
export function putBalance(heap: WasmHeap, problem: BalanceProblem): number {
  const { nodeCount, inOffset, inSource, targets, parts, wantsShares, threads } = problem;
  const pointers = [inOffset, inSource, targets].map((column) => heap.put(column));
  const pointer = heap.allocate(BALANCE_BYTES);
  putWords(heap, pointer, [nodeCount, inSource.length, targets.length, parts, wantsShares, threads, ...pointers]);
  return pointer;
}

/** Allocates struct BanyanBalanced and its arrays; `collect` copies the kernel's answer into `out`. */
export function putBalanceColumns(heap: WasmHeap, out: BalanceColumns) {
  const loads = [out.loadNum, out.loadDen, out.worst];
  const rows = [out.step, out.port, out.source, out.from, out.to];
  const loadPointers = loads.map((column) => heap.allocate(column.byteLength));
  const offset = heap.put(out.rowOffset);
  const rowPointers = rows.map((column) => heap.allocate(column.byteLength));
  const pointer = heap.allocate(BALANCED_BYTES);
  heap.view().setFloat64(pointer, out.step.length, true);
  putWords(heap, pointer + 8, [out.loadNum.length, 0, ...loadPointers, offset, ...rowPointers, 0, 0]);
  const collect = (status: number): void => {
    for (const [i, at] of [12, 52, 56].entries()) out.summary[i] = heap.view().getInt32(pointer + at, true);
    if (status !== STATUS.ok) return;
    const [steps] = out.summary;
    for (const [i, column] of loads.entries()) heap.take(column.subarray(0, steps), loadPointers[i]);
    heap.take(out.rowOffset, offset);
    const count = out.rowOffset[out.rowOffset.length - 1];
    for (const [i, column] of rows.entries()) heap.take(column.subarray(0, count), rowPointers[i]);
  };
  return { pointer, collect };
}

/** Allocates struct BanyanReplay. */
export function putReplay(heap: WasmHeap, problem: ReplayProblem): number {
  const { routeSource, routeTarget, linkOffset, links, firstChunk, reduces, serial, delay, cost, capacity } = problem;
  const { holders, setOffset, setMembers, chunk, route, plannedStart, plannedEnd } = problem;
  const shares = problem.mode === REPLAY_MODE.cutThrough ? [cost, capacity] : [null, null];
  const network = [routeSource, routeTarget, linkOffset, links, firstChunk, reduces, serial, delay, ...shares];
  const rows = [holders, setOffset, setMembers, chunk, route, plannedStart, plannedEnd];
  const pointers = [...network, ...rows].map((column) => heap.put(column));
  const pointer = heap.allocate(REPLAY_BYTES);
  putWords(heap, pointer, [
    ...[problem.mode, problem.npuCount, problem.linkCount, routeSource.length, links.length, reduces.length],
    ...[holders.length, setOffset.length - 1, setMembers.length, chunk.length],
    ...pointers,
  ]);
  return pointer;
}

/** Allocates struct BanyanReplayed and its arrays; `collect` copies the kernel's answer into `out`. */
export function putReplayColumns(heap: WasmHeap, { wants }: ReplayProblem, out: ReplayColumns) {
  const busy = heap.put(out.linkBusy);
  const timed = wants === REPLAY_WANTS.nothing ? [] : [out.start, out.end];
  const columns = wants === REPLAY_WANTS.hops ? [...timed, out.hopStart] : timed;
  const pointers = columns.map((column) => heap.allocate(column.byteLength));
  const pointer = heap.allocate(REPLAYED_BYTES);
  heap.view().setFloat64(pointer, out.hopStart.length, true);
  putWords(heap, pointer + 24, [busy, ...[0, 1, 2].map((i) => pointers[i] ?? 0)]);
  const collect = (status: number): void => {
    out.summary[0] = heap.view().getFloat64(pointer + 8, true);
    out.summary[1] = heap.view().getInt32(pointer + 16, true);
    out.summary[2] = heap.view().getInt32(pointer + 20, true);
    if (status !== STATUS.ok) return;
    heap.take(out.linkBusy, busy);
    for (const [i, column] of columns.entries()) heap.take(column, pointers[i]);
  };
  return { pointer, collect };
}
