import type { Engine } from "../../engine/types.ts";
import type { Progress } from "../../request/option-texts.ts";
import type { Answer, Ask, RequestName, ScheduleRef } from "../protocol.ts";
import { compare } from "./compare.ts";
import { exportSubject } from "./export.ts";
import { hopsView } from "./hops.ts";
import { keptFor } from "./kept.ts";
import { loadsView } from "./loads.ts";
import { make } from "./make.ts";
import { type Moves, movesOf } from "./moves.ts";
import { network } from "./network.ts";
import { open } from "./open.ts";
import { programTime } from "./program-time.ts";
import { timelineView } from "./timeline.ts";
import { treesView, treeView } from "./trees.ts";
import { welcome } from "./welcome.ts";
import { file } from "./written.ts";

/** What a request has of its surroundings. */
export interface Tools {
  readonly engine: Engine;
  readonly signal: AbortSignal;
  progress(progress: Progress): void;
  /** Sends what there is of an answer so far. */
  partial(answer: Answer<RequestName>): void;
}

export type Handler<Name extends RequestName> = (ask: Ask<Name>, tools: Tools) => Promise<Answer<Name>>;

/** Returns what a view makes of a schedule's transfers in time; why not, where they cannot be shown. */
const ofMoves =
  <View extends object>(view: (moves: Moves) => View) =>
  async ({ schedule }: { readonly schedule: ScheduleRef }, tools: Tools) => {
    const moves = movesOf(await keptFor(schedule, tools), tools.engine.kernels.replay);
    return "refusal" in moves ? moves : view(moves);
  };

/** Every request and what answers it. */
export const HANDLERS: { readonly [Name in RequestName]: Handler<Name> } = {
  welcome: async (_, { engine }) => welcome(engine),
  network,
  open,
  make,
  file,
  timeline: ofMoves(timelineView),
  hops: ofMoves(hopsView),
  loads: async ({ schedule }, tools) => loadsView(await keptFor(schedule, tools), tools.engine.kernels.replay),
  trees: async ({ schedule }, tools) => treesView(await keptFor(schedule, tools)),
  tree: async ({ schedule, forest, tree }, tools) => treeView(await keptFor(schedule, tools), forest, tree),
  compare,
  programTime,
  export: exportSubject,
};
