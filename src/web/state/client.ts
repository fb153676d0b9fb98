import { signal } from "@preact/signals";
import type { Progress } from "../../request/progress.ts";
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

/** Returns what to say of an error: of a request, or of the page's own. */
export const failureOf = (error: unknown): Failure =>
  error instanceof RequestError
    ? error.failure
    : { kind: "internal", place: null, message: error instanceof Error ? error.message : String(error) };

interface Pending {
  readonly order: Extract<Order, { readonly kind: "ask" }>;
  readonly settle: (answer: Answer<RequestName>) => void;
  readonly fail: (failure: Failure) => void;
  readonly options: AskOptions<RequestName>;
  /** The worker works on it, or may. */
  isBegun: boolean;
  /** Nobody waits for it any more. */
  isGivenUp: boolean;
}

/** How many workers were started; above 1 some ended before their time. */
export const workersStarted = signal(0);

let worker: Promise<Worker> | null = null;
let nextId = 1;
/** In the order in which they were asked. */
const pending = new Map<number, Pending>();

const CANCELLED: Failure = { kind: "cancelled", place: null, message: "cancelled" };
const GONE: Failure = {
  kind: "memory",
  place: null,
  message:
    "the worker ended without an answer, as it does when the browser has no more memory for it; a new one has taken its place",
};

/** Starts a worker; one that another has taken the place of is not heard any more. */
function start(): Promise<Worker> {
  workersStarted.value++;
  const own = startMaker().then((fresh) => {
    fresh.onmessage = ({ data }: MessageEvent<Message>) => {
      if (worker === own) hear(data);
    };
    fresh.onerror = (event) => {
      event.preventDefault();
      if (worker === own) fell(`the worker failed: ${event.message || "it could not be started"}`);
    };
    return fresh;
  });
  return own;
}

async function send(order: Order): Promise<void> {
  worker ??= start();
  const own = worker;
  try {
    (await own).postMessage(order);
  } catch (error) {
    if (worker === own) fell(`the worker could not be started: ${(error as Error).message}`);
  }
}

function end(): void {
  worker?.then(
    (ended) => ended.terminate(),
    () => undefined,
  );
  worker = null;
}

/** Fails all that the worker was asked: nobody knows which of it was too much. */
function fell(message: string): void {
  end();
  const failed = [...pending.values()];
  pending.clear();
  for (const { fail } of failed) fail({ ...GONE, kind: "internal", message });
}

/** Ends the worker and asks a new one what is still waited for: requests say all that is needed. */
function replace(): void {
  end();
  for (const [id, waiting] of pending) {
    waiting.isBegun = false;
    if (waiting.isGivenUp) pending.delete(id);
    else void send(waiting.order);
  }
}

function hear(message: Message): void {
  const waiting = pending.get(message.id);
  if (waiting === undefined) return;
  const { options, isGivenUp } = waiting;
  if (message.kind === "begun") waiting.isBegun = true;
  else if (message.kind === "answer" || message.kind === "failed") {
    pending.delete(message.id);
    if (message.kind === "answer") waiting.settle(message.answer);
    else lose(waiting, message.failure);
  } else if (isGivenUp) return;
  else if (message.kind === "progress") options.onProgress?.(message.progress);
  else options.onPartial?.(message.answer as never);
}

/** Fails a request, and replaces a worker of which nobody knows what state it is in; its memory never shrinks. */
function lose(waiting: Pending, failure: Failure): void {
  waiting.fail(failure);
  if (failure.kind === "memory" || failure.kind === "internal") replace();
}

/** Whether a request can be what keeps the worker from listening: those that only wait behind another cannot. */
function mayBlock(id: number): boolean {
  const [first] = pending.keys();
  const waiting = pending.get(id);
  return waiting?.isBegun === true && (id === first || IS_LONG.has(waiting.order.name));
}

/** Requests that may take minutes. */
const IS_LONG: ReadonlySet<RequestName> = new Set([
  ...["make", "compare", "export", "open", "kernels"],
  ...["train", "trainingTimeline", "trainingTrace"],
  ...["plan", "planTimeline", "planFile"],
] as const);

/** Asks the worker to stop, and ends it where it does not listen. */
function giveUp(id: number): void {
  const waiting = pending.get(id);
  if (waiting === undefined) return;
  waiting.isGivenUp = true;
  void send({ kind: "cancel", id });
  setTimeout(() => {
    if (mayBlock(id)) replace();
  }, GRACE_MS);
}

/** Asks the worker. Rejects with RequestError, at once where it is cancelled. */
export function ask<Name extends RequestName>(
  name: Name,
  given: Ask<Name>,
  options: AskOptions<Name> = {},
): Promise<Answer<Name>> {
  const { signal: aborted } = options;
  return new Promise((resolve, reject) => {
    if (aborted?.aborted) return reject(new RequestError(CANCELLED));
    const id = nextId++;
    const stop = (): void => {
      giveUp(id);
      reject(new RequestError(CANCELLED));
    };
    const settled = (): void => aborted?.removeEventListener("abort", stop);
    const order: Pending["order"] = { kind: "ask", id, name, ask: given };
    pending.set(id, {
      order,
      settle: (answer) => {
        settled();
        resolve(answer as Answer<Name>);
      },
      fail: (failure) => {
        settled();
        reject(new RequestError(failure));
      },
      options: options as AskOptions<RequestName>,
      isBegun: false,
      isGivenUp: false,
    });
    aborted?.addEventListener("abort", stop, { once: true });
    void send(order);
  });
}
