import { signal } from "@preact/signals";
import type { Progress } from "../../words/options.ts";
import type { Answer, Ask, Failure, Message, Order, RequestName } from "../protocol.ts";
import { startMaker } from "./start-maker.ts";

/** The page's side of the worker: requests as promises, cancelled for certain, and a new worker after one that ended. */

/** A worker that does not listen for so long after it was asked to stop is ended. */
const GRACE_MS = 500;

export interface AskOptions<Name extends RequestName> {
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: Progress) => void;
  readonly onPartial?: (answer: Answer<Name>) => void;
}

/** A request failed; `failure` says why, and where. */
export class RequestError extends Error {
  readonly failure: Failure;

  constructor(failure: Failure) {
    super(failure.message);
    this.name = "RequestError";
    this.failure = failure;
  }
}

interface Pending {
  readonly settle: (answer: Answer<RequestName>) => void;
  readonly fail: (failure: Failure) => void;
  readonly options: AskOptions<RequestName>;
}

/** How many workers were started; above 1 some ended before their time. */
export const workersStarted = signal(0);

let worker: Promise<Worker> | null = null;
let nextId = 1;
const pending = new Map<number, Pending>();

const CANCELLED: Failure = { kind: "cancelled", place: null, message: "cancelled" };
const GONE: Failure = {
  kind: "memory",
  place: null,
  message:
    "the worker ended without an answer, as it does when the browser has no more memory for it; a new one has taken its place",
};

async function start(): Promise<Worker> {
  workersStarted.value++;
  const fresh = await startMaker();
  fresh.onmessage = ({ data }: MessageEvent<Message>) => hear(data);
  fresh.onerror = (event) => {
    event.preventDefault();
    end({ ...GONE, kind: "internal", message: `the worker failed: ${event.message || "it could not be started"}` });
  };
  return fresh;
}

/** Ends the worker and fails what it was asked. */
function end(failure: Failure): void {
  void worker?.then((ended) => ended.terminate());
  worker = null;
  const failed = [...pending.values()];
  pending.clear();
  for (const { fail } of failed) fail(failure);
}

function hear(message: Message): void {
  const waiting = pending.get(message.id);
  if (waiting === undefined) return;
  if (message.kind === "progress") waiting.options.onProgress?.(message.progress);
  else if (message.kind === "partial") waiting.options.onPartial?.(message.answer as never);
  else {
    pending.delete(message.id);
    if (message.kind === "answer") waiting.settle(message.answer);
    else lose(waiting, message.failure);
  }
}

/** Fails a request, and ends a worker of which nobody knows what state it is in; its memory never shrinks. */
function lose(waiting: Pending, failure: Failure): void {
  waiting.fail(failure);
  if (failure.kind === "memory" || failure.kind === "internal") end(GONE);
}

/** Asks the worker. Rejects with RequestError. */
export function ask<Name extends RequestName>(
  name: Name,
  given: Ask<Name>,
  options: AskOptions<Name> = {},
): Promise<Answer<Name>> {
  const { signal: aborted } = options;
  return new Promise((resolve, reject) => {
    if (aborted?.aborted) return reject(new RequestError(CANCELLED));
    const id = nextId++;
    let grace: ReturnType<typeof setTimeout> | undefined;
    const send = async (order: Order): Promise<void> => {
      worker ??= start();
      try {
        (await worker).postMessage(order);
      } catch (error) {
        end({ ...GONE, kind: "internal", message: `the worker could not be started: ${(error as Error).message}` });
      }
    };
    const stop = (): void => {
      void send({ kind: "cancel", id });
      grace = setTimeout(() => end(CANCELLED), GRACE_MS);
    };
    const settled = (): void => {
      clearTimeout(grace);
      aborted?.removeEventListener("abort", stop);
    };
    pending.set(id, {
      settle: (answer) => {
        settled();
        resolve(answer as Answer<Name>);
      },
      fail: (failure) => {
        settled();
        reject(new RequestError(aborted?.aborted ? CANCELLED : failure));
      },
      options: options as AskOptions<RequestName>,
    });
    aborted?.addEventListener("abort", stop, { once: true });
    void send({ kind: "ask", id, name, ask: given });
  });
}
