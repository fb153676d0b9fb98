import { describe, expect, it } from "vitest";
import type { TensorGraph } from "../../../src/model/tensor-graph/graph.ts";
import { mlpGraph } from "../../../src/model/tensor-graph/models/mlp.ts";
import { transformerGraph } from "../../../src/model/tensor-graph/models/transformer.ts";
import { cutParts, type StagedGraph, stagedGraph } from "../../../src/model/tensor-graph/stages.ts";
import { planMemory } from "../../../src/model/tensor-plan/lifetimes.ts";
import { shardCount } from "../../../src/model/tensor-plan/patterns.ts";
import { type StagePlan, sectionsOf } from "../../../src/model/tensor-plan/pipeline.ts";
import { pipelineTasks } from "../../../src/model/tensor-plan/pipeline-tasks.ts";
import type { PlanStep } from "../../../src/model/tensor-plan/steps.ts";
import { tensorBytes } from "../../../src/model/tensor-plan/work.ts";
import { passesOf } from "../../../src/model/workload/pipeline.ts";
import { SMALL_LLAMA, TERMS } from "../../support/small-plans.ts";
import { randomPlans, randomStages } from "../../support/staged-plans.ts";

const PASSES = 5;
const sizes = { batch: 4, sequence: 4, precision: "bf16" } as const;
const CASES: readonly (readonly [string, TensorGraph, boolean, readonly number[], number, number])[] = [
  ["perceptrons", mlpGraph([8, 16, 8, 4, 8], 8), false, [2, 2], 3, 20],
  ["transformers of one embedding", transformerGraph({ ...SMALL_LLAMA, tied: true }, sizes), true, [2], 4, 4],
];

/** Calls `visit` with so many random plans of a graph cut at random. */
function eachPipeline(
  [, graph, isCut, shape, count, times]: (typeof CASES)[number],
  visit: (staged: StagedGraph, stages: StagePlan[]) => void,
): void {
  let tried = 0;
  for (let seed = 0; tried < times && seed < 50 * times; seed++) {
    const stageOf = randomStages(graph, isCut ? cutParts(graph) : null, count, seed);
    if (stageOf === null) continue;
    const staged = stagedGraph(graph, stageOf, count);
    const stages = randomPlans(staged, shape, { ...TERMS, microBatches: PASSES }, seed);
    if (stages === null) continue;
    tried++;
    visit(staged, stages);
  }
  expect(tried).toBe(times);
}

describe("tasks of a pipeline", () => {
  it.each(CASES)("of %s are passes in 1F1B order, with a send of all that crosses in each", (...one) => {
    eachPipeline(one, (staged, stages) => {
      const { tasks, groups, npus, npuCount } = pipelineTasks({ stages, staged }, PASSES);
      const size = npuCount / stages.length;
      stages.forEach((stage, s) => {
        const { forward, backward } = sectionsOf(stage);
        const count = (steps: readonly PlanStep[]): number => steps.filter(({ kind }) => kind === "compute").length;
        const found = [...tasks.work.keys()].filter((t) => {
          const { actor, computes } = tasks.lanes[tasks.lane[t] as number] as { actor: number; computes: boolean };
          return actor === s && computes && tasks.microBatch[t] >= 0;
        });
        const shape = { stages: stages.length, interleaved: 1, microBatches: PASSES };
        const expected = passesOf(shape, s, "1f1b", true).flatMap(({ microBatch, backward: back }) =>
          Array(count(back ? backward : forward)).fill(microBatch),
        );
        expect(found.map((t) => tasks.microBatch[t])).toEqual(expected);
        expect([...(npus[s] as Int32Array)]).toEqual(Array.from({ length: size }, (_, npu) => s * size + npu));
      });
      const sends = [...tasks.work].filter((w) => {
        const work = tasks.works[w];
        return work?.kind === "communication" && work.communication.collective === "send";
      });
      const shared = staged.shared.reduce((all, { length }) => all + length * (length - 1), 0);
      expect(sends.length).toBe(PASSES * staged.crossings.length + shared);
      tasks.works.forEach((work, w) => {
        if (work.kind !== "communication") return;
        const stagesOf = [...(groups[w]?.members ?? [])].map((npu) => Math.floor(npu / size));
        const own = work.communication.collective === "send" ? 2 : 1;
        expect(new Set(stagesOf).size).toBe(own);
        expect(stagesOf[0]).toBe(work.stage);
      });
      // nobody waits for what comes later
      for (let t = 0; t < tasks.work.length; t++) {
        for (let k = tasks.offset[t] as number; k < (tasks.offset[t + 1] as number); k++)
          expect(tasks.awaited[k]).toBeLessThan(t);
      }
    });
  });

  it.each(CASES)("of %s keep in memory what the passes under way take, pass by pass", (...one) => {
    eachPipeline(one, (staged, stages) => {
      stages.forEach((stage, s) => {
        const { plan, steps, terms } = stage;
        const { graph, nodes, mesh } = plan;
        const memory = planMemory(plan, steps, terms);
        const bytes = (value: number): number => steps.values[value]?.bytes ?? 0;
        const sections = sectionsOf(stage);
        const order = [...sections.forward, ...sections.backward];
        const sum = (values: readonly number[]): number => values.reduce((all, value) => all + bytes(value), 0);
        const comesEachPass = steps.given.filter((value) => {
          const node = graph.nodes[steps.values[value]?.node as number];
          return node?.kind === "placeholder" && node.role === "input" && node.phase === "forward";
        });
        const lasts = steps.given.filter((value) => !comesEachPass.includes(value));
        const made = order.map(({ makes }) => makes);
        const last = new Map(made.map((value) => [value, order.findLastIndex(({ takes }) => takes.includes(value))]));
        const kept = made.filter((value) => {
          const step = order[made.indexOf(value)] as PlanStep;
          return step.kind === "compute" && nodes[step.node]?.retention === "kept";
        });
        let most = 0;
        /** Passes whose forward part is done and whose backward part is not. */
        const open = new Set<number>();
        const shape = { stages: stages.length, interleaved: 1, microBatches: PASSES };
        for (const { microBatch, backward } of passesOf(shape, s, "1f1b", true)) {
          open.delete(microBatch);
          const part = backward ? sections.backward : sections.forward;
          const begin = backward ? sections.forward.length : 0;
          part.forEach((_, k) => {
            const at = begin + k;
            const live = made.filter((value, i) => i === at || (i < at && (last.get(value) as number) >= at));
            most = Math.max(most, sum(live) + sum(comesEachPass) + open.size * (sum(kept) + sum(comesEachPass)));
          });
          if (!backward) open.add(microBatch);
        }
        const received = graph.gradients.reduce((all, { parameter }) => {
          const others = staged.shared.find((places) => places.some((at) => at.stage === s && at.node === parameter));
          const node = graph.nodes[parameter];
          if (others === undefined || node === undefined) return all;
          const own = tensorBytes(graph, node) / shardCount(mesh, nodes[parameter]?.home as number);
          return all + own * (others.length - 1);
        }, 0);
        const alone = planMemory(plan, steps, { ...terms, inFlight: 1, gradientsFrom: new Map() });
        expect(memory.gradients).toBeCloseTo(alone.gradients + received, 6);
        expect(memory.total).toBeCloseTo(sum(lasts) + memory.gradients + memory.optimizer + most, 6);
      });
    });
  });
});
