import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { InternalError } from "../../base/errors.ts";
import { REPLAY_MODE, REPLAY_WANTS } from "../../model/replay/problem.ts";
import { type Backend, type CancelFlag, type Kernels, mapCountOf, type TenNetwork } from "../contract/kernels.ts";
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
import { type Candidate, chooseKernels, type LoadedKernels, parseBackend } from "./choose.ts";
import { jsKernels } from "./js/kernels.ts";
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
import { wasmKernels } from "./wasm.ts";

// The same depth below the package's root in src/ and in dist/.
const ADDON = new URL("../../../native/build/Release/banyan.node", import.meta.url);
const MODULE = new URL("../../../wasm/build/banyan.wasm", import.meta.url);

type Environment = Readonly<Record<string, string | undefined>>;

/** BANYAN_ADDON names another build of the add-on, for example one with sanitizers. */
function loadNative(env: Environment): Kernels {
  const file = env["BANYAN_ADDON"] ?? fileURLToPath(ADDON);
  if (!existsSync(file)) throw new Error("the native add-on is not built");
  try {
    return nativeKernels(createRequire(import.meta.url)(file) as Addon);
  } catch (error) {
    throw new Error(`the native add-on does not load: ${error instanceof Error ? error.message : error}`);
  }
}

async function loadWasm(): Promise<Kernels> {
  const file = fileURLToPath(MODULE);
  if (!existsSync(file)) throw new Error("the WebAssembly module is not built");
  try {
    return wasmKernels(await WebAssembly.compile(await readFile(file)));
  } catch (error) {
    throw new Error(`the WebAssembly module does not load: ${error instanceof Error ? error.message : error}`);
  }
}

/** Returns every backend of this platform, the fastest first. */
export function candidates(env: Environment = process.env): readonly Candidate[] {
  return [
    { backend: "native", load: async () => loadNative(env), remedy: "build it with `npm run build:native`" },
    { backend: "wasm", load: loadWasm, remedy: "build it with `npm run build:wasm`" },
    { backend: "js", load: async () => jsKernels, remedy: "it is always there" },
  ];
}

/**
 * Returns the kernels of the first backend that loads: native, wasm, js. `wanted` or else BANYAN_BACKEND forces one and
 * throws an InputError when it is unknown or cannot be had.
 */
export async function loadKernels(wanted?: Backend, env: Environment = process.env): Promise<LoadedKernels> {
  const [text, place] = wanted === undefined ? [env["BANYAN_BACKEND"], "BANYAN_BACKEND"] : [wanted, "--backend"];
  const choice = text === undefined || text === "" ? undefined : { backend: parseBackend(text, place), place };
  return chooseKernels(candidates(env), choice);
}

/** What native/node/addon.cpp exports: flat arguments in the order of the C ABI, the status back. */
export interface Addon {
  match(...args: unknown[]): number;
  spread(...args: unknown[]): number;
  relay(...args: unknown[]): number;
  place(...args: unknown[]): number;
  rate(...args: unknown[]): number;
  pack(...args: unknown[]): number;
  sweep(...args: unknown[]): number;
  arborescence(...args: unknown[]): number;
  balance(...args: unknown[]): number;
  concurrent(...args: unknown[]): number;
  replay(...args: unknown[]): number;
}

const networkArguments = (network: TenNetwork): unknown[] => [
  network.npuCount,
  network.routeSource,
  network.routeTarget,
  network.slotPs,
  network.useOffset,
  network.useResource,
  network.useUnits,
  network.capacity,
];

const outputArguments = (outputs: Outputs): unknown[] => [
  outputs.chunk,
  outputs.route,
  outputs.startPs,
  outputs.summary,
];

/** Returns the kernels of a loaded add-on. They read and write the caller's arrays in place, shared memory too. */
export function nativeKernels(addon: Addon): Kernels {
  return {
    backend: "native",
    match(problem, cancel?: CancelFlag) {
      checkMatchShapes(problem);
      const { network, chunkCount, heldOffset, heldChunk, wanted, policy } = problem;
      const outputs = allocateDeliveries(problem);
      const status = addon.match(
        ...networkArguments(network),
        chunkCount,
        heldOffset,
        heldChunk,
        wanted,
        policy.seed,
        policy.choice,
        policy.window,
        policy.lateLimit,
        policy.novelty,
        policy.overtaking,
        mapCountOf(problem.maps, network.npuCount),
        problem.maps,
        cancel ?? null,
        ...outputArguments(outputs),
      );
      const transfers = collect(status, outputs);
      if (transfers === null) throw new InternalError("the matching kernel wrote more deliveries than are wanted");
      return transfers;
    },
    spread(problem, cancel?: CancelFlag) {
      checkSpreadShapes(problem);
      const { policy, maxSlots } = problem;
      const logs = allocateLogs(problem);
      const summary = new Float64Array(3);
      const status = addon.spread(
        problem.npuCount,
        problem.chunkCount,
        problem.routeSource,
        problem.routeTarget,
        problem.heldOffset,
        problem.heldChunk,
        problem.wanted,
        policy.seed,
        policy.choice,
        policy.window,
        policy.lateLimit,
        problem.threads,
        cancel ?? null,
        maxSlots,
        logs.logOffset,
        logs.chunk,
        logs.portOffset,
        logs.ports,
        logs.slots,
        mapCountOf(problem.maps, problem.npuCount),
        problem.maps,
        summary,
      );
      throwForStatus(status, summary[1], summary[2]);
      return status === STATUS.outputTooSmall ? null : logs;
    },
    relay(problem, cancel?: CancelFlag) {
      checkRelayShapes(problem);
      const { network, chunkSource, chunkTarget, distancePs, order, seed } = problem;
      const outputs = allocateOutputs(problem.maxTransfers);
      const status = addon.relay(
        ...networkArguments(network),
        chunkSource,
        chunkTarget,
        distancePs,
        order,
        seed,
        cancel ?? null,
        ...outputArguments(outputs),
      );
      return collect(status, outputs);
    },
    place(problem, cancel?: CancelFlag) {
      checkPlaceShapes(problem);
      const { network, route, successorOffset, successor, key } = problem;
      const startPs = allocateStarts(problem);
      const columns = [route, successorOffset, successor, key];
      throwForStatus(addon.place(...networkArguments(network), ...columns, cancel ?? null, startPs), 0, 0);
      return startPs;
    },
    rate(problem, cancel?: CancelFlag) {
      checkRateShapes(problem);
      const { nodeCount, npuCount, linkSource, linkTarget, capacity, weight } = problem;
      const cut = allocateCut(problem);
      const status = addon.rate(nodeCount, npuCount, linkSource, linkTarget, capacity, weight, cancel ?? null, cut);
      throwForStatus(status, 0, 0);
      return rateOfCut(problem, cut);
    },
    pack(problem, cancel?: CancelFlag) {
      checkPackShapes(problem);
      const { nodeCount, npuCount, linkSource, linkTarget, capacity, copies } = problem;
      const { depthPrice, loadPrice, scheduled, seed, repairs, enoughHeight } = problem;
      const out = allocateTrees(problem);
      const status = addon.pack(
        ...[nodeCount, npuCount, linkSource, linkTarget, capacity, copies],
        ...[depthPrice, loadPrice, Number(scheduled), seed, repairs, enoughHeight],
        cancel ?? null,
        ...[out.root, out.copies, out.linkOffset, out.links, out.cut, out.summary],
      );
      return packOutcomeOf(status, problem, out);
    },
    sweep(problem, cancel?: CancelFlag) {
      checkSweepShapes(problem);
      const { nodeCount, linkSource, linkTarget, capacity, supply, sinks } = problem;
      const flow = allocateFlows(problem);
      const columns = [linkSource, linkTarget, capacity, supply, sinks];
      throwForStatus(addon.sweep(nodeCount, ...columns, cancel ?? null, flow), 0, 0);
      return flow;
    },
    arborescence(problem, cancel?: CancelFlag) {
      checkArborescenceShapes(problem);
      const { nodeCount, root, arcSource, arcTarget, cost } = problem;
      const arc = allocateArcs(problem);
      throwForArcs(addon.arborescence(nodeCount, root, arcSource, arcTarget, cost, cancel ?? null, arc), problem, arc);
      return arc;
    },
    concurrent(problem, cancel?: CancelFlag) {
      checkConcurrentShapes(problem);
      const out = allocateConcurrent(problem);
      const status = addon.concurrent(
        problem.nodeCount,
        problem.arcOffset,
        problem.arcTarget,
        problem.arcClass,
        problem.capacity,
        problem.sources,
        problem.sourceWeight,
        problem.demand,
        problem.terminals,
        Float64Array.of(problem.gap),
        problem.maxRounds,
        cancel ?? null,
        out.length,
        problem.wantsFlow === 1 ? out.flow : null,
        out.summary,
      );
      return concurrentOf(status, out);
    },
    balance(problem, cancel?: CancelFlag) {
      checkBalanceShapes(problem);
      const { nodeCount, inOffset, inSource, targets, parts, wantsShares, threads } = problem;
      const out = allocateBalance(problem);
      const status = addon.balance(
        ...[nodeCount, inOffset, inSource, targets, parts, wantsShares, threads],
        cancel ?? null,
        ...[out.loadNum, out.loadDen, out.worst, out.rowOffset],
        ...[out.step, out.port, out.source, out.from, out.to, out.summary],
      );
      return balanceOf(status, out);
    },
    replay(problem, cancel?: CancelFlag) {
      checkReplayShapes(problem);
      const { mode, wants, npuCount, linkCount, routeSource, routeTarget, linkOffset, links } = problem;
      const { firstChunk, reduces, serial, delay, cost, capacity, holders, setOffset, setMembers } = problem;
      const { chunk, route, plannedStart, plannedEnd } = problem;
      const out = allocateReplay(problem);
      const isCutThrough = mode === REPLAY_MODE.cutThrough;
      const timed = wants !== REPLAY_WANTS.nothing;
      const status = addon.replay(
        ...[mode, npuCount, linkCount, routeSource, routeTarget, linkOffset, links, firstChunk, reduces, serial, delay],
        ...(isCutThrough ? [cost, capacity] : [null, null]),
        ...[holders, setOffset, setMembers, chunk, route, plannedStart, plannedEnd],
        cancel ?? null,
        out.linkBusy,
        ...(timed ? [out.start, out.end] : [null, null]),
        wants === REPLAY_WANTS.hops ? out.hopStart : null,
        out.summary,
      );
      return replayOutcomeOf(status, out);
    },
  };
}
