import type { NetworkView } from "../protocol.ts";
import type { Made } from "../state/store.ts";

/** What views are given: the network of the words, and the last schedule, which may run on another network. */

export interface ViewProps {
  readonly network: NetworkView;
  /** There is one where the view needs it (`needsSchedule`); other views take the network only. */
  readonly made: Made;
}
