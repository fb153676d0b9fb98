import { openEngine } from "../../engine/engine.browser.ts";
import { CancelledError } from "../../errors.ts";
import type { Answer, Message, Order, RequestName } from "../protocol.ts";
import { failureOf } from "./failure.ts";
import { HANDLERS, type Tools } from "./handlers.ts";
import { buffersOf } from "./transfer.ts";

/** The worker's loop: requests are begun as they come; a cancelled one ends as soon as it listens. */

const scope = globalThis as unknown as {
  postMessage(message: Message, transfer?: Transferable[]): void;
  onmessage: ((event: MessageEvent<Order>) => void) | null;
};

const engine = openEngine();
const running = new Map<number, AbortController>();

/** Lets orders that came in the meantime be heard. */
const listened = (): Promise<void> => new Promise((resolve) => setTimeout(resolve));

async function answer({ id, name, ask }: Extract<Order, { kind: "ask" }>): Promise<void> {
  const controller = new AbortController();
  running.set(id, controller);
  try {
    const opened = await engine;
    await listened();
    if (controller.signal.aborted) throw new CancelledError();
    scope.postMessage({ kind: "begun", id });
    const tools: Tools = {
      engine: opened,
      signal: controller.signal,
      progress: (progress) => scope.postMessage({ kind: "progress", id, progress }),
      partial: (answer) => scope.postMessage({ kind: "partial", id, answer }),
    };
    const handle = HANDLERS[name] as (given: unknown, tools: Tools) => Promise<Answer<RequestName>>;
    const answer = await handle(ask, tools);
    scope.postMessage({ kind: "answer", id, answer }, buffersOf(answer));
  } catch (error) {
    scope.postMessage({ kind: "failed", id, failure: failureOf(error) });
  } finally {
    running.delete(id);
  }
}

scope.onmessage = ({ data: order }) => {
  if (order.kind === "cancel") running.get(order.id)?.abort();
  else void answer(order);
};
