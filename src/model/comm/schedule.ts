import type { Digraph } from "../direct/digraph.ts";
import type { IndexColumn } from "../steps/step-schedule.ts";

/**
 * An all-gather in communication steps (Zhao 2026, 3.3.1 and A.2): row i says that in step[i] the parts from[i] .. to[i] - 1 of
 * the shard of node source[i] are sent over arc[i], by a node that had them when the step began. Every shard has as many equal
 * parts. Rows ascend by (step, arc, source, from).
 */
export interface CommSchedule {
  readonly graph: Digraph;
  /** Comm steps, numbered from 0. T_L = steps * alpha. */
  readonly steps: number;
  /** Equal parts of a shard, >= 1. */
  readonly parts: number;
  readonly step: IndexColumn;
  readonly source: IndexColumn;
  readonly arc: IndexColumn;
  readonly from: IndexColumn;
  readonly to: IndexColumn;
  /**
   * Sizes of a group of translations (`model/symmetry/translation.ts`) under which the schedule does not change: then only the rows over
   * arcs that enter node 0 are listed, and stand for their images. Null: all rows are listed.
   */
  readonly symmetry: readonly number[] | null;
}
