import { InputError } from "../../base/errors.ts";
import type { LineSteps } from "../dimensions/line-steps.ts";
import { heap } from "../graph/heap.ts";
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

/** Returns for each phase the next one of its chunk, and each chunk's first; -1 where there is none. */
function successors({ chunk, collective }: PhaseSchedule): { next: Int32Array; first: Int32Array } {
  const next = new Int32Array(chunk.length).fill(-1);
  const first = new Int32Array(collective.chunksPerNpu).fill(-1);
  for (let phase = chunk.length - 1; phase >= 0; phase--) {
    next[phase] = first[chunk[phase]];
    first[chunk[phase]] = phase;
  }
  return { next, first };
}

/** How much longer a step may hold up an earlier phase than its dimension would be idle: what is tried. */
const PATIENCE: readonly number[] = [Number.POSITIVE_INFINITY, 16, 4, 1, 0];

/**
 * Returns the steps of all phases as dimensions would carry them out that fill latencies (4.3: several small chunks at once): a
 * dimension that is free takes the first phase, in the schedule's order, whose chunk or last step has arrived, and serialises
 * its next step; but it waits for a phase before that one where it would hold this up too long. Of several measures of too long
 * the one with which the last step arrives first. O(steps of phases x phases in flight in a dimension).
 */
export function issueOrder(schedule: PhaseSchedule, lines: readonly LineSteps[]): IssueOrder {
  return PATIENCE.map((patience) => issued(schedule, lines, patience)).reduce((best, other) =>
    other.lastPs < best.lastPs ? other : best,
  );
}

function issued(
  schedule: PhaseSchedule,
  lines: readonly LineSteps[],
  patience: number,
): IssueOrder & { readonly lastPs: number } {
  const { chunk, dimension, op, dimensions, startPs, endPs } = schedule;
  const { next, first } = successors(schedule);
  let total = 0;
  for (let i = 0; i < chunk.length; i++) total += lines[dimension[i]].steps;
  const order = { phase: new Int32Array(total), step: new Int32Array(total), lastPs: 0 };
  const waiting = dimensions.map(heap);
  const isFree = dimensions.map(() => true);
  const done = new Int32Array(chunk.length);
  /** For each dimension, by phase: when the step in flight arrives, of phases that have another. */
  const inFlight = dimensions.map(() => new Map<number, number>());
  const earliestBefore = (d: number, phase: number): number => {
    let arrival = Number.POSITIVE_INFINITY;
    for (const [other, ps] of inFlight[d]) if (other < phase && ps < arrival) arrival = ps;
    return arrival;
  };
  /** By time: phases whose step has arrived; dimensions, numbered behind them. */
  const events = heap();
  for (const phase of first) if (phase >= 0) waiting[dimension[phase]].add(phase, phase);
  const arrive = (phase: number): void => {
    inFlight[dimension[phase]].delete(phase);
    const ready = ++done[phase] < lines[dimension[phase]].steps ? phase : next[phase];
    if (ready >= 0) waiting[dimension[ready]].add(ready, ready);
  };
  /** Serialises the next step of the first phase that waits, unless an earlier phase comes soon. */
  const serve = (d: number, row: number, now: number): boolean => {
    if (!isFree[d] || waiting[d].size() === 0) return false;
    const phase = waiting[d].key();
    const { steps, firstRow } = lines[d];
    const step = op[phase] === PHASE_REDUCE_SCATTER ? done[phase] : steps - 1 - done[phase];
    const { stepPs } = dimensions[d];
    const serialPs = Math.max(1, endPs[phase] - startPs[phase] - steps * stepPs);
    const freePs = now + Math.ceil((serialPs * (firstRow[step + 1] - firstRow[step])) / firstRow[steps]);
    const expected = earliestBefore(d, phase);
    if (expected < freePs && freePs - expected > patience * (expected - now)) return false;
    waiting[d].take();
    isFree[d] = false;
    if (done[phase] + 1 < steps) inFlight[d].set(phase, freePs + stepPs);
    events.add(freePs, chunk.length + d);
    events.add(freePs + stepPs, phase);
    order.phase[row] = phase;
    order.step[row] = step;
    order.lastPs = Math.max(order.lastPs, freePs + stepPs);
    return true;
  };
  let row = 0;
  for (let now = 0; row < total; now = events.key()) {
    while (events.key() === now) {
      const event = events.take();
      if (event < chunk.length) arrive(event);
      else isFree[event - chunk.length] = true;
    }
    for (let d = 0; d < dimensions.length; d++) if (serve(d, row, now)) row++;
  }
  return order;
}
