import { CancelledError } from "../../base/errors.ts";
import { openEngine } from "../../engine/engine.browser.ts";
import type { Answer, Ask, Message, Order, RequestName } from "../protocol.ts";
import { failureOf } from "./failure.ts";
import type { Tools } from "./handlers.ts";
import { network } from "./network.ts";
import { buffersOf } from "./transfer.ts";

/**
 * The worker's loop: requests are begun as they come; a cancelled one ends as soon as it listens. Networks, which a page shows
 * first, wait for nothing; what makes and judges schedules, and its kernels, are loaded meanwhile.
 */

type Asked = Extract<Order, { readonly kind: "ask" }>;

const scope = globalThis as unknown as {
  postMessage(message: Message, transfer?: Transferable[]): void;
  onmessage: ((event: MessageEvent<Order>) => void) | null;
};

const engine = openEngine();
const handlers = import("./handlers.ts");
const running = new Map<number, AbortController>();

/** Lets orders that came in the meantime be heard. */
const listened = (): Promise<void> => new Promise((resolve) => setTimeout(resolve));

/** Returns the answer to a request, which has begun by then. */
async function answerTo({ id, name, ask }: Asked, signal: AbortSignal): Promise<Answer<RequestName>> {
  const begin = async (): Promise<void> => {
    await listened();
    if (signal.aborted) throw new CancelledError();
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
