import { toUs } from "../../model/numbers/units.ts";
import { planCollectives } from "../../model/tensor-plan/collectives.ts";
import type { Topology } from "../../model/topology/topology.ts";
import type { Accelerator } from "../../model/workload/accelerators.ts";
import { askedCollective } from "../../model/workload/asked-collective.ts";
import { type HandRow, handText, type NextRow } from "../../report/plan-why.ts";
import { topologySummary } from "../../report/result.ts";
import { type CostedCollective, patternText, plannedTensors, planRow } from "../../report/tensor-plan.ts";
import type { ActorTime } from "../../simulate/workload/exposure.ts";
import type { CommunicationCost } from "../training/costs.ts";
import { type HandClass, partsOfStep } from "./by-hand.ts";
import type { NextState, TensorState } from "./next-states.ts";
import type { Planned, PlanRequest } from "./plan.ts";
import type { PlannedStep } from "./ways.ts";

export type PlanReport = ReturnType<typeof planReport>;

/** What was planned, in words and figures that no search changes. */
export interface PlanSubject {
  readonly name: string;
  readonly source: string;
  readonly parameters: number;
}

/** Returns the distinct collectives of a plan with what they take, those that take most of the step first. */
function costedCollectives(planned: PlannedStep, npuCount: number): CostedCollective[] {
  const { placed, simulated } = planned;
  const costs = new Map<string, CommunicationCost>();
  placed.tasks.works.forEach((work, w) => {
    const [cost, groups] = [simulated.costs[w], placed.groups[w]];
    if (work.kind !== "communication" || !cost || !groups) return;
    const { collective, bytes } = work.communication;
    if (collective !== "send") costs.set(JSON.stringify(askedCollective(npuCount, collective, groups, bytes)), cost);
  });
  return planCollectives(planned, npuCount)
    .map(({ asked, axes, groupCount, groupSize, times }) => {
      const { ps, algorithm } = costs.get(JSON.stringify(asked)) as CommunicationCost;
      return {
        collective: asked.collective,
        axes,
        groupCount,
        groupSize,
        bytes: asked.sizeBytes,
        times,
        us: toUs(ps),
        algorithm,
      };
    })
    .sort((a, b) => b.times * b.us - a.times * a.us);
}

/** Returns where a step's time goes, as shares of it, the mean of all stages: computing, waiting by axes, and for other stages. */
function sharesOf({ simulated: { actors, times } }: PlannedStep): {
  readonly compute: number;
  readonly bubble: number;
  readonly exposed: Record<string, number>;
} {
  const share = (ps: number): number => ps / times.ps / actors.length;
  const exposed: Record<string, number> = {};
  for (const { exposedPs } of actors) {
    for (const [group, ps] of exposedPs) exposed[group] = (exposed[group] ?? 0) + share(ps);
  }
  const sum = (of: (actor: ActorTime) => number): number => share(actors.reduce((all, actor) => all + of(actor), 0));
  return { compute: sum(({ computePs }) => computePs), bubble: sum(({ bubblePs }) => bubblePs), exposed };
}

/** Returns what the report says of a class of hand-made plans beside the best plan. */
function handRow({ hand, split, ps, isSimulated, memoryBytes, parts }: HandClass, best: PlannedStep): HandRow {
  const { shape, passes } = split;
  const own = partsOfStep(best);
  const names = parts === null ? [] : [...new Set([...parts.waitPs.keys(), ...own.waitPs.keys()])];
  return {
    name: handText(hand, shape),
    mesh: shape.mesh.axes.map(({ name, size }) => ({ name, size })),
    stages: shape.stages,
    passes,
    remaking: hand.remaking,
    memoryBytes,
    us: ps === null ? null : toUs(ps),
    isSimulated,
    moreUs: ps === null ? null : toUs(ps - best.ps),
    moreComputeUs: parts && toUs(parts.computePs - own.computePs),
    moreWaitUs: Object.fromEntries(
      names.map((name) => [name, toUs((parts?.waitPs.get(name) ?? 0) - (own.waitPs.get(name) ?? 0))]),
    ),
  };
}

/** Returns what the report says of the next best state of some tensors. */
function nextRow({ graph, mesh, node, count, of, now, instead, ps, bytes, fits }: NextState, stage: number): NextRow {
  const state = ({ pattern, retention }: TensorState) => ({ lies: patternText(graph, mesh, node, pattern), retention });
  return { stage, name: node.name, count, of, now: state(now), instead: state(instead), us: toUs(ps), bytes, fits };
}

/** Returns what `plan --json` prints: schema banyan/plan@1. */
export function planReport(
  { name, source, parameters }: PlanSubject,
  topology: Topology,
  {
    batch,
    precision,
    accelerator,
    memoryBytes,
    algorithm,
  }: Pick<PlanRequest, "batch" | "precision" | "memoryBytes" | "algorithm"> & { readonly accelerator: Accelerator },
  { best, others, byHand, classes, nextStates, boundPs, gap, leftFreeBytes, how, looked, searched }: Planned,
) {
  return {
    schema: "banyan/plan@1" as const,
    topology: topologySummary(topology),
    model: { name, source, parameters },
    accelerator: { name: accelerator.name, memoryBytes: accelerator.memoryBytes, source: accelerator.source },
    step: { batch, precision, collectives: algorithm, memoryBytes },
    plan: planRow(best),
    shares: sharesOf(best),
    search: { boundUs: toUs(boundPs), gap, leftFreeBytes, how, looked, searched },
    byHand: byHand === null ? null : { ...planRow(byHand), hand: byHand.hand },
    others: others.map(planRow),
    classes: classes.map((one) => handRow(one, best)),
    nextStates: nextStates.flatMap((states, s) => states.map((state) => nextRow(state, s + 1))),
    collectives: costedCollectives(best, topology.npuCount),
    tensors: best.stages.flatMap(({ plan }, s) => plannedTensors(plan, s + 1)),
  };
}
