import { InputError } from "../../base/errors.ts";
import type { StagedGraph, StagePlace } from "../../model/tensor-graph/stages.ts";
import {
  type PipelinePlan,
  type PlanSections,
  type StagePlan,
  sectionsOf,
  valueOfNode,
} from "../../model/tensor-plan/pipeline.ts";
import type { NodePlan } from "../../model/tensor-plan/plan.ts";
import { sendBetween } from "../../model/tensor-plan/sends.ts";
import type { PlanValue } from "../../model/tensor-plan/steps.ts";
import { type Carrier, type Lying, picked, type ShardedRun, shardedRun } from "./sharded.ts";

/** What the stages of a pipeline make. */
export interface PipelineResult {
  /** [outputs of the whole graph] */
  readonly outputs: readonly Float64Array[];
  /** [stages][gradients of its graph] the parameter less its gradient, summed over all stages that have it. */
  readonly updated: readonly (readonly Float64Array[])[];
}

/**
 * Runs a pass of stages on small tensors: all forward parts one behind the other, then the backward parts, then updates. What crosses
 * goes part by part from NPU to NPU, as `sendBetween` says. `given`: [stages] whole tensors of placeholders that no stage sends.
 * Throws InputError as `runSharded`, and where an NPU does not get each element once.
 */
export function runPipeline(
  pipeline: PipelinePlan & { readonly staged: StagedGraph },
  given: readonly ReadonlyMap<number, Float64Array>[],
  carrier: Carrier,
): PipelineResult {
  const { stages, staged } = pipeline;
  const runs = stages.map(({ plan, steps }, s) =>
    shardedRun(plan, steps, given[s] as ReadonlyMap<number, Float64Array>, carrier),
  );
  const sections = stages.map(sectionsOf);
  const stageAt = (s: number): StagePlan => stages[s] as StagePlan;
  const runAt = (s: number): ShardedRun => runs[s] as ShardedRun;
  const pass = (s: number, part: keyof PlanSections): void => {
    runAt(s).run((sections[s] as PlanSections)[part]);
    for (const { from, to } of staged.crossings) {
      const phase = stageAt(s).plan.graph.nodes[from.node]?.phase;
      if (from.stage !== s || phase !== part) continue;
      const pattern = (stageAt(to.stage).plan.nodes[to.node] as NodePlan).pattern;
      runAt(to.stage).receive(to.node, sent(from, valueOfNode(stageAt(s), from.node), to, pattern));
    }
  };
  /** Returns a value of a stage as it comes to another in a pattern there. */
  const sent = (from: StagePlace, value: number, to: StagePlace, pattern: number): Lying => {
    const { plan, steps } = stageAt(from.stage);
    const own = (steps.values[value] as PlanValue).pattern;
    const { members, parts } = sendBetween(plan.mesh, own, pattern);
    const { blocks } = runAt(from.stage).lying(value, own);
    const node = (steps.values[value] as PlanValue).node;
    const came: Map<number, number>[] = blocks.map(() => new Map());
    for (let at = 0; at < members.length; at += 2) {
      const [sender, receiver] = [members[at] as number, members[at + 1] as number];
      const has = runAt(from.stage).placesOf(node, own, sender);
      const wants = new Set(runAt(to.stage).placesOf(to.node, pattern, receiver));
      const places = has.filter((place) => wants.has(place));
      picked(has, blocks[sender] as Float64Array, places).forEach((element, i) => {
        const map = came[receiver] as Map<number, number>;
        if (map.has(places[i] as number)) throw notOnce(plan.graph.nodes[node]?.name);
        map.set(places[i] as number, element);
      });
      const whole = (plan.graph.nodes[node]?.dims ?? []).reduce(
        (all, dim) => all * (plan.graph.dimensions[dim]?.size as number),
        1,
      );
      if (places.length * parts !== whole) throw notOnce(plan.graph.nodes[node]?.name);
    }
    return {
      pattern,
      blocks: came.map((map, npu) => {
        const places = runAt(to.stage).placesOf(to.node, pattern, npu);
        if (places.some((place) => !map.has(place))) throw notOnce(plan.graph.nodes[node]?.name);
        return Float64Array.from(places, (place) => map.get(place) as number);
      }),
    };
  };

  stages.forEach((_, s) => {
    pass(s, "forward");
  });
  stages.forEach((_, k) => {
    pass(stages.length - 1 - k, "backward");
  });
  // nobody has updated before all gradients went round
  const arrivals: { readonly to: StagePlace; readonly tensor: Lying }[] = [];
  for (const places of staged.shared) {
    for (const from of places) {
      for (const to of places) {
        if (from.stage === to.stage) continue;
        const update = (sections[from.stage] as PlanSections).update.find(
          ({ kind, node }) => kind === "update" && node === from.node,
        );
        const { home } = stageAt(to.stage).plan.nodes[to.node] as NodePlan;
        arrivals.push({ to, tensor: sent(from, update?.takes[0] as number, to, home) });
      }
    }
  }
  for (const { to, tensor } of arrivals) runAt(to.stage).receive(to.node, tensor);
  stages.forEach((_, s) => {
    runAt(s).run((sections[s] as PlanSections).update);
  });
  return {
    outputs: staged.outputs.map(({ stage, node }) => runAt(stage).whole(valueOfNode(stageAt(stage), node))),
    updated: stages.map(({ steps }, s) => steps.updated.map((value) => runAt(s).whole(value))),
  };
}

const notOnce = (name: string | undefined): InputError =>
  new InputError(`what comes of ${name}`, "each element once, in equal parts");
