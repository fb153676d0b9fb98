import { CancelledError, InfeasibleError, InputError, InternalError } from "../../base/errors.ts";
import { turn } from "../../base/stopping.ts";
import { openEngine } from "../../engine/engine.browser.ts";
import { callOptionsByFlags } from "../../request/option-table.ts";
import type { Answer, Ask, Failure, Message, Order, RequestName } from "../protocol.ts";
import { network } from "./network-answer.ts";
import type { Tools } from "./request-context.ts";

/**
 * The worker's loop: requests are begun as they come; a cancelled one ends as soon as it listens. Networks, which a page shows
 * first, wait for nothing; what makes and judges schedules, and its kernels, are loaded meanwhile.
 */

type Asked = Extract<Order, { readonly kind: "ask" }>;

const scope = globalThis as unknown as {
  postMessage(message: Message, transfer?: Transferable[]): void;
  onmessage: ((event: MessageEvent<Order>) => void) | null;
};

callOptionsByFlags();
const engine = openEngine();
const handlers = import("./handlers.ts");
const running = new Map<number, AbortController>();

/** Returns the answer to a request, which has begun by then. */
async function answerTo({ id, name, ask }: Asked, signal: AbortSignal): Promise<Answer<RequestName>> {
  const begin = async (): Promise<void> => {
    await turn(signal);
    scope.postMessage({ kind: "begun", id });
  };
  if (name === "network") {
    await begin();
    return network(ask as Ask<"network">);
  }
  const tools: Tools = {
    engine: await engine,
    signal,
    progress: (progress) => scope.postMessage({ kind: "progress", id, progress }),
    partial: (answer) => scope.postMessage({ kind: "partial", id, answer }),
  };
  const handle = (await handlers).HANDLERS[name] as (given: unknown, tools: Tools) => Promise<Answer<RequestName>>;
  await begin();
  return handle(ask, tools);
}

async function serve(asked: Asked): Promise<void> {
  const { id } = asked;
  const controller = new AbortController();
  running.set(id, controller);
  try {
    const answer = await answerTo(asked, controller.signal);
    scope.postMessage({ kind: "answer", id, answer }, buffersOf(answer));
  } catch (error) {
    scope.postMessage({ kind: "failed", id, failure: failureOf(error) });
  } finally {
    running.delete(id);
  }
}

scope.onmessage = ({ data: order }) => {
  if (order.kind === "cancel") running.get(order.id)?.abort();
  else void serve(order);
};

/**
 * Returns the buffers of all columns in a plain value, to be moved instead of copied. Columns that the worker keeps for itself
 * must be copied before they are put into an answer.
 */
function buffersOf(value: unknown, found = new Set<ArrayBuffer>()): ArrayBuffer[] {
  if (ArrayBuffer.isView(value)) {
    if (value.buffer instanceof ArrayBuffer) found.add(value.buffer);
  } else if (Array.isArray(value)) {
    // lists of names are long and hold no columns
    if (typeof value[0] === "object") for (const part of value) buffersOf(part, found);
  } else if (typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype) {
    for (const part of Object.values(value)) buffersOf(part, found);
  }
  return [...found];
}

/** Returns an error as the page shows it. */
export function failureOf(error: unknown): Failure {
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof CancelledError) return { kind: "cancelled", place: null, message };
  if (error instanceof InputError) return { kind: "input", place: error.place, option: error.option, message };
  if (error instanceof InfeasibleError) return { kind: "infeasible", place: null, message };
  if (ranOutOfMemory(error)) {
    const advice =
      "this needs more memory than the browser gives a page; fewer chunks, fewer NPUs or the command line may do";
    return { kind: "memory", place: null, message: `${advice} (${message})` };
  }
  return { kind: "internal", place: null, message };
}

const ranOutOfMemory = (error: unknown): boolean =>
  error instanceof WebAssembly.RuntimeError ||
  (error instanceof RangeError && /alloc|memory|length|size/i.test(error.message)) ||
  (error instanceof InternalError && error.outOfMemory);
