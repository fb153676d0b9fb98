/** How the NPUs of a line are joined that differ in one coordinate only. */
export type LineKind = "ring" | "line" | "fc" | "switch";

/**
 * One dimension of a hierarchical network (Themis, table 2): its NPUs form lines of `size`, all wired alike. NPU id =
 * x0 + d0*(x1 + d1*(x2 ...)), the first dimension fastest.
 */
export interface NetworkDimension {
  readonly kind: LineKind;
  /** NPUs of a line, 2 or more. */
  readonly size: number;
  /** What an NPU can send in this dimension (aggregate over its links, one direction), exact; on a line: one link. */
  readonly bytesPerSecond: number;
  /** From an NPU to the next one it sends to, picoseconds. */
  readonly stepPs: number;
  /** The dimension's switches duplicate and sum messages. */
  readonly inNetwork: boolean;
}

/** How a line reduce-scatters; it all-gathers by the same in reversed time. "offload": the switch sums and duplicates. */
export type LineAlgorithm = "ring" | "line" | "direct" | "halving-doubling" | "offload";
