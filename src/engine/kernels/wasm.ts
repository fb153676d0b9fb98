import { InternalError } from "../../base/errors.ts";
import { type CancelFlag, type Kernels, mapCountOf } from "../contract/kernels.ts";
import {
  checkArborescenceShapes,
  checkBalanceShapes,
  checkConcurrentShapes,
  checkMatchShapes,
  checkPackShapes,
  checkPlaceShapes,
  checkRateShapes,
  checkRelayShapes,
  checkSpreadShapes,
  checkSweepShapes,
} from "./check.ts";
import { checkReplayShapes } from "./check-replay.ts";
import {
  allocateArcs,
  allocateBalance,
  allocateConcurrent,
  allocateCut,
  allocateDeliveries,
  allocateFlows,
  allocateLogs,
  allocateOutputs,
  allocateStarts,
  allocateTrees,
  balanceOf,
  collect,
  concurrentOf,
  type Outputs,
  packOutcomeOf,
  rateOfCut,
  throwForArcs,
} from "./outputs.ts";
import { allocateReplay, replayOutcomeOf } from "./replay-columns.ts";
import { STATUS, throwForStatus } from "./status.ts";
import { type WasmExports, WasmHeap } from "./wasm-memory.ts";
import {
  putArborescence,
  putBalance,
  putBalanceColumns,
  putConcurrent,
  putConcurrentColumns,
  putLogs,
  putNetwork,
  putOutputs,
  putPack,
  putPolicy,
  putRate,
  putReplay,
  putReplayColumns,
  putSpread,
  putSweep,
  putTrees,
} from "./wasm-structs.ts";

/**
 * The kernels as WebAssembly, in Node, workers and browsers. Problems are copied into the module's memory, laid out as
 * the structs of native/abi.h (wasm/entry.cpp asserts the offsets), and results out of it.
 */

/** An instance whose memory has grown beyond this is dropped after the call: WebAssembly memory never shrinks. */
const KEEP_BYTES = 64 * 2 ** 20;

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
    const raw = instance.exports as unknown as WasmExports;
    raw._initialize?.();
    return raw;
  };

  /** Returns a new instance; throws as for a kernel out of memory where there is no room for one. */
  const fresh = (): WasmExports => {
    try {
      return instantiate();
    } catch (error) {
      if (error instanceof RangeError) throwForStatus(STATUS.outOfMemory, 0, 0);
      throw error;
    }
  };

  /** Runs one kernel call; the instance does not outlive an error of ours, nor a call that made it big. */
  const call = (work: (raw: WasmExports, heap: WasmHeap) => number): number => {
    const raw = exports ?? fresh();
    const heap = new WasmHeap(raw);
    exports = undefined;
    try {
      const status = work(raw, heap);
      heap.freeAll();
      const failed = status === STATUS.outOfMemory || status === STATUS.badArgument;
      if (!failed && raw.memory.buffer.byteLength <= KEEP_BYTES) exports = raw;
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
    module,
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
    concurrent(problem, cancel) {
      checkConcurrentShapes(problem);
      const out = allocateConcurrent(problem);
      const status = call((raw, heap) => {
        const room = putConcurrentColumns(heap, problem, out);
        const result = raw.banyan_concurrent(
          putConcurrent(heap, problem),
          ...cancelArguments(raw, cancel),
          room.pointer,
        );
        room.collect();
        return result;
      });
      return concurrentOf(status, out);
    },
    balance(problem, cancel) {
      checkBalanceShapes(problem);
      const out = allocateBalance(problem);
      const status = call((raw, heap) => {
        const room = putBalanceColumns(heap, out);
        const result = raw.banyan_balance(putBalance(heap, problem), ...cancelArguments(raw, cancel), room.pointer);
        room.collect(result);
        return result;
      });
      return balanceOf(status, out);
    },
    replay(problem, cancel) {
      checkReplayShapes(problem);
      const out = allocateReplay(problem);
      const status = call((raw, heap) => {
        const room = putReplayColumns(heap, problem, out);
        const result = raw.banyan_replay(putReplay(heap, problem), ...cancelArguments(raw, cancel), room.pointer);
        room.collect(result);
        return result;
      });
      return replayOutcomeOf(status, out);
    },
  };
}
