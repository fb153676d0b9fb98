import type { Kernels } from "../../engine/contract/kernels.ts";
import { wasmKernels } from "../../engine/kernels/wasm.ts";
import { buffersOf, replyTo, type WorkerRequest, type Works } from "../../engine/pool/request.ts";
import type { WebWorkerMessage, WebWorkerSetup } from "../../engine/pool/web-thread.ts";

/** A Web Worker of src/engine/pool/web-worker.ts: it gets its backend first, then works on one request at a time. */

const works = async (): Promise<Works> => (await import("./works.ts")).WORKS;
let kernels: Kernels | undefined;

const say = (message: WebWorkerMessage, transfer: ArrayBuffer[] = []): void => postMessage(message, { transfer });

async function kernelsOf({ module }: WebWorkerSetup): Promise<Kernels> {
  if (module !== undefined) return wasmKernels(module);
  const { jsKernels } = await import("../../engine/kernels/js/kernels.ts");
  return jsKernels;
}

async function work(request: WorkerRequest, having: Kernels): Promise<void> {
  try {
    const reply = await replyTo(request, having, works);
    say(reply, buffersOf(reply));
  } catch (error) {
    say({ error });
  }
}

async function start(setup: WebWorkerSetup): Promise<void> {
  kernels = await kernelsOf(setup);
  say("ready");
}

addEventListener("message", ({ data }: MessageEvent<WebWorkerSetup | WorkerRequest>) => {
  // What is reported is heard by the pool as this worker's death.
  if ("backend" in data) start(data).catch(reportError);
  else if (kernels !== undefined) work(data, kernels).catch(reportError);
});
