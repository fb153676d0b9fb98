import { openEngine } from "../../src/engine/engine.ts";
import type { Options } from "../../src/request/option-table.ts";
import type { Progress } from "../../src/request/progress.ts";
import type { Answer, Ask, GivenFile, MakeWish, NetworkWish, RequestName } from "../../src/web/protocol.ts";
import { HANDLERS, type Handler } from "../../src/web/worker/handlers.ts";

/** The page's worker in this process: its handlers on an engine of Node. */

Object.assign(globalThis, { BANYAN_VERSION: "0.0.0-test" });
const engine = await openEngine({ threads: 0 });

export interface Heard {
  readonly progress: Progress[];
  readonly partial: Answer<RequestName>[];
}

/** Returns the answer of a handler; what it says on the way goes to `heard`. */
export function ask<Name extends RequestName>(
  name: Name,
  given: Ask<Name>,
  heard: Heard = { progress: [], partial: [] },
): Promise<Answer<Name>> {
  const handle = HANDLERS[name] as Handler<Name>;
  return handle(given, {
    engine,
    signal: new AbortController().signal,
    progress: (progress) => heard.progress.push(progress),
    partial: (answer) => heard.partial.push(answer),
  });
}

export const fileOf = (name: string, content: string | Uint8Array<ArrayBuffer>): GivenFile => ({
  name,
  content: new Blob([content]),
});

export const networkWish = (topology: string, options: Options = {}): NetworkWish => ({
  topology,
  file: null,
  options,
});

export const wishOf = (topology: string, options: Options, network: Options = {}): MakeWish => ({
  network: networkWish(topology, network),
  options,
});

/** Returns the answer of a view that can be shown; fails where it is refused. */
export function shown<View extends object>(answer: View | { readonly refusal: string }): View {
  if ("refusal" in answer) throw new Error(answer.refusal);
  return answer;
}
