import { Worker } from "node:worker_threads";
import fc from "fast-check";
import { type Random, random } from "../../src/base/random.ts";
import type { Kernels } from "../../src/engine/contract/kernels.ts";
import { type Addon, nativeKernels } from "../../src/engine/kernels/load.ts";
import { arborescenceProblems } from "./arborescence-problems.ts";
import { balanceProblems } from "./balance-problems.ts";
import { concurrentProblems } from "./concurrent-problems.ts";
import { foldedProblems, mapColumns } from "./folded-problems.ts";
import { hostile, isColumn, type Memories } from "./hostile-arguments.ts";
import { matchProblems, relayProblems, type Sharing } from "./networks.ts";
import { packProblems } from "./pack-problems.ts";
import { partitionProblems } from "./partition-problems.ts";
import { periodProblems } from "./period-problems.ts";
import { placeProblems } from "./place-problems.ts";
import { rateProblems } from "./rate-problems.ts";
import { replayProblems } from "./replay-problems.ts";
import { spreadOf } from "./spread-problems.ts";
import { sweepProblems } from "./sweep-problems.ts";

/** A call of the add-on as src/engine/kernels/load.ts makes it; `cancelAt` is the place of its cancel flag. */
export interface AddonCall {
  readonly name: keyof Addon;
  readonly args: readonly unknown[];
  readonly cancelAt: number;
}

/** What became of the calls of one function. */
export interface AddonRow {
  calls: number;
  done: number;
  otherStatus: number;
  refused: number;
  slowestMs: number;
}

/** A call that gave neither a status nor a TypeError or RangeError, or after which a good one gave another answer. */
export interface AddonFault {
  readonly call: number;
  readonly what: string;
}

const SHARINGS: readonly Sharing[] = ["none", "ports", "mixed", "arbitrary"];
const MOST_STATUS = 6;
/** A call that lasts longer is told to stop by its flag. */
const MOST_MS = 100;
/** Numbers in calls whose flag cannot be set are no greater, lest they never end. */
const MOST_UNWATCHED = 10_000;
const CHECK_EVERY = 256;

/** Returns the calls that the native backend makes for random problems of every kind, so many of each. */
export function goodCalls(count: number, seed: number): AddonCall[] {
  const calls: AddonCall[] = [];
  const flag = new Int32Array(2);
  const recorded = new Proxy({} as Addon, {
    get:
      (_, name) =>
      (...args: unknown[]) => {
        calls.push({ name: name as keyof Addon, args, cancelAt: args.indexOf(flag) });
        return 1;
      },
  });
  const kernels = nativeKernels(recorded);
  const record = (run: (kernels: Kernels) => unknown): void => {
    try {
      run(kernels);
    } catch {
      // The status 1 that was returned.
    }
  };
  const draw = <T>(problems: fc.Arbitrary<T>): T[] => fc.sample(problems, { numRuns: count, seed });
  for (const problem of draw(matchProblems(SHARINGS))) record((k) => k.match(problem, flag));
  for (const problem of draw(matchProblems(["none"]))) record((k) => k.spread(spreadOf(problem, 60, 3), flag));
  for (const { problem, maps } of draw(foldedProblems)) {
    const columns = mapColumns(maps);
    record((k) => k.match({ ...problem, maps: columns }, flag));
    record((k) => k.spread({ ...spreadOf(problem, 60, 2), maps: columns }, flag));
  }
  for (const problem of draw(relayProblems(SHARINGS))) record((k) => k.relay(problem, flag));
  for (const problem of draw(placeProblems(SHARINGS, 30))) record((k) => k.place(problem, flag));
  for (const problem of draw(rateProblems)) record((k) => k.rate(problem, flag));
  for (const problem of draw(sweepProblems())) record((k) => k.sweep(problem, flag));
  for (const problem of draw(partitionProblems)) record((k) => k.partition(problem, flag));
  for (const problem of draw(packProblems())) record((k) => k.pack(problem, flag));
  for (const problem of draw(arborescenceProblems())) record((k) => k.arborescence(problem, flag));
  for (const problem of draw(periodProblems())) record((k) => k.period(problem, flag));
  for (const problem of draw(concurrentProblems(6, 0.01))) record((k) => k.concurrent(problem, flag));
  for (const problem of draw(balanceProblems({ mostNodes: 7, density: 2 }))) record((k) => k.balance(problem, flag));
  for (const problem of draw(replayProblems([0, 1, 2], 30))) record((k) => k.replay(problem, flag));
  return calls;
}

// Ends calls that last long, and all the while writes anything to the memory that hostile arguments share with it.
const OTHER_THREAD = `
const { workerData: { control, shared } } = require("node:worker_threads");
const words = new Int32Array(shared);
let [call, since, state] = [-1, 0, 1];
while (Atomics.load(control, 3) === 0) {
  for (let i = 0; i < 200; i++) {
    state = (Math.imul(state, 1664525) + 1013904223) | 0;
    words[(state >>> 8) % words.length] = i % 3 === 0 ? state : (state >>> 16) % 9;
  }
  const now = Date.now();
  if (Atomics.load(control, 2) !== call) [call, since] = [Atomics.load(control, 2), now];
  else if (now - since > ${MOST_MS}) Atomics.store(control, 0, 1);
  Atomics.wait(control, 3, 0, 1);
}`;

const copyOf = (args: readonly unknown[]): unknown[] => args.map((arg) => (isColumn(arg) ? arg.slice() : arg));

/** Returns all that a call made of its arguments. */
function answerOf(addon: Addon, { name, args, cancelAt }: AddonCall): string {
  const own = copyOf(args).with(cancelAt, null);
  const status = addon[name](...own);
  return JSON.stringify([status, own.map((arg) => (isColumn(arg) ? Array.from(arg, String) : arg))]);
}

/**
 * Calls every function of the add-on with hostile arguments: call n is the same for a seed whatever came before. Returns what
 * became of them, by function, and what should not have; a crash takes the process with it, so `begin` is told of every call.
 */
export function fuzzAddon(
  addon: Addon,
  { count, seed, from = 0 }: { readonly count: number; readonly seed: number; readonly from?: number },
  begin: (call: number) => void = () => {},
): { readonly rows: Map<string, AddonRow>; readonly faults: AddonFault[] } {
  const good = goodCalls(12, seed);
  const answers = good.map((call) => answerOf(addon, call));
  const control = new Int32Array(new SharedArrayBuffer(16));
  const flag = new Int32Array(control.buffer, 0, 2);
  const memories: Memories = { shared: new SharedArrayBuffer(1 << 16), wasm: new WebAssembly.Memory({ initial: 1 }) };
  const other = new Worker(OTHER_THREAD, { eval: true, workerData: { control, shared: memories.shared } });
  const rows = new Map<string, AddonRow>();
  const faults: AddonFault[] = [];
  for (let call = from; call < from + count; call++) {
    begin(call);
    const draws = random(seed, call);
    const chosen = good[draws.below(good.length)] as AddonCall;
    const row = rows.get(chosen.name) ?? { calls: 0, done: 0, otherStatus: 0, refused: 0, slowestMs: 0 };
    rows.set(chosen.name, row);
    const args = hostileArguments(chosen, flag, draws, memories);
    Atomics.store(control, 0, 0);
    Atomics.add(control, 2, 1);
    const start = performance.now();
    const outcome = outcomeOf(() => addon[chosen.name](...args));
    row.slowestMs = Math.max(row.slowestMs, performance.now() - start);
    row.calls++;
    if (outcome === 0) row.done++;
    else if (typeof outcome === "number") row.otherStatus++;
    else if (outcome === "refused") row.refused++;
    else faults.push({ call, what: `${chosen.name}: ${outcome}` });
    if (call % CHECK_EVERY !== 0) continue;
    const checked = draws.below(good.length);
    if (answerOf(addon, good[checked] as AddonCall) !== answers[checked])
      faults.push({ call, what: `${(good[checked] as AddonCall).name} gives another answer afterwards` });
  }
  Atomics.store(control, 3, 1);
  Atomics.notify(control, 3);
  void other.terminate();
  return { rows, faults };
}

/** Returns a status, "refused" for the two errors that a call may throw, or what else came. */
function outcomeOf(run: () => unknown): number | string {
  try {
    const status = run();
    return Number.isInteger(status) && (status as number) >= 0 && (status as number) <= MOST_STATUS
      ? (status as number)
      : `returned ${String(status)}`;
  } catch (error) {
    return error instanceof TypeError || error instanceof RangeError ? "refused" : `threw ${String(error)}`;
  }
}

function hostileArguments(
  { args, cancelAt }: AddonCall,
  flag: Int32Array,
  draws: Random,
  memories: Memories,
): unknown[] {
  const own = hostile(copyOf(args).with(cancelAt, flag), draws, memories);
  if (own.includes(flag)) return own;
  return own.map((arg) => (typeof arg === "number" && arg > MOST_UNWATCHED ? MOST_UNWATCHED : arg));
}
