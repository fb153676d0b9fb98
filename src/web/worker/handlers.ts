import type { Engine } from "../../engine/types.ts";
import type { Progress } from "../../words/options.ts";
import type { Answer, Ask, RequestName } from "../protocol.ts";
import { make } from "./make.ts";
import { networkView } from "./network-view.ts";
import { partAndWholeOf } from "./networks.ts";
import { welcome } from "./welcome.ts";

/** What a request has of its surroundings. */
export interface Tools {
  readonly engine: Engine;
  readonly signal: AbortSignal;
  progress(progress: Progress): void;
  /** Sends what there is of an answer so far. */
  partial(answer: Answer<RequestName>): void;
}

export type Handler<Name extends RequestName> = (ask: Ask<Name>, tools: Tools) => Promise<Answer<Name>>;

const unbuilt = async (): Promise<never> => {
  throw new Error("not built");
};

/** Every request and what answers it. */
export const HANDLERS: { readonly [Name in RequestName]: Handler<Name> } = {
  welcome: async (_, { engine }) => welcome(engine),
  network: async ({ wish }) => {
    const { topology, whole } = await partAndWholeOf(wish);
    return networkView(topology, whole);
  },
  open: unbuilt,
  make,
  file: unbuilt,
  timeline: unbuilt,
  hops: unbuilt,
  loads: unbuilt,
  trees: unbuilt,
  tree: unbuilt,
  compare: unbuilt,
  export: unbuilt,
};
