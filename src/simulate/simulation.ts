export type Switching = "cut-through" | "store-and-forward";

/** What a schedule does in the congestion-aware network. Times are exact integers in picoseconds. */
export interface Simulation {
  readonly model: `network/${Switching}`;
  /** When the last chunk arrives; 0 for an empty schedule. */
  readonly ps: number;
  /** [links] how long the link was held, times the share that was held. */
  readonly linkBusyPs: Float64Array;
  /** [transfers] start on the first link. With `timeline`, as the two below. */
  readonly startPs?: Float64Array;
  /** [transfers] arrival at the target. */
  readonly endPs?: Float64Array;
  /** Store-and-forward: start per transfer and link of its route, in row order. */
  readonly hopStartPs?: Float64Array;
}
