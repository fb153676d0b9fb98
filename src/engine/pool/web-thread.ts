import { InternalError } from "../../base/errors.ts";
import type { Backend, Kernels } from "../contract/kernels.ts";
import type { WorkerReply, WorkerRequest } from "./request.ts";

/** To a worker, first of all: what it works with. The compiled code is handed over, not fetched again. */
export interface WebWorkerSetup {
  readonly backend: Backend;
  readonly module: WebAssembly.Module | undefined;
}

/** From a worker: once that it can work, then an answer to each request. `error` is one that is not ours. */
export type WebWorkerMessage = "ready" | WorkerReply | { readonly error: unknown };

/** A Web Worker that has one request at a time. */
export interface WebThread {
  onReady: () => void;
  onReply: (reply: Exclude<WebWorkerMessage, "ready">) => void;
  /** Told why, as far as the browser says. */
  onDeath: (reason: string) => void;
  /** Throws where the request cannot be copied. */
  send(request: WorkerRequest): void;
  end(): void;
}

/** A thread that ended in the middle of its work. */
export class ThreadLost extends InternalError {
  constructor(reason: string) {
    super(reason);
    this.message = `a worker thread ended in the middle of its work, perhaps for want of memory${reason && `: ${reason}`}`;
  }
}

/** Returns a worker that knows what it works with. */
export function webThread(worker: Worker, { backend, module }: Kernels): WebThread {
  const thread: WebThread = {
    onReady: () => {},
    onReply: () => {},
    onDeath: () => {},
    send: (request) => worker.postMessage(request),
    end: () => worker.terminate(),
  };
  worker.onmessage = ({ data }: MessageEvent<WebWorkerMessage>) => {
    if (data === "ready") thread.onReady();
    else thread.onReply(data);
  };
  worker.onmessageerror = () => thread.onDeath("its answer could not be read");
  worker.onerror = (event) => {
    // Whoever waits for the task hears of it; the page's console need not have it too.
    event.preventDefault();
    thread.onDeath(event.message ?? "");
  };
  worker.postMessage({ backend, module } satisfies WebWorkerSetup);
  return thread;
}
