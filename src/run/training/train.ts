import { shiftedLinks } from "../../model/symmetry/shift.ts";
import type { Topology } from "../../model/topology/topology.ts";
import type { Communication, Computation } from "../../model/workload/layer-work.ts";
import { groupMembers, groupSizeOf, inStage, npusOf, type Parallelism } from "../../model/workload/parallelism.ts";
import { inOneStream, type StepTasks, stepTasks, type Work } from "../../model/workload/step-tasks.ts";
import type { TrainingStep } from "../../model/workload/training-step.ts";
import { type ActorTime, exposureOf } from "../../simulate/workload/exposure.ts";
import { type StepTimes, simulateStep, type WorkCosts } from "../../simulate/workload/step.ts";
import type { CommunicationCost, CostOf, Groups } from "./costs.ts";

/** What simulating a step needs besides the step. */
export interface TrainOptions {
  /** Returns what communications take. */
  readonly costOf: CostOf;
  /** Returns how long a computation takes on one NPU; picoseconds, a whole number. */
  readonly computationPs: (computation: Computation) => number;
  /** Communications of an NPU take turns, also those of different groups (Zhao 2026, A.1.4). */
  readonly oneStream?: boolean;
}

/** A step that was simulated. */
export interface TrainedStep {
  readonly tasks: StepTasks;
  readonly times: StepTimes;
  readonly actors: readonly ActorTime[];
  /** [works] what was taken for each communication; null for computations. */
  readonly costs: readonly (CommunicationCost | null)[];
}

/** Returns the groups of a communication in a stage. */
function groupsOf(parallelism: Parallelism, { collective, group, name }: Communication, stage: number): Groups {
  if (collective !== "send") {
    return { members: groupMembers(parallelism, group, stage), size: groupSizeOf(parallelism, group) };
  }
  const { pipeline } = parallelism;
  const next = (stage + (name.startsWith("gradients") ? pipeline - 1 : 1)) % pipeline;
  const pairs: number[] = [];
  for (let npu = 0; npu < npusOf(parallelism); npu++) {
    if (inStage(parallelism, npu, stage) === npu) pairs.push(npu, inStage(parallelism, npu, next));
  }
  return { members: Int32Array.from(pairs), size: 2 };
}

/**
 * Returns a step simulated on a network whose first NPUs are those of the step's mesh, all groups of a stage communicating at once.
 * Rejects as the costs do.
 */
export async function simulateTraining(
  topology: Topology,
  step: TrainingStep,
  { costOf, computationPs, oneStream = false }: TrainOptions,
): Promise<TrainedStep> {
  const all = stepTasks(step);
  const tasks = oneStream ? inOneStream(all) : all;
  const shifts = new Map<number, Int32Array | null>();
  const costs: (CommunicationCost | null)[] = [];
  for (const work of tasks.works) {
    costs.push(work.kind === "computations" ? null : await stageCost(topology, step, work, costOf, shifts));
  }
  const ps = Float64Array.from(tasks.works, (work, w) =>
    work.kind === "computations"
      ? work.computations.reduce((all, one) => all + computationPs(one), 0)
      : (costs[w] as CommunicationCost).ps,
  );
  const times = simulateStep(tasks, {
    ...sharedLinks(tasks, costs),
    ps,
    latencyPs: new Float64Array(ps.length),
    priority: new Int32Array(ps.length),
  });
  return { tasks, times, actors: exposureOf(tasks, times), costs };
}

/** Returns what a communication of a stage takes: that of the first stage where the network looks the same from both. */
async function stageCost(
  topology: Topology,
  { parallelism }: TrainingStep,
  { communication, stage }: Extract<Work, { kind: "communication" }>,
  costOf: CostOf,
  shifts: Map<number, Int32Array | null>,
): Promise<CommunicationCost> {
  const { collective, bytes } = communication;
  const own = groupsOf(parallelism, communication, stage);
  const first = groupsOf(parallelism, communication, 0);
  const by = own.members[0] - first.members[0];
  if (by <= 0) return costOf(collective, own, bytes);
  if (!shifts.has(by)) shifts.set(by, shiftedLinks(topology, by));
  const linkImage = shifts.get(by) ?? null;
  const isMoved = first.members.every((npu, i) => (npu + by) % topology.npuCount === own.members[i]);
  if (linkImage === null || !isMoved) return costOf(collective, own, bytes);
  const cost = await costOf(collective, first, bytes);
  const use = new Float64Array(cost.use.length);
  for (let link = 0; link < use.length; link++) use[linkImage[link]] = cost.use[link];
  return { ...cost, use };
}

/**
 * Returns which works share links and how much each takes of them. Links that only works of one lane use, which run one at a time,
 * are left out, and of links that the same works use alike one is kept. O(works x links).
 */
function sharedLinks(
  tasks: StepTasks,
  costs: readonly (CommunicationCost | null)[],
): Pick<WorkCosts, "offset" | "resource" | "share" | "resourceCount"> {
  const laneOf = new Int32Array(tasks.works.length).fill(-1);
  for (let t = 0; t < tasks.work.length; t++) laneOf[tasks.work[t]] = tasks.lane[t];
  const uses: { readonly w: number; readonly use: Float64Array }[] = [];
  for (const [w, cost] of costs.entries()) if (cost !== null) uses.push({ w, use: cost.use });
  const known = new Set<string>();
  const ofWork: { resource: number; share: number }[][] = tasks.works.map(() => []);
  for (let link = 0; link < (uses[0]?.use.length ?? 0); link++) {
    const users = uses.filter(({ use }) => use[link] > 0);
    if (users.every(({ w }) => laneOf[w] === laneOf[users[0]?.w ?? 0])) continue;
    const key = users.map(({ w, use }) => `${w}:${use[link]}`).join(" ");
    if (known.has(key)) continue;
    for (const { w, use } of users) ofWork[w].push({ resource: known.size, share: use[link] });
    known.add(key);
  }
  const offset = new Int32Array(ofWork.length + 1);
  ofWork.forEach((list, w) => {
    offset[w + 1] = offset[w] + list.length;
  });
  return {
    offset,
    resource: Int32Array.from(ofWork.flat(), ({ resource }) => resource),
    share: Float64Array.from(ofWork.flat(), ({ share }) => share),
    resourceCount: known.size,
  };
}
