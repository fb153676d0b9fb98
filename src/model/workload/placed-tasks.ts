import type { NpuGroups } from "./layer-work.ts";
import { groupMembers, groupSizeOf, inStage, npusOf, type Parallelism } from "./parallelism.ts";
import { SEND_BACK, type StepTasks, stepTasks, type Work } from "./step-tasks.ts";
import type { TrainingStep } from "./training-step.ts";

/** The tasks of a step and the NPUs that do them. */
export interface PlacedTasks {
  readonly tasks: StepTasks;
  readonly npuCount: number;
  /** [actors] The NPUs that do what the actor does, ascending. */
  readonly npus: readonly Int32Array[];
  /** [works] Who takes part; null where it is no communication. */
  readonly groups: readonly (NpuGroups | null)[];
}

/** Returns the tasks of a step with the NPUs of its stages and groups. O(tasks + works x NPUs). */
export function placedStep(step: TrainingStep): PlacedTasks {
  const { parallelism } = step;
  const tasks = stepTasks(step);
  const npuCount = npusOf(parallelism);
  const npus = tasks.actors.map((_, stage) =>
    Int32Array.from({ length: npuCount }, (_, npu) => npu).filter((npu) => inStage(parallelism, npu, stage) === npu),
  );
  return { tasks, npuCount, npus, groups: tasks.works.map((work) => groupsOf(parallelism, npus, work)) };
}

/** Returns who takes part in a work; null where it is no communication. */
function groupsOf(parallelism: Parallelism, npus: readonly Int32Array[], work: Work): NpuGroups | null {
  if (work.kind === "computations") return null;
  const { communication, stage } = work;
  const { among, collective, group, name } = communication;
  if (among !== undefined) return among;
  if (collective !== "send") {
    // who are in one stage do the same; a group across the stages has members in all of them
    const within = group === "pipeline" || group === "all" ? null : stage;
    return { size: groupSizeOf(parallelism, group), members: groupMembers(parallelism, group, within) };
  }
  const { pipeline } = parallelism;
  const to = (stage + (name === SEND_BACK ? pipeline - 1 : 1)) % pipeline;
  return { size: 2, members: Int32Array.from([...npus[stage]].flatMap((npu) => [npu, inStage(parallelism, npu, to)])) };
}
