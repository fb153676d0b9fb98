import { type AskedCollective, askedCollective } from "../workload/asked-collective.ts";
import type { PlacedTasks } from "../workload/placed-tasks.ts";
import type { PipelinePlan, StagePlan } from "./pipeline.ts";
import { pipelineTasks } from "./pipeline-tasks.ts";

/** A collective that a plan needs, by all groups of some axes at once. */
export interface PlanCollective {
  readonly asked: AskedCollective;
  /** "axis 0 x axis 1" */
  readonly axes: string;
  readonly groupCount: number;
  readonly groupSize: number;
  /** In a step, all of its passes. */
  readonly times: number;
}

/** Returns the distinct collectives among tasks, by what is asked for. */
function collectivesOf({ tasks, groups }: PlacedTasks, npuCount: number): Map<string, PlanCollective> {
  const timesOfWork = new Int32Array(tasks.works.length);
  for (const work of tasks.work) timesOfWork[work] = (timesOfWork[work] as number) + 1;
  const found = new Map<string, PlanCollective>();
  tasks.works.forEach((work, w) => {
    const among = groups[w] ?? null;
    if (work.kind !== "communication" || among === null || work.communication.collective === "send") return;
    const { collective, bytes } = work.communication;
    const asked = askedCollective(npuCount, collective, among, bytes);
    const key = JSON.stringify(asked);
    found.set(key, {
      asked,
      axes: among.name ?? "",
      groupCount: among.members.length / among.size,
      groupSize: among.size,
      times: (found.get(key)?.times ?? 0) + (timesOfWork[w] as number),
    });
  });
  return found;
}

/**
 * Returns the distinct collectives of a step of a plan, on a network of so many NPUs; those that move most in a step first. The tasks
 * of one pass and of two tell what comes once a pass and what once a step. O(steps).
 */
export function planCollectives(pipeline: PipelinePlan, npuCount: number): PlanCollective[] {
  const { microBatches } = (pipeline.stages[0] as StagePlan).terms;
  const [one, two] = [1, 2].map((passes) => collectivesOf(pipelineTasks(pipeline, passes), npuCount)) as [
    Map<string, PlanCollective>,
    Map<string, PlanCollective>,
  ];
  const moved = ({ times, asked }: PlanCollective): number => times * asked.sizeBytes;
  return [...one]
    .map(([key, found]) => {
      const { times } = two.get(key) as PlanCollective;
      return { ...found, times: found.times + (times - found.times) * (microBatches - 1) };
    })
    .sort((a, b) => moved(b) - moved(a));
}
