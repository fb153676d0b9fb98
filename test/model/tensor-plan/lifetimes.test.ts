import { describe, expect, it } from "vitest";
import { withGradients } from "../../../src/model/tensor-graph/backward.ts";
import { elementsOf, type GraphNode, operandsOf, type TensorGraph } from "../../../src/model/tensor-graph/graph.ts";
import { mlpGraph } from "../../../src/model/tensor-graph/models/mlp.ts";
import { transformerGraph } from "../../../src/model/tensor-graph/models/transformer.ts";
import { planMemory } from "../../../src/model/tensor-plan/lifetimes.ts";
import { groupSize, type Mesh, type MeshAxis, meshOf } from "../../../src/model/tensor-plan/mesh.ts";
import {
  type Move,
  type MoveKind,
  movesBetween,
  PARTIAL,
  type Pattern,
  shardedAt,
  stateOn,
} from "../../../src/model/tensor-plan/patterns.ts";
import type { NodePlan, TensorPlan } from "../../../src/model/tensor-plan/plan.ts";
import { type Copy, isFree, type PlanChoice, planTotals } from "../../../src/model/tensor-plan/problem.ts";
import {
  memoryOf,
  type PlanTerms,
  planOf,
  planProblem,
  STEP_TIME,
  type StatedProblem,
  trafficOf,
} from "../../../src/model/tensor-plan/problem-of.ts";
import { RESULT } from "../../../src/model/tensor-plan/rules.ts";
import { type PlanSteps, planSteps } from "../../../src/model/tensor-plan/steps.ts";
import { localBytes, sizesOf, workOf } from "../../../src/model/tensor-plan/work.ts";
import type { Computation } from "../../../src/model/workload/layer-work.ts";
import { SMALL_EXPERTS, SMALL_LLAMA } from "../../support/small-plans.ts";
import { randomPlan } from "./random-plan.ts";

const FACTORS: Record<MoveKind, number> = { allreduce: 2, allgather: 1, reducescatter: 1, alltoall: 1 };
/** Numbers by which every kind, every axis and every byte tells, and with which streams save something. */
const COSTS = {
  computationPs: ({ flops, bytes, isInside }: Computation): number => 30 * flops + bytes + (isInside ? 0 : 5),
  movePs: (kind: MoveKind, axes: number, bytes: number): number => FACTORS[kind] * 40 * bytes * (1 + axes) + 11,
};
const sizes = { batch: 8, sequence: 8, precision: "bf16" } as const;
const GRAPHS = [
  ["perceptrons", () => mlpGraph([8, 16, 8, 4], 8), [2, 2], 150],
  ["perceptrons on one axis", () => mlpGraph([8, 16, 8, 4], 8), [4], 100],
  ["transformers", () => transformerGraph(SMALL_LLAMA, sizes), [2, 2], 6],
  ["experts", () => transformerGraph(SMALL_EXPERTS, sizes), [2, 2], 4],
] as const;

interface Drawn {
  readonly plan: TensorPlan;
  readonly steps: PlanSteps;
  readonly terms: PlanTerms;
  readonly totals: Float64Array;
}

/** Returns a plan with gradients of half of the parameters summed once a step, where that is possible. */
function sumsOnce({ problem, index }: StatedProblem, { choices, copies }: PlanChoice): PlanChoice {
  const swapped = copies.map((own, s) =>
    own.map((at) => {
      const possible = problem.supplies[s]?.copies ?? [];
      // of several that would do the one of which most is left over
      const to = possible[at]?.to as Pattern;
      const isTwin = (copy: Copy): boolean =>
        index.once.has(copy) && copy.from === possible[at]?.from && isFree(problem.mesh, copy.to, to);
      const twin = possible.findIndex(isTwin);
      return twin >= 0 && s % 2 === 0 ? twin : at;
    }),
  );
  return { choices, copies: swapped };
}

/** Calls `visit` with so many random plans of a graph, of one pass and of several. */
function eachPlan(forward: TensorGraph, mesh: Mesh, count: number, visit: (drawn: Drawn) => void): void {
  const graph = withGradients(forward);
  let tried = 0;
  for (const microBatches of [1, 3]) {
    const terms: PlanTerms = {
      memoryBytes: Number.POSITIVE_INFINITY,
      microBatches,
      inFlight: microBatches,
      optimizerBytes: 12,
      gradientBytes: 4,
    };
    const stated = planProblem(graph, mesh, COSTS, terms);
    let found = 0;
    for (let seed = 0; found < count && seed < 300 * count; seed++) {
      const drawn = randomPlan(stated.problem, seed);
      if (drawn === null) continue;
      found++;
      const choice = sumsOnce(stated, drawn);
      const totals = planTotals(stated.problem, choice)?.totals as Float64Array;
      const plan = planOf(graph, stated, choice);
      visit({ plan, steps: planSteps(plan), terms, totals });
    }
    tried += found;
  }
  expect(tried).toBe(2 * count);
}

/** Returns into how many parts an NPU's pattern deals a tensor. */
const partsOf = ({ axes }: Mesh, pattern: Pattern): number =>
  axes.reduce((all, { size }: MeshAxis, j) => (shardedAt(stateOn(pattern, j)) >= 0 ? all * size : all), 1);

/** Returns bytes of gradients and of the optimiser's state, element by element. */
function trained({ graph, mesh, nodes }: TensorPlan, { gradientBytes, optimizerBytes }: PlanTerms) {
  let [gradients, optimizer] = [0, 0];
  for (const { parameter, gradient } of graph.gradients) {
    const elements = elementsOf(graph, (graph.nodes[parameter] as GraphNode).dims);
    const { home } = nodes[parameter] as NodePlan;
    const { isSummedOnce, pattern } = nodes[gradient] as NodePlan;
    optimizer += (optimizerBytes * elements) / partsOf(mesh, home);
    const places = isSummedOnce ? [pattern, home] : [home];
    gradients += (gradientBytes * elements) / Math.min(...places.map((place) => partsOf(mesh, place)));
  }
  return { gradients, optimizer };
}

/** The collectives of a streamed product, one of all of its pieces; null of others. */
function piecesOf({ graph, mesh, nodes }: TensorPlan, i: number) {
  const rule = nodes[i]?.rule;
  if (!rule?.stream) return null;
  const { of, axes, pieces } = rule.stream;
  const node = graph.nodes[i] as GraphNode;
  const [tensor, lies] =
    of === RESULT ? [node, rule.result] : [graph.nodes[operandsOf(node)[of]?.node as number], rule.operands[of]];
  const { dims, elementBytes } = tensor as GraphNode;
  const bytes = (elementBytes * elementsOf(graph, dims)) / partsOf(mesh, lies as Pattern) / pieces;
  const kind: MoveKind = of === RESULT ? "reducescatter" : "allgather";
  return { kind, axes, pieces, bytes: bytes * groupSize(mesh, axes) };
}

/** Whether a node is given to every pass. */
function isInputOf({ nodes }: TensorGraph, i: number): boolean {
  const node = nodes[i];
  return node?.kind === "placeholder" && node.role === "input";
}

describe("the memory of a plan", () => {
  it.each(GRAPHS)(
    "of %s is that of the values that are there at each step",
    (_, build, shape, count) => {
      let streamed = 0;
      eachPlan(build(), meshOf(shape), count, ({ plan, steps: planned, terms }) => {
        const { graph, mesh, nodes } = plan;
        const { values, given, steps } = planned;
        const madeAt = values.map((_, value) => steps.findIndex(({ makes }) => makes === value));
        const takenAt = values.map((_, value) =>
          [...steps.keys()].filter((s) => steps[s]?.kind !== "update" && steps[s]?.takes.some((at) => at === value)),
        );
        /** What is counted as a parameter: what was given, and what takes its place. */
        const isParameter = (value: number): boolean => {
          if (given.includes(value)) return true;
          const maker = steps[madeAt[value] as number];
          return maker?.kind === "update" || (maker?.kind === "move" && isUpdated(maker.takes[0]));
        };
        const isUpdated = (value: number): boolean => steps[madeAt[value] as number]?.kind === "update";
        const counted = [...values.keys()].filter((value) => !isParameter(value));
        let most = 0;
        for (let s = 0; s < steps.length; s++) {
          const there = counted.filter((value) => {
            const made = madeAt[value] as number;
            // what only the update takes is added to the gradients at once
            return made === s || (made < s && (takenAt[value] as number[]).some((t) => t >= s));
          });
          // of what is streamed, the piece that is computed with and the next
          const step = steps[s];
          const passing = step?.kind === "compute" ? 2 * (piecesOf(plan, step.node)?.bytes ?? 0) : 0;
          if (passing > 0) streamed++;
          most = Math.max(
            most,
            there.reduce((all, value) => all + (values[value]?.bytes ?? 0), passing),
          );
        }
        const memory = planMemory(plan, planned, terms);
        let kept = 0;
        graph.nodes.forEach((node, i) => {
          const { retention, pattern } = nodes[i] as NodePlan;
          if (retention === "kept" && node.kind !== "placeholder") kept += localBytes(graph, mesh, node, pattern);
        });
        const { gradients, optimizer } = trained(plan, terms);
        const parameters = given.reduce((all, at) => all + (values[at] as { bytes: number }).bytes, 0);
        const isInput = (at: number): boolean => isInputOf(graph, values[at]?.node as number);
        const inputs = given.filter(isInput).reduce((all, at) => all + (values[at]?.bytes as number), 0);
        const others = (kept + inputs) * (terms.inFlight - 1);
        expect(memory.parameters).toBe(parameters);
        expect(memory.gradients).toBe(gradients);
        expect(memory.optimizer).toBe(optimizer);
        expect(memory.activations + memory.working).toBeCloseTo(most + others, 6);
        expect(memory.total).toBeCloseTo(parameters + gradients + optimizer + most + others, 6);
      });
      expect(streamed).toBeGreaterThan(0);
    },
    250_000,
  );
});

describe("the gradient of an output", () => {
  it("lies where all of the output lies, brought there if need be", () => {
    const [, build, shape, count] = GRAPHS[0];
    let brought = 0;
    eachPlan(build(), meshOf(shape), count, ({ plan: { mesh, graph }, steps: { values, steps, given } }) => {
      const answers = steps.filter((step) => step.kind === "answer");
      expect(answers.map(({ node }) => graph.nodes[node]?.name)).toEqual(["tangent of layer 3 product"]);
      for (const { node, takes, makes } of answers) {
        const [output, gradient] = [takes[0], makes].map((at) => values[at]);
        expect(mesh.axes.some((_, j) => stateOn(gradient?.pattern as Pattern, j) === PARTIAL)).toBe(false);
        expect(isFree(mesh, output?.pattern as Pattern, gradient?.pattern as Pattern)).toBe(true);
        expect(given.some((at) => values[at]?.node === node)).toBe(false);
        if (steps.some((step) => step.kind === "move" && step.makes === takes[0])) brought++;
      }
    });
    expect(brought).toBeGreaterThan(0);
  });
});

describe("what a problem counts", () => {
  it.each(GRAPHS)(
    "of plans of %s is what their steps take",
    (_, build, shape, count) => {
      let [once, undone, streamed] = [0, 0, 0];
      eachPlan(build(), meshOf(shape), count, ({ plan, steps: { values, given, steps }, terms, totals }) => {
        const { graph, mesh, nodes } = plan;
        const { microBatches } = terms;
        const counted = new Float64Array(totals.length);
        const add = (resource: number, amount: number): void => {
          counted[resource] = (counted[resource] as number) + amount;
        };
        const addComputing = (i: number): void => {
          const rule = nodes[i]?.rule;
          if (!rule) throw new Error("no rule");
          const ps = COSTS.computationPs(workOf(graph, mesh, graph.nodes[i] as GraphNode, rule));
          const stream = piecesOf(plan, i);
          if (stream === null) {
            add(STEP_TIME, ps * microBatches);
            return;
          }
          streamed++;
          const { kind, axes, bytes, pieces } = stream;
          const movePs = COSTS.movePs(kind, axes, bytes);
          // piece by piece: what comes first of a piece begins when there is room, what follows when that of the piece before is done
          const [first, second] = kind === "allgather" ? [movePs, ps] : [ps, movePs];
          let begun = 0;
          const done: number[] = [];
          for (let piece = 0; piece < pieces; piece++) {
            begun = Math.max(begun, done[piece - 2] ?? 0) + first;
            done.push(Math.max(begun, done[piece - 1] ?? 0) + second);
          }
          add(STEP_TIME, (done.at(-1) as number) * microBatches);
          mesh.axes.forEach((_, j) => {
            if ((axes >> j) & 1) add(trafficOf(j), movePs * pieces * microBatches);
          });
        };
        /** Collectives of a node's tensor: of activations, fetched parameters, sums of gradients, or new parameters. */
        const addMoves = (i: number, moves: readonly Move[], what: "passes" | "sum" | "new"): void => {
          const node = graph.nodes[i] as GraphNode;
          const isOnce = what === "new" || (what === "sum" && nodes[i]?.isSummedOnce === true);
          const isHidden =
            what === "sum" || (what === "passes" && node.kind === "placeholder" && node.role === "parameter");
          for (const { kind, axes, parts } of moves) {
            const bytes = (elementsOf(graph, node.dims) * node.elementBytes) / parts;
            const ps = COSTS.movePs(kind, axes, bytes) * (isOnce ? 1 : microBatches);
            mesh.axes.forEach((_, j) => {
              if ((axes >> j) & 1) add(trafficOf(j), ps);
            });
            if (!isHidden) add(STEP_TIME, ps);
          }
          if (what === "sum" && isOnce) once++;
        };
        const updates = new Set(steps.flatMap((step) => (step.kind === "update" ? step.takes : [])));
        const renewed = new Set(steps.flatMap((step) => (step.kind === "update" ? [step.makes] : [])));
        const done: string[] = [];
        const again = new Set<number>();
        for (const step of steps) {
          const { node: i } = step;
          if (step.kind === "compute") {
            if (step.isAgain) again.add(i);
            addComputing(i);
          } else if (step.kind === "update") {
            const { dims, elementBytes } = graph.nodes[i] as GraphNode;
            const own = elementsOf(graph, dims) / partsOf(mesh, nodes[i]?.home as Pattern);
            const bytes = own * (5 * terms.gradientBytes + 2 * terms.optimizerBytes + elementBytes);
            add(STEP_TIME, COSTS.computationPs({ name: "", kind: "memory", flops: 0, bytes }));
          } else if (step.kind === "move") {
            const what = renewed.has(step.takes[0]) ? "new" : updates.has(step.makes) ? "sum" : "passes";
            addMoves(i, step.moves, what);
            done.push(`${what === "passes"} ${i} ${values[step.makes]?.pattern}`);
          }
        }
        // what would be made again or moved, and is not wanted after all, is counted though it is not done
        graph.nodes.forEach((node, i) => {
          const { retention, pattern, home, forwardCopies, backwardCopies, updateCopies } = nodes[i] as NodePlan;
          if (retention === "again" && !again.has(i)) {
            undone++;
            addComputing(i);
          }
          const isParameter = node.kind === "placeholder";
          for (const [isOfPasses, to] of [
            ...[...forwardCopies, ...backwardCopies].map((copy) => [true, copy] as const),
            ...updateCopies.map((copy) => [false, copy] as const),
          ]) {
            const at = done.indexOf(`${isOfPasses} ${i} ${to}`);
            if (at >= 0) done.splice(at, 1);
            else {
              undone++;
              const from = isParameter && !isOfPasses ? home : pattern;
              const moves = movesBetween(mesh, sizesOf(graph, node), from, to) as readonly Move[];
              addMoves(i, moves, isOfPasses ? "passes" : isParameter ? "new" : "sum");
            }
          }
        });
        expect(done).toEqual([]);
        const { gradients, optimizer } = trained(plan, terms);
        let memory = gradients + optimizer;
        for (const at of given) {
          const { node, bytes } = values[at] as { node: number; bytes: number };
          memory += bytes * (isInputOf(graph, node) ? terms.inFlight : 1);
        }
        graph.nodes.forEach((node, i) => {
          const { retention, pattern } = nodes[i] as NodePlan;
          if (retention === "kept" && node.kind !== "placeholder")
            memory += localBytes(graph, mesh, node, pattern) * terms.inFlight;
        });
        add(memoryOf(mesh), memory);
        for (const [r, total] of totals.entries()) {
          expect(Math.abs(total - (counted[r] as number))).toBeLessThanOrEqual(1e-12 * total);
        }
      });
      expect(once).toBeGreaterThan(0);
      expect(undone).toBeGreaterThan(0);
      expect(streamed).toBeGreaterThan(0);
    },
    250_000,
  );
});
