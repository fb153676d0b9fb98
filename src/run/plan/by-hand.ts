import {
  type Chooser,
  type PlanChoice,
  type PlanProblem,
  planTotals,
  type Supply,
  type Uses,
} from "../../model/tensor-plan/problem.ts";
import { memoryOf, STEP_TIME, trafficOf } from "../../model/tensor-plan/problem-of.ts";
import { axesText } from "../../model/tensor-plan/tasks.ts";
import { AXIS_USES, type HandPlan, type MadeByHand } from "../../synthesize/plan/by-dimensions.ts";
import { memoryOfChoice, type SimulatedStep } from "./simulated.ts";
import type { PlannedStep, SearchedSplit, SearchedWay, Split } from "./ways.ts";

/** Hand-made plans by what people call them: the best of each, so that it can be said why it is not the plan. */

/** Where the time of a plan goes, picoseconds. */
export interface PlanParts {
  readonly computePs: number;
  /** By the axes that are waited for; "other stages" where a pipeline is. */
  readonly waitPs: ReadonlyMap<string, number>;
}

/** The best hand-made plan of those that are called the same. */
export interface HandClass {
  /** Of a stage. */
  readonly hand: HandPlan;
  readonly split: Pick<Split, "shape" | "passes">;
  /** What it takes, picoseconds: simulated, or by the search's count; null where it does not fit in memory. */
  readonly ps: number | null;
  readonly isSimulated: boolean;
  /** Of the NPU that needs most; null where that was not worked out. */
  readonly memoryBytes: number | null;
  /** Null of stages that were not simulated. */
  readonly parts: PlanParts | null;
}

/** So many of a class are tried for whether they fit by lifetimes, those that count least first. */
const MOST_TRIED = 3;

/** Returns where the time of a simulated plan goes, the mean of its stages. */
export function partsOfStep({ simulated: { actors } }: PlannedStep): PlanParts {
  const waitPs = new Map<string, number>();
  const add = (name: string, ps: number): void => {
    if (ps > 0) waitPs.set(name, (waitPs.get(name) ?? 0) + ps / actors.length);
  };
  for (const { exposedPs, bubblePs } of actors) {
    for (const [name, ps] of exposedPs) add(name, ps);
    add("other stages", bubblePs);
  }
  return { computePs: actors.reduce((all, { computePs }) => all + computePs, 0) / actors.length, waitPs };
}

/**
 * Returns where the time of a plan goes by the search's count: it computes, waits for collectives that nothing hides, and for the
 * traffic of an axis where that is more than both. O(choosers + supplies).
 */
export function countedParts({ mesh, choosers, supplies, base }: PlanProblem, plan: PlanChoice): PlanParts {
  const amount = ({ resources, amounts }: Uses, r: number): number => amounts[resources.indexOf(r)] ?? 0;
  const traffic = Float64Array.from(mesh.axes, (_, j) => base[trafficOf(j)] as number);
  const addTraffic = (uses: Uses): void => {
    mesh.axes.forEach((_, j) => {
      traffic[j] = (traffic[j] as number) + amount(uses, trafficOf(j));
    });
  };
  let computePs = base[STEP_TIME] as number;
  choosers.forEach(({ choices }: Chooser, v) => {
    const { uses } = choices[plan.choices[v] as number] as Chooser["choices"][number];
    computePs += amount(uses, STEP_TIME);
    addTraffic(uses);
  });
  const waitPs = new Map<string, number>();
  const wait = (name: string, ps: number): void => {
    if (ps > 0) waitPs.set(name, (waitPs.get(name) ?? 0) + ps);
  };
  supplies.forEach(({ copies }: Supply, s) => {
    for (const copy of plan.copies[s] as readonly number[]) {
      const { uses } = copies[copy] as Supply["copies"][number];
      addTraffic(uses);
      const axes = mesh.axes.reduce((set, _, j) => (amount(uses, trafficOf(j)) > 0 ? set | (1 << j) : set), 0);
      wait(axesText(mesh, axes), amount(uses, STEP_TIME));
    }
  });
  const busiest = traffic.reduce((most, ps, j) => (ps > (traffic[most] as number) ? j : most), 0);
  const unhidden = (traffic[busiest] ?? 0) - computePs - [...waitPs.values()].reduce((all, ps) => all + ps, 0);
  wait(mesh.axes[busiest]?.name ?? "", unhidden);
  return { computePs, waitPs };
}

/** Returns what tells classes apart: what axes of more than one NPU are used for, what is shared, stages; null of what has no use. */
function classOf({ uses, sharing }: HandPlan, { shape: { stages, mesh } }: Pick<Split, "shape">): string | null {
  if (stages > 1) return `${stages}`;
  const used = uses.filter((_, j) => (mesh.axes[j]?.size ?? 1) > 1);
  if (used.length === 0 || used.includes("nothing")) return null;
  const names = AXIS_USES.filter((use) => used.includes(use)).map((use) =>
    use === "tensor and sequence" ? "tensor" : use,
  );
  return `${[...new Set(names)].join()} ${names.every((name) => name === "tensor") ? "" : sharing}`;
}

/**
 * Returns the best of each class of hand-made plans, of all ways of splitting: the fastest that fits (those that were simulated
 * before those that were only counted), else the one that needs least memory. Those that fit come first, the fastest of them first,
 * then those that need least.
 */
export function handClasses(
  splits: readonly SearchedSplit[],
  steps: readonly SimulatedStep[],
  memoryBytes: number,
): HandClass[] {
  const classes = new Map<string, { readonly of: SearchedSplit; readonly made: MadeByHand }[]>();
  const found = new Map<string, HandClass>();
  for (const { step, from } of steps) {
    const name = step.hand === null ? null : classOf(step.hand, from);
    if (step.hand === null || name === null || (found.get(name)?.ps ?? Number.POSITIVE_INFINITY) <= step.ps) continue;
    const bytes = Math.max(...step.stages.map(({ memory }) => memory.total));
    const { ps, hand } = step;
    found.set(name, { hand, split: from, ps, isSimulated: true, memoryBytes: bytes, parts: partsOfStep(step) });
  }
  for (const of of splits) {
    if (of.staged !== null) {
      const name = `${of.shape.stages}`;
      const known = found.get(name);
      const fits = of.byHandPs < Number.POSITIVE_INFINITY;
      if (of.hand === null || known?.isSimulated === true || (known?.ps ?? Number.POSITIVE_INFINITY) < of.byHandPs)
        continue;
      found.set(name, {
        hand: of.hand,
        split: of,
        ps: fits ? of.byHandPs : null,
        isSimulated: false,
        memoryBytes: null,
        parts: null,
      });
      continue;
    }
    for (const made of (of.stages[0] as SearchedWay).hands) {
      const name = classOf(made.hand, of);
      if (name === null || found.get(name)?.isSimulated === true) continue;
      classes.set(name, [...(classes.get(name) ?? []), { of, made }]);
    }
  }
  for (const [name, members] of classes) {
    const bytesOf = ({ of, made }: (typeof members)[number]): number => {
      const { way, stated } = of.stages[0] as SearchedWay;
      return memoryOfChoice(way, stated, made.choice).total;
    };
    const countedBytes = ({ of, made }: (typeof members)[number]): number => {
      const { stated } = of.stages[0] as SearchedWay;
      return planTotals(stated.problem, made.choice)?.totals[memoryOf(stated.problem.mesh)] ?? Number.POSITIVE_INFINITY;
    };
    const fast = members.filter(({ made }) => made.fits).sort((a, b) => a.made.ps - b.made.ps);
    const small = members.reduce((least, one) => (countedBytes(one) < countedBytes(least) ? one : least));
    const tried = [...fast.slice(0, MOST_TRIED), small].map((one) => ({ one, bytes: bytesOf(one) }));
    const fitting = tried.find(({ bytes }) => bytes <= memoryBytes);
    const { one, bytes } = fitting ?? (tried.at(-1) as (typeof tried)[number]);
    const { problem } = (one.of.stages[0] as SearchedWay).stated;
    found.set(name, {
      hand: one.made.hand,
      split: one.of,
      ps: fitting === undefined ? null : one.made.ps,
      isSimulated: false,
      memoryBytes: bytes,
      parts: countedParts(problem, one.made.choice),
    });
  }
  const psOf = ({ ps }: HandClass): number => ps ?? Number.MAX_VALUE;
  return [...found.values()].sort((a, b) => psOf(a) - psOf(b) || (a.memoryBytes ?? 0) - (b.memoryBytes ?? 0));
}
