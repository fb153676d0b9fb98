import { InputError } from "../errors.ts";
import type { LineSteps } from "./line-steps.ts";
import { orderByTime } from "./ordering.ts";
import { PHASE_REDUCE_SCATTER, type PhaseSchedule } from "./phase-schedule.ts";

/**
 * Calls `visit` with each phase and the dimensions over which its chunk is scattered besides the phase's own. Throws InputError
 * where a chunk is gathered that is not scattered, or the other way round. O(phases).
 */
export function eachPhase(
  schedule: PhaseSchedule,
  visit: (phase: number, scattered: readonly boolean[]) => void,
): void {
  const { chunk, dimension, op, dimensions, collective } = schedule;
  const states = Array.from({ length: collective.chunksPerNpu }, () =>
    dimensions.map(() => collective.kind === "allgather"),
  );
  for (let phase = 0; phase < chunk.length; phase++) {
    const d = dimension[phase];
    const scatters = op[phase] === PHASE_REDUCE_SCATTER;
    const state = states[chunk[phase]];
    if (state[d] === scatters) {
      const expected = `a chunk that is ${scatters ? "whole" : "scattered"} in dimension ${d}`;
      throw new InputError(`phase ${phase} (steps need a valid schedule)`, expected, `chunk ${chunk[phase]}`);
    }
    state[d] = false;
    visit(phase, state);
    state[d] = scatters;
  }
}

/** Steps of phases in the order in which all NPUs issue their messages (Themis, 4.6). */
export interface IssueOrder {
  /** [steps of phases] */
  readonly phase: Int32Array;
  /** [steps of phases] 0 the first; all-gathers count from the reduce-scatter's last. */
  readonly step: Int32Array;
}

/**
 * Returns the steps of all phases by the times that the schedule suggests: a step begins when what comes before it in its phase
 * is serialised and has arrived. Equal times: in the phases' order. O(steps of phases).
 */
export function issueOrder(schedule: PhaseSchedule, lines: readonly LineSteps[]): IssueOrder {
  const { dimension, op, dimensions, startPs, endPs } = schedule;
  const phase: number[] = [];
  const step: number[] = [];
  const begin: number[] = [];
  for (let i = 0; i < dimension.length; i++) {
    const { steps, firstRow } = lines[dimension[i]];
    const { stepPs } = dimensions[dimension[i]];
    const serialPs = endPs[i] - startPs[i] - steps * stepPs;
    const rows = firstRow[steps];
    for (let k = 0; k < steps; k++) {
      const scatters = op[i] === PHASE_REDUCE_SCATTER;
      const before = scatters ? firstRow[k] : rows - firstRow[steps - k];
      phase.push(i);
      step.push(scatters ? k : steps - 1 - k);
      begin.push(Math.floor(startPs[i] + k * stepPs + (serialPs * before) / rows));
    }
  }
  const order = orderByTime(Float64Array.from(begin));
  return { phase: Int32Array.from(order, (i) => phase[i]), step: Int32Array.from(order, (i) => step[i]) };
}
