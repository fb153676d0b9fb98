import type { GraphNode } from "../tensor-graph/graph.ts";
import type { Computation, NpuGroups } from "../workload/layer-work.ts";
import { updateComputation } from "../workload/sharing.ts";
import type { Lane, TaskList, table, Work } from "../workload/step-tasks.ts";
import { type AxisSet, groupSize, type Mesh, meshGroups } from "./mesh.ts";
import type { MoveKind } from "./patterns.ts";
import type { StagePlan } from "./pipeline.ts";
import { RESULT, type WorkRule } from "./rules.ts";
import type { PlanStep, PlanValue } from "./steps.ts";
import { pieceMove, type StreamedRule, streamed } from "./streams.ts";
import { tensorBytes, workOf } from "./work.ts";

/** Returns the names of axes, as "dp x tp". */
export const axesText = ({ axes }: Mesh, set: AxisSet): string =>
  axes
    .filter((_, j) => (set >> j) & 1)
    .map(({ name }) => name)
    .join(" x ");

type Computed = Extract<PlanStep, { kind: "compute" | "update" }>;

/** Forward, backward, gradients, update: PHASE_NAMES of a step's tasks. */
const [FORWARD, BACKWARD, GRADIENTS, UPDATE] = [0, 1, 2, 3] as const;

/** Copies of parameters of less than this part of the greatest do not hold up those after the next. */
const LEAST_FETCHED = 1 / 256;

/** Tables that all stages of a step put their tasks into. */
export interface TaskTables {
  readonly tasks: TaskList;
  readonly lanes: ReturnType<typeof table<Lane>>;
  readonly works: ReturnType<typeof table<Work>>;
  readonly labels: ReturnType<typeof table<string>>;
}

/** A stage whose tasks are laid out part by part. */
export interface StageTasks {
  /** Adds tasks of steps of a pass; the last pass of `passes` updates. */
  readonly add: (steps: readonly PlanStep[], pass: number) => void;
  /** [values] the task that makes each in a pass; -1: it was there before. */
  readonly madeBy: (pass: number) => Int32Array;
  /** Lets the update wait for a task more. */
  readonly waitFor: (task: number) => void;
}

/**
 * Returns what lays out a stage's part of the tasks of a step: all NPUs of the stage do the same, so they are one actor; it
 * computes one node at a time in the order of the plan, and collectives of the same axes take turns. Copies of parameters are
 * fetched ahead, the next one while the node before the one that takes it computes (small ones sooner); pieces of streamed products move while others
 * are computed with; sums of gradients go on beside what follows, and the update waits for all of them. `comes`: placeholders that
 * other stages send. O(steps).
 */
export function stageTasks(
  { plan, steps: { values, steps }, terms }: StagePlan,
  passes: number,
  stage: number,
  comes: ReadonlySet<number>,
  { tasks, lanes, works, labels }: TaskTables,
): StageTasks {
  const { graph, mesh, nodes: plans } = plan;
  const actor = stage;
  const compute = lanes.of(`${stage} compute`, () => ({ actor, name: "compute", computes: true, inOrder: true }));
  const amongOf = new Map<AxisSet, NpuGroups>();
  const nodeOf = ({ node }: { readonly node: number }): GraphNode => graph.nodes[node] as GraphNode;
  const label = (step: PlanStep): number => labels.of(nodeOf(step).name, () => nodeOf(step).name);
  const among = (axes: AxisSet): NpuGroups => {
    const known = amongOf.get(axes) ?? {
      size: groupSize(mesh, axes),
      members: meshGroups(mesh, axes).map((npu) => npu + stage * mesh.npuCount),
      name: axesText(mesh, axes),
    };
    amongOf.set(axes, known);
    return known;
  };
  const computationOf = (step: Computed): Computation => {
    const node = nodeOf(step);
    if (step.kind === "compute") return workOf(graph, mesh, node, plans[step.node]?.rule as WorkRule);
    const own = (values[step.makes] as PlanValue).bytes / node.elementBytes;
    const { gradientBytes: gradient, optimizerBytes: optimizer } = terms;
    return updateComputation(own, { weight: node.elementBytes, gradient, optimizer });
  };
  const addComputation = (step: Computed, phase: number, microBatch: number, waits: readonly number[]): number => {
    const work = works.of(`${stage} ${step.kind} ${graph.classes[step.node]}`, () => ({
      kind: "computations",
      computations: [computationOf(step)],
    }));
    return tasks.add(work, compute, label(step), phase, microBatch, waits);
  };
  const addCollective = (
    step: PlanStep,
    { kind, axes, bytes }: { readonly kind: MoveKind; readonly axes: AxisSet; readonly bytes: number },
    phase: number,
    microBatch: number,
    waits: readonly number[],
  ): number => {
    const { name } = nodeOf(step);
    const work = works.of(`${stage} ${kind} ${axes} ${bytes}`, () => ({
      kind: "communication",
      stage,
      communication: { name, collective: kind, group: "all", among: among(axes), bytes },
    }));
    const lane = lanes.of(`${stage} ${axes}`, () => ({
      actor,
      name: axesText(mesh, axes),
      computes: false,
      inOrder: false,
    }));
    return tasks.add(work, lane, label(step), phase, microBatch, waits);
  };
  /** Adds a product and the collectives of its pieces, each beside the product of another piece; returns the last. */
  const addStreamed = (
    step: Extract<PlanStep, { kind: "compute" }>,
    rule: StreamedRule,
    phase: number,
    microBatch: number,
    waitsFor: (values: readonly number[]) => readonly number[],
  ): number => {
    const { of, pieces } = rule.stream;
    const move = pieceMove(graph, mesh, nodeOf(step), rule);
    const waits = waitsFor(step.takes);
    const done: number[] = [];
    for (let piece = 0; piece < pieces; piece++) {
      // there is room for two pieces
      const room = done.slice(Math.max(0, piece - 2), Math.max(0, piece - 1));
      if (of === RESULT) {
        const summand = addComputation(step, phase, microBatch, piece === 0 ? waits : room);
        done.push(addCollective(step, move, phase, microBatch, [summand]));
      } else {
        const begins = piece === 0 ? waitsFor([step.takes[of] as number]) : room;
        const gathered = addCollective(step, move, phase, microBatch, begins);
        done.push(addComputation(step, phase, microBatch, [gathered, ...(piece === 0 ? waits : [])]));
      }
    }
    return done[pieces - 1] as number;
  };
  /** Adds the collectives of a move one behind the other; returns the last. */
  const addMove = (
    step: Extract<PlanStep, { kind: "move" }>,
    phase: number,
    microBatch: number,
    after: readonly number[],
  ): number => {
    let waits = after;
    for (const { kind, axes, parts } of step.moves) {
      const bytes = tensorBytes(graph, nodeOf(step)) / parts;
      waits = [addCollective(step, { kind, axes, bytes }, phase, microBatch, waits)];
    }
    // what was only cut out of something waits for what made that
    return waits[0] ?? -1;
  };

  const updated = new Set(steps.filter(({ kind }) => kind === "update").map(({ makes }) => makes));
  const isUpdating = ({ kind, takes }: PlanStep): boolean => kind === "update" || updated.has(takes[0] as number);
  const gradients = new Set(graph.gradients.map(({ gradient }) => gradient));
  /** Values that nodes take, which sums for the update are not. */
  const taken = new Set(steps.filter(({ kind }) => kind === "compute").flatMap(({ takes }) => takes));
  /** Whether a value is a parameter that was brought. */
  const isFetched = (at: number): boolean =>
    nodeOf(values[at] as PlanValue).kind === "placeholder" && !comes.has((values[at] as PlanValue).node);
  const fetched = steps.filter(({ kind, makes }) => kind === "move" && isFetched(makes));
  /** Less is there beside what else is fetched. */
  const least = LEAST_FETCHED * Math.max(0, ...fetched.map(({ makes }) => (values[makes] as PlanValue).bytes));
  /** Computations that took a copy of a parameter, the last two: the copy after the next begins when the first is done. */
  let takers: number[] = [];
  const sums: number[] = [];

  /** [passes][values] */
  const madeByPass = Array.from({ length: passes }, () => new Int32Array(values.length).fill(-1));
  const add: StageTasks["add"] = (part, pass) => {
    const madeBy = madeByPass[pass] as Int32Array;
    const isLast = pass === passes - 1;
    const waitsFor = (takes: readonly number[]): number[] => [
      ...new Set(takes.map((at) => madeBy[at] as number).filter((task) => task >= 0)),
    ];
    for (const step of part) {
      if (isUpdating(step) && !isLast) continue;
      const { kind, phase } = nodeOf(step);
      const own = phase === "forward" ? FORWARD : BACKWARD;
      const waits = waitsFor(step.takes);
      if (step.kind === "answer") madeBy[step.makes] = waits[0] ?? -1;
      else if (step.kind === "update") {
        // those behind the first one wait for it
        madeBy[step.makes] = addComputation(step, UPDATE, -1, [...new Set([...waits, ...sums.splice(0)])]);
      } else if (step.kind === "compute") {
        const rule = streamed(plans[step.node]?.rule);
        const when = step.isAgain ? BACKWARD : own;
        const task =
          rule === null ? addComputation(step, when, pass, waits) : addStreamed(step, rule, when, pass, waitsFor);
        madeBy[step.makes] = task;
        const holds = (at: number): boolean =>
          isFetched(at) && (madeBy[at] as number) >= 0 && (values[at] as PlanValue).bytes >= least;
        if (step.takes.some(holds)) takers = [...takers.slice(-1), task];
      } else if (isUpdating(step)) madeBy[step.makes] = addMove(step, UPDATE, pass, waits);
      else if (gradients.has(step.node) && !taken.has(step.makes)) {
        if (plans[step.node]?.isSummedOnce === true && !isLast) continue;
        const task = addMove(step, GRADIENTS, pass, waits);
        madeBy[step.makes] = task;
        if (task >= 0) sums.push(task);
      } else {
        // parameters are fetched ahead: when the copy before the last was done with
        const ahead = kind === "placeholder" && !comes.has(step.node) && takers.length > 1 ? takers.slice(0, 1) : [];
        madeBy[step.makes] = addMove(step, own, pass, [...waits, ...ahead]);
      }
    }
  };
  return { add, madeBy: (pass) => madeByPass[pass] as Int32Array, waitFor: (task) => sums.push(task) };
}
