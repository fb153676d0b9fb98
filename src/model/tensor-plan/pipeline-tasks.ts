import type { StagePlace } from "../tensor-graph/stages.ts";
import type { NpuGroups } from "../workload/layer-work.ts";
import { type PipelinePass, passesOf } from "../workload/pipeline.ts";
import type { PlacedTasks } from "../workload/placed-tasks.ts";
import { type Lane, TaskList, table, type Work } from "../workload/step-tasks.ts";
import { type PipelinePlan, type PlanSections, type StagePlan, sectionsOf, valueOfNode } from "./pipeline.ts";
import type { NodePlan } from "./plan.ts";
import { sendBetween } from "./sends.ts";
import type { PlanValue } from "./steps.ts";
import { type StageTasks, stageTasks, type TaskTables } from "./tasks.ts";
import { tensorBytes } from "./work.ts";

/**
 * Returns a plan as the tasks of a step: an actor a stage, which takes its passes in the order of 1F1B (PipeDream-Flush), sends what
 * crosses as soon as it is made, and updates when all gradients are summed, over stages that share a parameter too. `passes` of the
 * micro batches are laid out. O(passes x (steps + crossings x NPUs)).
 */
export function pipelineTasks({ stages, staged }: PipelinePlan, passes: number): PlacedTasks {
  const count = stages.length;
  const tables: TaskTables = {
    tasks: new TaskList(),
    lanes: table<Lane>(),
    works: table<Work>(),
    labels: table<string>(),
  };
  const { tasks, lanes, works, labels } = tables;
  const crossings = staged?.crossings ?? [];
  const sections = stages.map(sectionsOf);
  const stageAt = (s: number): StagePlan => stages[s] as StagePlan;
  const { mesh } = stageAt(0).plan;
  const laid = stages.map((stage, s) => {
    const comes = new Set(crossings.filter(({ to }) => to.stage === s).map(({ to }) => to.node));
    return stageTasks(stage, passes, s, comes, tables);
  });
  const tasksAt = (s: number): StageTasks => laid[s] as StageTasks;

  /** Adds what one stage sends another of a value; returns the task. */
  const send = (
    from: StagePlace,
    value: number,
    to: StagePlace,
    pattern: number,
    pass: number,
    phase: number,
  ): number => {
    const { plan, steps } = stageAt(from.stage);
    const { node, pattern: own } = steps.values[value] as PlanValue;
    const one = plan.graph.nodes[node];
    const bytes = one === undefined ? 0 : tensorBytes(plan.graph, one);
    const { members, parts } = sendBetween(mesh, own, pattern);
    const name = `to stage ${to.stage + 1}`;
    const work = works.of(`${from.stage} ${to.stage} ${own} ${pattern} ${bytes}`, () => ({
      kind: "communication",
      stage: from.stage,
      communication: {
        name,
        collective: "send",
        group: "pipeline",
        bytes: bytes / parts,
        among: {
          size: 2,
          members: members.map((npu, k) => npu + mesh.npuCount * (k % 2 === 0 ? from.stage : to.stage)),
          name: "stages",
        } satisfies NpuGroups,
      },
    }));
    const lane = lanes.of(`${from.stage} ${name}`, () => ({
      actor: from.stage,
      name,
      computes: false,
      inOrder: false,
    }));
    const waits = [tasksAt(from.stage).madeBy(pass)[value] as number].filter((task) => task >= 0);
    return tasks.add(
      work,
      lane,
      labels.of(one?.name ?? "", () => one?.name ?? ""),
      phase,
      pass,
      waits,
    );
  };
  const sentOf = stages.map((stage, s) =>
    crossings
      .filter(({ from }) => from.stage === s)
      .map(({ from, to }) => ({
        from,
        to,
        value: valueOfNode(stage, from.node),
        arrival: valueOfNode(stageAt(to.stage), to.node),
        isBackward: stage.plan.graph.nodes[from.node]?.phase === "backward",
      })),
  );
  /** [stages] those that send to it in a forward, and in a backward pass. */
  const sendersOf = stages.map((_, s) =>
    [false, true].map((isBackward) => [
      ...new Set(
        sentOf
          .flatMap((all) => all.filter(({ to, isBackward: is }) => to.stage === s && is === isBackward))
          .map(({ from }) => from.stage),
      ),
    ]),
  );
  const shape = { stages: count, interleaved: 1, microBatches: passes };
  const waiting = stages.map((_, s) => passesOf(shape, s, "1f1b", true));
  /** [stages] passes done: forward, backward. */
  const done = stages.map(() => [0, 0]);
  const isReady = (s: number, { microBatch, backward }: PipelinePass): boolean =>
    sendersOf[s]?.[backward ? 1 : 0]?.every((from) => (done[from]?.[backward ? 1 : 0] ?? 0) > microBatch) === true;
  const lay = (s: number, { microBatch, backward }: PipelinePass): void => {
    const { forward, backward: back } = sections[s] as PlanSections;
    tasksAt(s).add(backward ? back : forward, microBatch);
    for (const { from, to, value, arrival, isBackward } of sentOf[s] ?? []) {
      if (isBackward !== backward) continue;
      const { pattern } = stageAt(to.stage).plan.nodes[to.node] as NodePlan;
      tasksAt(to.stage).madeBy(microBatch)[arrival] = send(from, value, to, pattern, microBatch, backward ? 1 : 0);
    }
    const own = done[s] as number[];
    own[backward ? 1 : 0] = microBatch + 1;
  };
  for (let left = 2 * passes * count; left > 0; ) {
    for (let s = 0; s < count; s++) {
      const own = waiting[s] as PipelinePass[];
      while (own.length > 0 && isReady(s, own[0] as PipelinePass)) {
        lay(s, own.shift() as PipelinePass);
        left--;
      }
    }
  }
  const last = passes - 1;
  for (const places of staged?.shared ?? []) {
    for (const from of places) {
      const update = (sections[from.stage] as PlanSections).update.find(
        ({ kind, node }) => kind === "update" && node === from.node,
      );
      const value = update?.takes[0] as number;
      for (const to of places) {
        if (to.stage === from.stage) continue;
        const { home } = stageAt(to.stage).plan.nodes[to.node] as NodePlan;
        tasksAt(to.stage).waitFor(send(from, value, to, home, last, 2));
      }
    }
  }
  stages.forEach((_, s) => {
    tasksAt(s).add((sections[s] as PlanSections).update, last);
  });
  return {
    tasks: tasks.columns({
      actors: stages.map((_, s) => (count === 1 ? "every NPU" : `stage ${s + 1}`)),
      lanes: lanes.all,
      works: works.all,
      labels: labels.all,
    }),
    npuCount: mesh.npuCount * count,
    npus: stages.map((_, s) => Int32Array.from({ length: mesh.npuCount }, (_, npu) => s * mesh.npuCount + npu)),
    groups: works.all.map((work) => (work.kind === "communication" ? (work.communication.among ?? null) : null)),
  };
}
