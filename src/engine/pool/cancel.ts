import type { CancelFlag } from "../contract/kernels.ts";

/** Returns a flag, with room for progress, that other threads see; over ordinary memory where there is no shared one. */
export function newCancelFlag(): CancelFlag {
  return typeof SharedArrayBuffer === "undefined" ? new Int32Array(2) : new Int32Array(new SharedArrayBuffer(8));
}

/** Asks every kernel call that was given this flag to stop. */
export function cancel(flag: CancelFlag): void {
  Atomics.store(flag, 0, 1);
}

/** Returns a flag that is set when the signal aborts, and what takes the listener away again. */
export function cancelOn(signal: AbortSignal | undefined): { readonly flag: CancelFlag; readonly dispose: () => void } {
  const flag = newCancelFlag();
  const set = (): void => cancel(flag);
  if (signal?.aborted) set();
  signal?.addEventListener("abort", set, { once: true });
  return { flag, dispose: () => signal?.removeEventListener("abort", set) };
}
