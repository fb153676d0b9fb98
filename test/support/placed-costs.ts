import type { PlacedTasks } from "../../src/model/workload/placed-tasks.ts";
import { type StepTimes, simulateStep, type WorkCosts } from "../../src/simulate/workload/step.ts";

/** Picoseconds of a communication by its bytes and the size of its groups. */
export type CommunicationCost = (bytes: number, size: number, collective: string) => number;

/** Returns costs of works that share no links: given times, else an operation a picosecond. */
export function costsOf({ tasks, groups }: PlacedTasks, cost: CommunicationCost): WorkCosts {
  const { works } = tasks;
  const ps = works.map((work, w) => {
    if (work.kind === "communication") {
      const { bytes, collective } = work.communication;
      return cost(bytes, groups[w]?.size ?? 1, collective);
    }
    return work.computations.reduce((sum, { givenPs, flops }) => sum + (givenPs ?? flops), 0);
  });
  return {
    ps: Float64Array.from(ps),
    latencyPs: new Float64Array(works.length),
    priority: new Int32Array(works.length),
    offset: new Int32Array(works.length + 1),
    resource: new Int32Array(0),
    share: new Float64Array(0),
    resourceCount: 0,
  };
}

/** Returns when the tasks run where links are not shared. */
export const timesOf = (placed: PlacedTasks, cost: CommunicationCost): StepTimes =>
  simulateStep(placed.tasks, costsOf(placed, cost));

/** A byte a nanosecond, whatever the group. */
export const BYTE_A_NS: CommunicationCost = (bytes) => bytes * 1000;
