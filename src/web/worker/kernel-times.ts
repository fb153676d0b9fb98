import { InputError } from "../../base/errors.ts";
import { turn } from "../../base/stopping.ts";
import type { Kernels } from "../../engine/contract/kernels.ts";
import { loadKernels } from "../../engine/kernels/load.browser.ts";
import { collectiveName } from "../../model/collective/collective.ts";
import { KERNEL_CASES, type KernelCase, kernelProblem } from "../../run/kernel-problems.ts";
import type { KernelTimes } from "../protocol.ts";
import type { Tools } from "./request-context.ts";

/** Calls that are not timed go on for so long: browsers compile while code runs. */
const WARM_UP_MS = 100;
/** A run has so many calls that it takes so long: some browsers tell the time to a millisecond. */
const RUN_MS = 10;
/** Runs are begun for so long, and a few in any case. */
const RUNS_MS = 300;
const FEWEST_RUNS = 3;

type Call = () => unknown;

/** Whether two answers are the same, bit for bit. O(their size). */
export function sameBits(a: unknown, b: unknown): boolean {
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return Object.is(a, b);
  if (Object.getPrototypeOf(a) !== Object.getPrototypeOf(b)) return false;
  if (ArrayBuffer.isView(a) && ArrayBuffer.isView(b)) {
    const [left, right] = [a, b].map(
      ({ buffer, byteOffset, byteLength }) => new Uint8Array(buffer, byteOffset, byteLength),
    );
    return left.length === right.length && left.every((byte, i) => byte === right[i]);
  }
  const names = Object.keys(a);
  return (
    names.length === Object.keys(b).length &&
    names.every((name) => Object.hasOwn(b, name) && sameBits(a[name as keyof object], b[name as keyof object]))
  );
}

/** Returns the milliseconds of a call: the median of a few runs after a warm-up. Throws CancelledError. */
async function medianMs(call: Call, signal: AbortSignal): Promise<number> {
  const begun = performance.now();
  let calls = 0;
  do {
    call();
    calls++;
  } while (performance.now() - begun < WARM_UP_MS);
  const callsOfRun = Math.ceil((RUN_MS * calls) / (performance.now() - begun));
  const runs: number[] = [];
  const until = performance.now() + RUNS_MS;
  while (runs.length < FEWEST_RUNS || performance.now() < until) {
    await turn(signal);
    const start = performance.now();
    for (let i = 0; i < callsOfRun; i++) call();
    runs.push((performance.now() - start) / callsOfRun);
  }
  return runs.sort((a, b) => a - b)[runs.length >> 1];
}

/** Measures one kernel; its answers are compared before. */
async function timesOf(
  trial: KernelCase,
  js: Kernels,
  { engine, signal }: Tools,
): Promise<Pick<KernelTimes, "wasmMs" | "js">> {
  const problem = await kernelProblem(engine, trial, signal);
  const callOf =
    (kernels: Kernels): Call =>
    () =>
      (kernels[trial.kernel] as (problem: object) => unknown)(problem);
  const calls = [callOf(engine.kernels), callOf(js)] as const;
  if (trial.without === "js") return { wasmMs: await medianMs(calls[0], signal), js: null };
  const answer = calls[0]();
  await turn(signal);
  const isSame = sameBits(answer, calls[1]());
  return { wasmMs: await medianMs(calls[0], signal), js: { ms: await medianMs(calls[1], signal), isSame } };
}

/**
 * Answers "kernels": each on the engine's kernels, which are WebAssembly's here, and on JavaScript's; a second or two each.
 * Throws InputError where WebAssembly did not load.
 */
export async function kernelTimes(tools: Tools, cases = KERNEL_CASES): Promise<readonly KernelTimes[]> {
  const { engine, signal, progress, partial } = tools;
  if (engine.backend === "js")
    throw new InputError("the browser", "one that loads WebAssembly", engine.reason).saying(
      `WebAssembly did not load (${engine.reason}), so there is nothing to set beside JavaScript`,
    );
  const { kernels: js } = await loadKernels("js");
  const rows: KernelTimes[] = cases.map(({ kernel, network, collective }) => ({
    ...{ kernel, network, collective: collectiveName(collective) },
    ...{ wasmMs: null, js: null },
  }));
  for (const [i, trial] of cases.entries()) {
    partial([...rows]);
    progress({ what: `measuring ${trial.kernel}`, done: i, total: cases.length, unit: "kernels" });
    await turn(signal);
    rows[i] = { ...rows[i], ...(await timesOf(trial, js, tools)) };
  }
  return rows;
}
