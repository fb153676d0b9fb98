import type { GraphNode } from "../tensor-graph/graph.ts";
import type { Computation, NpuGroups } from "../workload/layer-work.ts";
import type { PlacedTasks } from "../workload/placed-tasks.ts";
import { updateComputation } from "../workload/sharing.ts";
import { type Lane, TaskList, type Work } from "../workload/step-tasks.ts";
import { type AxisSet, groupSize, type Mesh, meshGroups } from "./mesh.ts";
import type { TensorPlan } from "./plan.ts";
import type { PlanTerms } from "./problem-of.ts";
import type { PlanStep, PlanSteps, PlanValue } from "./steps.ts";
import { tensorBytes, workOf } from "./work.ts";

/** Returns the names of axes, as "dp x tp". */
export const axesText = ({ axes }: Mesh, set: AxisSet): string =>
  axes
    .filter((_, j) => (set >> j) & 1)
    .map(({ name }) => name)
    .join(" x ");

/** Forward, backward, gradients, update: PHASE_NAMES of a step's tasks. */
const [FORWARD, BACKWARD, GRADIENTS, UPDATE] = [0, 1, 2, 3] as const;

/**
 * Returns a plan as the tasks of a step: all NPUs do the same, so they are one actor; it computes one node at a time in the order of
 * the plan, and collectives of the same axes take turns. Copies of parameters are fetched ahead, the next one while the node before
 * the one that takes it computes; sums of gradients go on beside what follows, and the update waits for all of them. `passes` of the
 * micro batches are laid out one behind the other. O(passes x steps).
 */
export function planTasks(
  plan: TensorPlan,
  { values, steps }: PlanSteps,
  terms: PlanTerms,
  passes: number,
): PlacedTasks {
  const { graph, mesh, nodes: plans } = plan;
  const tasks = new TaskList();
  const lanes: Lane[] = [{ actor: 0, name: "compute", computes: true, inOrder: true }];
  const laneOf = new Map<AxisSet, number>();
  const works: Work[] = [];
  const groups: (NpuGroups | null)[] = [];
  const workOfKey = new Map<string, number>();
  const labels: string[] = [];
  const labelOfNode = new Map<number, number>();

  const label = (node: number): number => {
    const known = labelOfNode.get(node) ?? labels.push((graph.nodes[node] as GraphNode).name) - 1;
    labelOfNode.set(node, known);
    return known;
  };
  const workNamed = (key: string, make: () => Work, among: () => NpuGroups | null): number => {
    const known = workOfKey.get(key);
    if (known !== undefined) return known;
    works.push(make());
    groups.push(among());
    workOfKey.set(key, works.length - 1);
    return works.length - 1;
  };
  const amongOf = new Map<AxisSet, NpuGroups>();
  const among = (axes: AxisSet): NpuGroups => {
    const known = amongOf.get(axes) ?? {
      size: groupSize(mesh, axes),
      members: meshGroups(mesh, axes),
      name: axesText(mesh, axes),
    };
    amongOf.set(axes, known);
    return known;
  };
  const computing = (step: PlanStep): number => {
    const node = graph.nodes[step.node] as GraphNode;
    const key = `${step.kind} ${graph.classes[step.node]}`;
    const make = (): Work => {
      let computation: Computation;
      if (step.kind === "update") {
        const own = (values[step.makes] as PlanValue).bytes / node.elementBytes;
        const { gradientBytes: gradient, optimizerBytes: optimizer } = terms;
        computation = updateComputation(own, { weight: node.elementBytes, gradient, optimizer });
      } else {
        const rule = plans[step.node]?.rule;
        if (rule === null || rule === undefined) throw new TypeError(node.name);
        computation = workOf(graph, mesh, node, rule);
      }
      return { kind: "computations", computations: [computation] };
    };
    return workNamed(key, make, () => null);
  };

  /** [values] the task that makes each in the pass that is laid out; -1: it was there before. */
  let madeBy = new Int32Array(values.length).fill(-1);
  let lastComputation = -1;
  /** Computations that took a copy of a parameter, the last two: the copy after the next begins when the first is done. */
  let takers: number[] = [];
  const sums: number[] = [];
  const isUpdating = (step: PlanStep): boolean => step.kind === "update" || isAfterUpdate.has(step.takes[0] as number);
  const isAfterUpdate = new Set(steps.filter(({ kind }) => kind === "update").map(({ makes }) => makes));
  const gradientNodes = new Set(graph.gradients.map(({ gradient }) => gradient));
  const isSum = (step: PlanStep): boolean =>
    step.kind === "move" && gradientNodes.has(step.node) && !lastTakenByNode.has(step.makes);
  /** Values that nodes take, which sums for the update are not. */
  const lastTakenByNode = new Set(steps.filter(({ kind }) => kind === "compute").flatMap(({ takes }) => takes));

  const addMove = (
    step: PlanStep & { kind: "move" },
    phase: number,
    microBatch: number,
    after: readonly number[],
  ): number => {
    const node = graph.nodes[step.node] as GraphNode;
    const bytes = tensorBytes(graph, node);
    let waits = after;
    let task = -1;
    for (const { kind, axes, parts } of step.moves) {
      const own = bytes / parts;
      const work = workNamed(
        `${kind} ${axes} ${own}`,
        () => ({
          kind: "communication",
          stage: 0,
          communication: { name: node.name, collective: kind, group: "all", among: among(axes), bytes: own },
        }),
        () => among(axes),
      );
      const lane =
        laneOf.get(axes) ?? lanes.push({ actor: 0, name: axesText(mesh, axes), computes: false, inOrder: false }) - 1;
      laneOf.set(axes, lane);
      task = tasks.add(work, lane, label(step.node), phase, microBatch, waits);
      waits = [task];
    }
    return task;
  };

  for (let pass = 0; pass < passes; pass++) {
    madeBy = new Int32Array(values.length).fill(-1);
    const isLast = pass === passes - 1;
    for (const step of steps) {
      if (isUpdating(step) && !isLast) continue;
      const waits = [...new Set(step.takes.map((at) => madeBy[at] as number).filter((task) => task >= 0))];
      const node = graph.nodes[step.node] as GraphNode;
      if (step.kind === "move") {
        if (isSum(step)) {
          if ((plans[step.node]?.isSummedOnce ?? false) && !isLast) continue;
          const task = addMove(step, GRADIENTS, pass, waits);
          madeBy[step.makes] = task;
          if (task >= 0) sums.push(task);
        } else if (node.kind === "placeholder" && !isUpdating(step)) {
          // fetched ahead: when the copy before the last was done with
          const ahead = takers.length > 1 ? [takers[takers.length - 2] as number] : [];
          madeBy[step.makes] = addMove(step, FORWARD, pass, [...waits, ...ahead]);
        } else madeBy[step.makes] = addMove(step, isUpdating(step) ? UPDATE : phaseOf(node), pass, waits);
        // what was only cut out of something waits for what made that
        if (madeBy[step.makes] === -1) madeBy[step.makes] = waits[0] ?? -1;
        continue;
      }
      if (step.kind === "update") {
        lastComputation = tasks.add(computing(step), 0, label(step.node), UPDATE, -1, [
          ...new Set([...waits, ...sums]),
        ]);
        madeBy[step.makes] = lastComputation;
        continue;
      }
      const phase = step.isAgain || node.phase === "backward" ? BACKWARD : FORWARD;
      lastComputation = tasks.add(computing(step), 0, label(step.node), phase, pass, waits);
      madeBy[step.makes] = lastComputation;
      const fetched = step.takes.some((at) => {
        const { node: of } = values[at] as PlanValue;
        return graph.nodes[of]?.kind === "placeholder" && (madeBy[at] as number) >= 0;
      });
      if (fetched) takers = [...takers.slice(-1), lastComputation];
    }
  }
  return {
    tasks: tasks.columns({ actors: ["every NPU"], lanes, works, labels }),
    npuCount: mesh.npuCount,
    npus: [Int32Array.from({ length: mesh.npuCount }, (_, npu) => npu)],
    groups,
  };
}

const phaseOf = ({ phase }: GraphNode): number => (phase === "forward" ? FORWARD : BACKWARD);
