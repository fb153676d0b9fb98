import { describe, expect, it } from "vitest";
import type { Einsum, GraphNode, Placeholder, TensorGraph } from "../../../src/model/tensor-graph/graph.ts";
import { planCollectives } from "../../../src/model/tensor-plan/collectives.ts";
import { planMemory } from "../../../src/model/tensor-plan/lifetimes.ts";
import { meshOf } from "../../../src/model/tensor-plan/mesh.ts";
import { isEven, movesBetween } from "../../../src/model/tensor-plan/patterns.ts";
import { pipelineTasks } from "../../../src/model/tensor-plan/pipeline-tasks.ts";
import type { NodePlan, TensorPlan } from "../../../src/model/tensor-plan/plan.ts";
import { isFree } from "../../../src/model/tensor-plan/problem.ts";
import { RESULT, type WorkRule, workRules } from "../../../src/model/tensor-plan/rules.ts";
import { planSteps } from "../../../src/model/tensor-plan/steps.ts";
import { pieceMove, type StreamedRule, streamedPs, streamedRules } from "../../../src/model/tensor-plan/streams.ts";
import { sizesOf, workOf } from "../../../src/model/tensor-plan/work.ts";
import { aloneOf, TERMS } from "../../support/small-plans.ts";

const [ROWS, INNER, COLUMNS, HEADS] = [0, 1, 2, 3];
const common = { elementBytes: 2, phase: "forward", isFused: false } as const;
const given = (name: string, dims: number[]): Placeholder => ({
  ...common,
  name,
  dims,
  kind: "placeholder",
  role: "input",
});
/** x[rows, heads, inner] w[inner, columns] and a head of its own for each: "rhi,hic->rhc", or summed over heads: "rc". */
function product(isSummed: boolean): TensorGraph {
  const nodes: GraphNode[] = [
    given("x", [ROWS, HEADS, INNER]),
    given("w", [HEADS, INNER, COLUMNS]),
    {
      ...common,
      name: "y",
      dims: isSummed ? [ROWS, COLUMNS] : [ROWS, HEADS, COLUMNS],
      kind: "einsum",
      selects: false,
      operands: [
        { node: 0, dims: [ROWS, HEADS, INNER] },
        { node: 1, dims: [HEADS, INNER, COLUMNS] },
      ],
    },
    { ...common, name: "out", dims: [], kind: "output", operands: [{ node: 2, dims: [] }] },
  ] as GraphNode[];
  const dimensions = [64, 32, 128, 4].map((size, d) => ({ name: `d${d}`, size }));
  return { name: "product", dimensions, nodes, classes: Int32Array.of(0, 1, 2, 3), gradients: [] } as TensorGraph;
}

/** Returns all streams of a product on a mesh, each with the rule that is streamed. */
function streamsOf(graph: TensorGraph, shape: readonly number[]): { rule: WorkRule; way: StreamedRule }[] {
  const mesh = meshOf(shape);
  const node = graph.nodes[2] as Einsum;
  return workRules(graph, node, mesh).flatMap((rule) =>
    streamedRules(graph, node, mesh, rule)
      .flat()
      .map((way) => ({ rule, way })),
  );
}

const CASES = [
  [false, [4]],
  [false, [2, 2]],
  [true, [2, 2]],
  [true, [2, 1, 4]],
] as const;

describe("streamed products", () => {
  it.each(CASES)(
    "do the work of their rule, and the collective that is not materialised (summed: %s, mesh %j)",
    (isSummed, shape) => {
      const graph = product(isSummed);
      const mesh = meshOf(shape);
      const node = graph.nodes[2] as Einsum;
      const kinds = new Set<string>();
      for (const { rule, way } of streamsOf(graph, shape)) {
        const { of, pieces } = way.stream;
        const { kind, axes, bytes } = pieceMove(graph, mesh, node, way);
        kinds.add(`${kind} ${axes} ${pieces}`);
        expect(workOf(graph, mesh, node, way).flops * pieces).toBe(workOf(graph, mesh, node, rule).flops);
        expect(workOf(graph, mesh, node, way).bytes * pieces).toBeGreaterThanOrEqual(
          workOf(graph, mesh, node, rule).bytes,
        );
        const tensor = (of === RESULT ? node : graph.nodes[of]) as GraphNode;
        const [from, to] = of === RESULT ? [rule.result, way.result] : [way.operands[of], rule.operands[of]];
        expect(isEven(mesh, sizesOf(graph, tensor), (of === RESULT ? to : from) as number)).toBe(true);
        const moves = movesBetween(mesh, sizesOf(graph, tensor), from as number, to as number) ?? [];
        expect(moves.map((move) => [move.kind, move.axes])).toEqual([[kind, axes]]);
        const elements = sizesOf(graph, tensor).reduce((all, size) => all * size, 1);
        expect(bytes * pieces).toBe((elements * 2) / (moves[0]?.parts as number));
        // all else is as it was
        way.operands.forEach((pattern, k) => {
          if (k !== of) expect(pattern).toBe(rule.operands[k]);
        });
        if (of !== RESULT) expect(way.result).toBe(rule.result);
        expect(isFree(mesh, from as number, to as number)).toBe(false);
      }
      expect(kinds.size).toBeGreaterThan(5);
    },
  );

  it.each(CASES)(
    "as tasks take as long as they are counted, in room for two pieces (summed: %s, mesh %j)",
    (isSummed, shape) => {
      const graph = product(isSummed);
      const mesh = meshOf(shape);
      for (const [n, { way }] of streamsOf(graph, shape).entries()) {
        const lies = (rule: WorkRule | null, pattern: number): NodePlan => ({
          rule,
          pattern,
          retention: "dropped",
          forwardCopies: [],
          backwardCopies: [],
          updateCopies: [],
          isSummedOnce: false,
          home: pattern,
        });
        const nodes = [...way.operands.map((pattern) => lies(null, pattern)), lies(way, way.result), lies(null, 0)];
        const plan: TensorPlan = { graph, mesh, nodes };
        const steps = planSteps(plan);
        const { tasks } = pipelineTasks(aloneOf(plan, TERMS), 1);
        const [moving, computing] = [(n % 5) + 1, ((3 * n) % 7) + 1];
        const free = tasks.lanes.map(() => 0);
        const ends: number[] = [];
        tasks.work.forEach((work, t) => {
          const awaited = tasks.awaited.subarray(tasks.offset[t], tasks.offset[t + 1]);
          const lane = tasks.lane[t] as number;
          const begins = Math.max(free[lane] as number, ...[...awaited].map((task) => ends[task] as number));
          ends[t] = begins + (tasks.works[work]?.kind === "communication" ? moving : computing);
          free[lane] = ends[t] as number;
        });
        const { pieces } = way.stream;
        expect(ends.length).toBe(2 * pieces);
        expect(Math.max(...ends)).toBe(streamedPs(pieces, moving, computing));
        const { kind, bytes, workingBytes } = pieceMove(graph, mesh, graph.nodes[2] as GraphNode, way);
        const [only, ...others] = planCollectives(aloneOf(plan, { ...TERMS, microBatches: 1 }), mesh.npuCount);
        expect(others).toEqual([]);
        expect(only).toMatchObject({ asked: { collective: kind, sizeBytes: bytes }, times: pieces });
        expect(planMemory(plan, steps, TERMS).working).toBe((steps.values.at(-1)?.bytes as number) + workingBytes);
      }
    },
  );
});
