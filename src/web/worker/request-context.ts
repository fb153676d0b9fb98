import type { Engine } from "../../engine/types.ts";
import type { Progress } from "../../request/progress.ts";
import type { Answer, RequestName } from "../protocol.ts";

/** What a request has of its surroundings. */

export interface Tools {
  readonly engine: Engine;
  readonly signal: AbortSignal;
  progress(progress: Progress): void;
  /** Sends what there is of an answer so far. */
  partial(answer: Answer<RequestName>): void;
}
