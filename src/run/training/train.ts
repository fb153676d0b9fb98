import { shiftedLinks } from "../../model/symmetry/shift.ts";
import type { Topology } from "../../model/topology/topology.ts";
import type { Computation } from "../../model/workload/layer-work.ts";
import type { GroupName } from "../../model/workload/parallelism.ts";
import type { PlacedTasks } from "../../model/workload/placed-tasks.ts";
import { inOneStream, type StepTasks, type Work } from "../../model/workload/step-tasks.ts";
import { type ActorTime, exposureOf } from "../../simulate/workload/exposure.ts";
import { type StepTimes, simulateStep, type WorkCosts } from "../../simulate/workload/step.ts";
import type { CommunicationCost, CostOf } from "./costs.ts";

/** What simulating a step needs besides the step. */
export interface TrainOptions {
  /** Returns what communications take. */
  readonly costOf: CostOf;
  /** Returns how long a computation takes on one NPU; picoseconds, a whole number. */
  readonly computationPs: (computation: Computation) => number;
  /** Sums of gradients get of shared links what other communications leave. */
  readonly blockingFirst?: boolean | undefined;
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

/**
 * Returns tasks simulated on a network whose first NPUs are theirs, all groups that do the same communicating at once. Rejects as
 * the costs do.
 */
export async function simulateTraining(
  topology: Topology,
  placed: PlacedTasks,
  { costOf, computationPs, blockingFirst = false, oneStream = false }: TrainOptions,
): Promise<TrainedStep> {
  const tasks = oneStream ? inOneStream(placed.tasks) : placed.tasks;
  const shifts = new Map<number, Int32Array | null>();
  const costs: (CommunicationCost | null)[] = [];
  for (const w of tasks.works.keys()) costs.push(await costOfWork(topology, placed, w, costOf, shifts));
  const ps = Float64Array.from(tasks.works, (work, w) =>
    work.kind === "computations"
      ? work.computations.reduce((all, one) => all + computationPs(one), 0)
      : (costs[w] as CommunicationCost).ps,
  );
  const times = simulateStep(tasks, {
    ...sharedLinks(tasks, costs),
    ps,
    latencyPs: new Float64Array(ps.length),
    priority: Int32Array.from(tasks.works, (work) => (blockingFirst && sumsGradients(work) ? 1 : 0)),
  });
  return { tasks, times, actors: exposureOf(tasks, times), costs };
}

/** Who sums gradients, which nothing but the update waits for. */
const COPIES: readonly GroupName[] = ["data", "copies", "expertCopies"];

const sumsGradients = (work: Work): boolean =>
  work.kind === "communication" && COPIES.includes(work.communication.group);

/**
 * Returns what a communication takes, null of computations: where the network looks the same from the first actor, what it takes
 * there, so that the stages of a pipeline are made once.
 */
async function costOfWork(
  topology: Topology,
  { tasks, npus, groups }: PlacedTasks,
  w: number,
  costOf: CostOf,
  shifts: Map<number, Int32Array | null>,
): Promise<CommunicationCost | null> {
  const work = tasks.works[w];
  const own = groups[w];
  if (work.kind === "computations" || own === null) return null;
  const { collective, bytes } = work.communication;
  const by = (npus[work.stage]?.[0] ?? 0) - (npus[0]?.[0] ?? 0);
  if (by <= 0) return costOf(collective, own, bytes);
  if (!shifts.has(by)) shifts.set(by, shiftedLinks(topology, by));
  const linkImage = shifts.get(by) ?? null;
  if (linkImage === null) return costOf(collective, own, bytes);
  const { npuCount } = topology;
  const members = own.members.map((npu) => (npu - by + npuCount) % npuCount);
  const cost = await costOf(collective, { ...own, members }, bytes);
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
