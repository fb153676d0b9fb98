import type { AskOptions } from "../../../src/web/state/client.ts";

/** The page's side of a worker that a test plays: `vi.mock(".../client.ts", () => import("./fake-client.ts"))`. */

/** What the page asked, to be answered by a test. */
export interface Asked {
  readonly name: string;
  readonly given: { readonly wish?: unknown };
  readonly signal: AbortSignal | undefined;
  answer(answer: unknown): Promise<void>;
}

export const asked: Asked[] = [];

/** Waits until whoever waited for an answer has gone on. */
export const settled = (): Promise<void> => new Promise((resolve) => setTimeout(resolve));

/** Returns what was asked last and not given up, of a name. */
export const last = (name: string): Asked =>
  asked.findLast((one) => one.name === name && one.signal?.aborted !== true) as Asked;

export class RequestError extends Error {
  readonly failure = { kind: "cancelled", place: null, message: "cancelled" };
}

export const failureOf = (error: RequestError): RequestError["failure"] => error.failure;

export function ask(name: string, given: Asked["given"], { signal }: AskOptions<"make"> = {}): Promise<unknown> {
  return new Promise((resolve, reject) => {
    signal?.addEventListener("abort", () => reject(new RequestError()));
    const answer = async (value: unknown): Promise<void> => {
      resolve(value);
      await settled();
    };
    asked.push({ name, given, signal, answer });
  });
}

export const viewOf = (name: string) => ({
  name,
  sources: [],
  hash: name,
  nodeNames: ["0", "1"],
  wires: { a: [0], b: [1] },
});
export const scheduleOf = (name: string, wish: unknown = {}) => ({ answer: name, ref: { id: name, wish, file: null } });

/** Answers a synthesis that was begun. */
export async function makes(name: string): Promise<void> {
  await last("network").answer(viewOf(name));
  await last("make").answer(scheduleOf(name));
}
