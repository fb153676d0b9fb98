import { InternalError } from "../../errors.ts";
import {
  checkArborescenceShapes,
  checkMatchShapes,
  checkPackShapes,
  checkPlaceShapes,
  checkRateShapes,
  checkRelayShapes,
  checkSpreadShapes,
  checkSweepShapes,
} from "./check.ts";
import {
  type ArborescenceProblem,
  type CancelFlag,
  type Kernels,
  type MatchPolicy,
  mapCountOf,
  type PackProblem,
  type RateProblem,
  type SpreadLogs,
  type SpreadProblem,
  type SweepProblem,
  type TenNetwork,
} from "./kernels.ts";
import {
  allocateArcs,
  allocateCut,
  allocateDeliveries,
  allocateFlows,
  allocateLogs,
  allocateOutputs,
  allocateStarts,
  allocateTrees,
  collect,
  type Outputs,
  packOutcomeOf,
  rateOfCut,
  type TreeColumns,
  throwForArcs,
} from "./outputs.ts";
import { STATUS, throwForStatus } from "./status.ts";
import { type WasmExports, WasmHeap } from "./wasm-memory.ts";

/**
 * The kernels as WebAssembly, in Node, workers and browsers. Problems are copied into the module's memory, laid out as
 * the structs of native/abi.h (wasm/entry.cpp asserts the offsets), and results out of it.
 */

/** An instance whose memory has grown beyond this is dropped after the call: WebAssembly memory never shrinks. */
const KEEP_BYTES = 64 * 2 ** 20;

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

function putNetwork(heap: WasmHeap, network: TenNetwork): number {
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

function putPolicy(heap: WasmHeap, policy: MatchPolicy): number {
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
function putOutputs(heap: WasmHeap, outputs: Outputs): { pointer: number; collect: () => void } {
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
function putSpread(heap: WasmHeap, problem: SpreadProblem): number {
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
function putRate(heap: WasmHeap, problem: RateProblem): number {
  const { nodeCount, npuCount, linkSource, linkTarget, capacity, weight } = problem;
  const pointers = [linkSource, linkTarget, capacity, weight].map((column) => heap.put(column));
  const pointer = heap.allocate(RATE_BYTES);
  putWords(heap, pointer, [nodeCount, npuCount, linkSource.length, ...pointers]);
  return pointer;
}

/** Allocates struct BanyanPack. */
function putPack(heap: WasmHeap, problem: PackProblem): number {
  const { nodeCount, npuCount, linkSource, linkTarget, capacity, copies } = problem;
  const { seed, depthPrice, loadPrice, scheduled, repairs, enoughHeight } = problem;
  const pointers = [linkSource, linkTarget, capacity, copies].map((column) => heap.put(column));
  const pointer = heap.allocate(PACK_BYTES);
  const settings = [depthPrice, loadPrice, Number(scheduled), repairs, enoughHeight];
  putWords(heap, pointer, [nodeCount, npuCount, linkSource.length, seed, ...pointers, ...settings]);
  return pointer;
}

/** Allocates struct BanyanTrees and its arrays; `collect` copies the kernel's answer into `out`. */
function putTrees(heap: WasmHeap, npuCount: number, out: TreeColumns): { pointer: number; collect: () => void } {
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
function putSweep(heap: WasmHeap, problem: SweepProblem): number {
  const { nodeCount, linkSource, linkTarget, capacity, supply, sinks } = problem;
  const pointers = [linkSource, linkTarget, capacity, supply, sinks].map((column) => heap.put(column));
  const pointer = heap.allocate(SWEEP_BYTES);
  putWords(heap, pointer, [nodeCount, linkSource.length, sinks.length, ...pointers]);
  return pointer;
}

/** Allocates struct BanyanArborescence. */
function putArborescence(heap: WasmHeap, { nodeCount, root, arcSource, arcTarget, cost }: ArborescenceProblem): number {
  const pointers = [arcSource, arcTarget, cost].map((column) => heap.put(column));
  const pointer = heap.allocate(ARBORESCENCE_BYTES);
  putWords(heap, pointer, [nodeCount, root, arcSource.length, ...pointers]);
  return pointer;
}

/** Allocates struct BanyanLogs and its arrays; `collect` copies the kernel's answer into `logs`. */
function putLogs(heap: WasmHeap, logs: SpreadLogs, maxSlots: number, summary: Float64Array) {
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

/** Returns the kernels of a compiled module. Compiling is the caller's: browsers allow it only off the main path. */
export function wasmKernels(module: WebAssembly.Module): Kernels {
  let exports: WasmExports | undefined;
  let flag: CancelFlag | undefined;

  const instantiate = (): WasmExports => {
    const instance = new WebAssembly.Instance(module, {
      banyan: { cancelled: () => (flag === undefined ? 0 : Atomics.load(flag, 0)) },
      env: { emscripten_notify_memory_growth: () => {} },
      wasi_snapshot_preview1: {
        proc_exit: (code: number) => {
          throw new WebAssembly.RuntimeError(`exit ${code}`);
        },
      },
    });
    const fresh = instance.exports as unknown as WasmExports;
    fresh._initialize?.();
    return fresh;
  };

  /** Runs one kernel call; the instance does not outlive an error, nor a call that made it big. */
  const call = (work: (raw: WasmExports, heap: WasmHeap) => number): number => {
    const raw = exports ?? instantiate();
    const heap = new WasmHeap(raw);
    exports = undefined;
    try {
      const status = work(raw, heap);
      heap.freeAll();
      if (raw.memory.buffer.byteLength <= KEEP_BYTES) exports = raw;
      return status;
    } catch (error) {
      if (error instanceof WebAssembly.RuntimeError) {
        throw new InternalError(`the WebAssembly kernel stopped: ${error.message}`);
      }
      throw error;
    } finally {
      flag = undefined;
    }
  };

  /** The same for a kernel that writes transfers. */
  const callFor = (outputs: Outputs, work: (raw: WasmExports, heap: WasmHeap, out: number) => number): number =>
    call((raw, heap) => {
      const out = putOutputs(heap, outputs);
      const status = work(raw, heap, out.pointer);
      out.collect();
      return status;
    });

  const cancelArguments = (raw: WasmExports, cancel: CancelFlag | undefined): [number, number] => {
    flag = cancel;
    return [cancel === undefined ? 0 : raw.banyan_cancel_callback(), 0];
  };

  return {
    backend: "wasm",
    match(problem, cancel) {
      checkMatchShapes(problem);
      const { network, chunkCount, heldOffset, heldChunk, wanted, policy } = problem;
      const outputs = allocateDeliveries(problem);
      const status = callFor(outputs, (raw, heap, out) =>
        raw.banyan_match(
          putNetwork(heap, network),
          chunkCount,
          heldChunk.length,
          heap.put(heldOffset),
          heap.put(heldChunk),
          heap.put(wanted),
          putPolicy(heap, policy),
          mapCountOf(problem.maps, network.npuCount),
          heap.put(problem.maps),
          ...cancelArguments(raw, cancel),
          out,
        ),
      );
      const transfers = collect(status, outputs);
      if (transfers === null) throw new InternalError("the matching kernel wrote more deliveries than are wanted");
      return transfers;
    },
    spread(problem, cancel) {
      checkSpreadShapes(problem);
      const logs = allocateLogs(problem);
      const summary = new Float64Array(3);
      const status = call((raw, heap) => {
        const out = putLogs(heap, logs, problem.maxSlots, summary);
        const result = raw.banyan_spread(putSpread(heap, problem), ...cancelArguments(raw, cancel), out.pointer);
        out.collect();
        return result;
      });
      throwForStatus(status, summary[1], summary[2]);
      return status === STATUS.outputTooSmall ? null : logs;
    },
    relay(problem, cancel) {
      checkRelayShapes(problem);
      const { network, chunkSource, chunkTarget, distancePs, order, seed } = problem;
      const outputs = allocateOutputs(problem.maxTransfers);
      const status = callFor(outputs, (raw, heap, out) =>
        raw.banyan_relay(
          putNetwork(heap, network),
          chunkSource.length,
          heap.put(chunkSource),
          heap.put(chunkTarget),
          heap.put(distancePs),
          heap.put(order),
          seed,
          ...cancelArguments(raw, cancel),
          out,
        ),
      );
      return collect(status, outputs);
    },
    place(problem, cancel) {
      checkPlaceShapes(problem);
      const { network, route, successorOffset, successor, key } = problem;
      const startPs = allocateStarts(problem);
      const status = call((raw, heap) => {
        const out = heap.allocate(startPs.byteLength);
        const result = raw.banyan_place(
          putNetwork(heap, network),
          route.length,
          successor.length,
          heap.put(route),
          heap.put(successorOffset),
          heap.put(successor),
          heap.put(key),
          ...cancelArguments(raw, cancel),
          out,
        );
        heap.take(startPs, out);
        return result;
      });
      throwForStatus(status, 0, 0);
      return startPs;
    },
    rate(problem, cancel) {
      checkRateShapes(problem);
      const cut = allocateCut(problem);
      const status = call((raw, heap) => {
        const out = heap.allocate(cut.byteLength);
        const result = raw.banyan_rate(putRate(heap, problem), ...cancelArguments(raw, cancel), out);
        heap.take(cut, out);
        return result;
      });
      throwForStatus(status, 0, 0);
      return rateOfCut(problem, cut);
    },
    pack(problem, cancel) {
      checkPackShapes(problem);
      const out = allocateTrees(problem);
      const status = call((raw, heap) => {
        const room = putTrees(heap, problem.npuCount, out);
        const result = raw.banyan_pack(putPack(heap, problem), ...cancelArguments(raw, cancel), room.pointer);
        if (result === STATUS.ok) room.collect();
        return result;
      });
      return packOutcomeOf(status, problem, out);
    },
    sweep(problem, cancel) {
      checkSweepShapes(problem);
      const flow = allocateFlows(problem);
      const status = call((raw, heap) => {
        const out = heap.allocate(flow.byteLength);
        const result = raw.banyan_sweep(putSweep(heap, problem), ...cancelArguments(raw, cancel), out);
        heap.take(flow, out);
        return result;
      });
      throwForStatus(status, 0, 0);
      return flow;
    },
    arborescence(problem, cancel) {
      checkArborescenceShapes(problem);
      const arc = allocateArcs(problem);
      const status = call((raw, heap) => {
        const out = heap.allocate(arc.byteLength);
        const result = raw.banyan_arborescence(putArborescence(heap, problem), ...cancelArguments(raw, cancel), out);
        heap.take(arc, out);
        return result;
      });
      throwForArcs(status, problem, arc);
      return arc;
    },
  };
}
