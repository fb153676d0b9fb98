import { beforeAll, describe, expect, it } from "vitest";
import type { MilpRunner } from "../../../src/engine/contract/programs.ts";
import { withGradients } from "../../../src/model/tensor-graph/backward.ts";
import { graphBuilder } from "../../../src/model/tensor-graph/builder.ts";
import { type GraphNode, operandsOf, type TensorGraph } from "../../../src/model/tensor-graph/graph.ts";
import { mlpGraph } from "../../../src/model/tensor-graph/models/mlp.ts";
import { planMemory } from "../../../src/model/tensor-plan/lifetimes.ts";
import { type MeshAxis, meshOf } from "../../../src/model/tensor-plan/mesh.ts";
import {
  ALL_REPLICATED,
  type MoveKind,
  PARTIAL,
  type Pattern,
  shardCount,
  shardedAt,
  stateOn,
} from "../../../src/model/tensor-plan/patterns.ts";
import type { NodePlan, TensorPlan } from "../../../src/model/tensor-plan/plan.ts";
import { memoryOf, planOf, planProblem, type StatedProblem } from "../../../src/model/tensor-plan/problem-of.ts";
import { type PlanStep, planSteps } from "../../../src/model/tensor-plan/steps.ts";
import { acceleratorNamed } from "../../../src/model/workload/accelerators.ts";
import { computationPs } from "../../../src/model/workload/roofline.ts";
import { effortOf } from "../../../src/synthesize/plan/effort.ts";
import { searchPlan } from "../../../src/synthesize/plan/solve.ts";
import { milpHere } from "../../support/milp-here.ts";

/** What the search has to find by itself for models and machines of which everybody knows it (Zhao 2026, 5.2). */

let milp: MilpRunner;
beforeAll(async () => {
  milp = await milpHere();
});

/** Two boxes of four: the slow axis, and the fast one inside of a box. */
const MESH = meshOf([2, 4], ["between", "inside"]);
const [BETWEEN, INSIDE] = [0, 1] as const;
const BOTH = 0b11;
const BYTES_PER_SECOND = [50e9, 450e9] as const;
const LATENCY_PS = [10e6, 2e6] as const;
const GIB = 2 ** 30;
const H100 = acceleratorNamed("h100");

/** Returns a collective's time by its latency and its bytes, axis after axis, the fast one first. */
function movePs(kind: MoveKind, axes: number, bytes: number): number {
  const times = kind === "allreduce" ? 2 : 1;
  let [ps, left] = [0, bytes];
  for (const j of [INSIDE, BETWEEN]) {
    if (((axes >> j) & 1) === 0) continue;
    const { size } = MESH.axes[j] as MeshAxis;
    ps += times * (LATENCY_PS[j] + ((left * (size - 1)) / size / BYTES_PER_SECOND[j]) * 1e12);
    if (kind !== "alltoall") left /= size;
  }
  return ps;
}

interface Searched {
  readonly plan: TensorPlan;
  readonly steps: readonly PlanStep[];
  readonly ps: number;
  readonly stated: StatedProblem;
  readonly nodeNamed: (name: string) => { readonly node: GraphNode; readonly is: NodePlan };
  /** Collectives of the tensor of that name, each as "kind axes", in order, all phases. */
  readonly movesOf: (name: string) => string[];
}

/** Returns the plan that a search finds, proved to be the fastest; what lasts in its memory is what the search counted. */
async function search(graph: TensorGraph, memoryBytes: number): Promise<Searched> {
  const terms = { memoryBytes, microBatches: 1, inFlight: 1, optimizerBytes: 12, gradientBytes: 2 };
  const costs = {
    computationPs: (one: Parameters<typeof computationPs>[2]) => computationPs(H100, "bf16", one),
    movePs,
  };
  const stated = planProblem(graph, MESH, costs, terms);
  const found = await searchPlan(stated.problem, { milp, effort: effortOf(160_000) });
  if (!("plan" in found)) throw new Error(found.status);
  expect(found.status).toBe("optimal");
  const plan = planOf(graph, stated, found.plan);
  const planned = planSteps(plan);
  const memory = planMemory(plan, planned, terms);
  const lasting = memory.parameters + memory.gradients + memory.optimizer + memory.activations;
  expect(lasting / found.totals[memoryOf(MESH)]).toBeCloseTo(1, 9);
  expect(lasting).toBeLessThanOrEqual(memoryBytes);
  const indexOf = (name: string): number => {
    const at = graph.nodes.findIndex((node) => node.name === name);
    if (at < 0) throw new Error(`no node ${name}`);
    return at;
  };
  return {
    plan,
    steps: planned.steps,
    ps: found.ps,
    stated,
    nodeNamed: (name) => ({ node: graph.nodes[indexOf(name)], is: plan.nodes[indexOf(name)] }),
    movesOf: (name) =>
      planned.steps.flatMap((step) =>
        step.kind === "move" && step.node === indexOf(name)
          ? step.moves.map(({ kind, axes }) => `${kind} ${axes}`)
          : [],
      ),
  };
}

const isProduct = ({ kind }: GraphNode): boolean => kind === "einsum";
const parameters = ({ nodes }: TensorGraph): string[] =>
  nodes.filter((node) => node.kind === "placeholder" && node.role === "parameter").map(({ name }) => name);

/** Returns the dimension's number of that name. */
const dimensionOf = ({ dimensions }: TensorGraph, name: string): number =>
  dimensions.findIndex((one) => one.name === name);

/** Holds that all work is dealt along samples by all NPUs, with weights whole, and that gradients are summed over all. */
function expectData({ plan, movesOf }: Searched): void {
  const { graph, nodes } = plan;
  const samples = dimensionOf(graph, "samples");
  graph.nodes.forEach((node, i) => {
    const { rule } = nodes[i] as NodePlan;
    if (rule === null) return;
    expect(rule.along, node.name).toEqual([samples, samples]);
    operandsOf(node).forEach(({ node: of }, k) => {
      if (parameters(graph).includes(graph.nodes[of].name)) expect(rule.operands[k]).toBe(ALL_REPLICATED);
    });
  });
  for (const { gradient } of graph.gradients) {
    expect([...Array(2).keys()].map((j) => stateOn(nodes[gradient].pattern, j))).toEqual([PARTIAL, PARTIAL]);
    const sums = movesOf(graph.nodes[gradient].name);
    expect([[`reducescatter ${BOTH}`], [`allreduce ${BOTH}`]]).toContainEqual(sums);
  }
}

/** A perceptron of four products; behind two, the sum of the second may be left to the output. */
const perceptron = (width: number, batch: number): TensorGraph =>
  withGradients(mlpGraph([width, width, width, width, width], batch));

/**
 * Tokens, one in 32 of each sample's to each expert, between products before and behind; with gates if wanted, as in Jiang et
 * al. 2024.
 */
function experts(gated: boolean): TensorGraph {
  const builder = graphBuilder(2);
  const [size, tokenCount, expertCount] = [2048, 512, 32];
  const of = (name: string, count: number): number => builder.dimension(name, count);
  const [samples, tokens, hidden] = [of("samples", 16), of("tokens", tokenCount), of("hidden", size)];
  const [before, behind, expert] = [of("before", size), of("behind", size), of("experts", expertCount)];
  const [place, width] = [of("places", tokenCount / expertCount), of("width", 8192)];
  const weights = (name: string, ...dims: number[]): number =>
    builder.placeholder(`${name} weights`, "parameter", dims);
  const x = builder.einsum(
    "in",
    [builder.placeholder("x", "input", [samples, tokens, hidden]), weights("in", hidden, before)],
    [samples, tokens, before],
  );
  const logits = builder.einsum("router", [x, weights("router", before, expert)], [samples, tokens, expert]);
  const routed = { whole: [tokens, expert, place], constant: 1 };
  const dims = [samples, tokens, expert, place];
  const route = builder.apply("routes", "route", [logits], { ...routed, dims, isFused: true });
  const came = builder.select("dispatched", [route, x], [samples, expert, place, before]);
  const up = builder.einsum("up", [came, weights("up", expert, before, width)], [samples, expert, place, width]);
  const active = builder.apply("active", "gelu", [up]);
  const down = builder.einsum(
    "down",
    [active, weights("down", expert, width, before)],
    [samples, expert, place, before],
  );
  const gate = (): number => builder.apply("gates", "gates", [logits], { ...routed, dims: [samples, expert, place] });
  const taken = gated ? builder.apply("weighed", "multiply", [down, gate()], { isFused: true }) : down;
  const back = builder.select("combined", [route, taken], [samples, tokens, before]);
  const out = builder.einsum("out", [back, weights("out", before, behind)], [samples, tokens, behind]);
  const last = builder.einsum(
    "last",
    [builder.apply("out active", "gelu", [out]), weights("last", behind, hidden)],
    [samples, tokens, hidden],
  );
  return withGradients(builder.graph("experts", [last]));
}

describe("the search finds", () => {
  it("data parallelism for a small model in ample memory", async () => {
    expectData(await search(withGradients(mlpGraph([512, 2048, 2048, 512], 65_536)), 80 * GIB));
  });

  it("FSDP where memory is less than whole weights and states: weights gathered in both passes, gradients dealt alike", async () => {
    const graph = perceptron(8192, 65_536);
    const elements = 4 * 8192 ** 2;
    const memory = 3 * GIB;
    expect(memory).toBeLessThan(elements * (2 + 2 + 12));
    const searched = await search(graph, memory);
    expectData(searched);
    const { plan, movesOf, nodeNamed, steps } = searched;
    for (const { parameter, gradient } of graph.gradients) {
      const { name } = graph.nodes[parameter];
      const { is } = nodeNamed(name);
      expect(shardCount(MESH, is.pattern)).toBe(MESH.npuCount);
      expect(is.home).toBe(is.pattern);
      // the first layer's is not wanted again: nobody wants the gradient of the input
      const times = name === "layer 1 weights" ? 1 : 2;
      expect(movesOf(name)).toEqual(Array(times).fill(`allgather ${BOTH}`));
      expect(movesOf(graph.nodes[gradient].name)).toEqual([`reducescatter ${BOTH}`]);
      const sum = steps.find((step) => step.kind === "move" && step.node === gradient) as PlanStep & { kind: "move" };
      expect(sum.moves[0].to).toBe(is.pattern);
    }
    // one in the forward, one in the backward pass
    const isBackward = (node: number): boolean => graph.nodes[node].phase === "backward";
    const begin = steps.findIndex((step) => step.kind === "compute" && isBackward(step.node));
    const gathers = steps.flatMap((step, s) =>
      step.kind === "move" && plan.graph.nodes[step.node].kind === "placeholder" ? [s < begin] : [],
    );
    expect(gathers.filter((isForward) => isForward).length).toBeGreaterThanOrEqual(4);
    expect(gathers.filter((isForward) => !isForward).length).toBeGreaterThanOrEqual(2);
  });

  it("tensor parallelism on the fast axis for huge matrices and fewer samples than NPUs", async () => {
    const graph = perceptron(16_384, 2);
    const { plan, movesOf } = await search(graph, 80 * GIB);
    const samples = dimensionOf(graph, "samples");
    graph.nodes.forEach((node, i) => {
      const { rule } = plan.nodes[i];
      if (!isProduct(node) || rule === null) return;
      expect(rule.along[INSIDE], node.name).not.toBe(samples);
      expect(rule.along[INSIDE], node.name).toBeGreaterThanOrEqual(0);
      // each has a part of the weights and of what is made of them
      operandsOf(node).forEach(({ node: of }, k) => {
        if (parameters(graph).includes(graph.nodes[of].name))
          expect(shardedAt(stateOn(rule.operands[k] as Pattern, INSIDE))).toBeGreaterThanOrEqual(0);
      });
    });
    // weights are not put together, nor their gradients summed
    for (const { parameter, gradient } of graph.gradients) {
      expect(movesOf(graph.nodes[parameter].name).filter((move) => !move.startsWith("alltoall"))).toEqual([]);
      expect(movesOf(graph.nodes[gradient].name)).toEqual([]);
    }
    // activations are, inside of the boxes
    const activations = graph.nodes.filter((node) => node.kind !== "placeholder").flatMap(({ name }) => movesOf(name));
    expect(activations.some((move) => move.endsWith(` ${1 << INSIDE}`))).toBe(true);
  });

  it("products streamed with their collectives where both take long, faster so than by any other plan", async () => {
    const graph = perceptron(16_384, 512);
    const { plan, ps, stated } = await search(graph, 80 * GIB);
    const streamed = plan.nodes.filter(({ rule }) => rule?.stream !== undefined);
    expect(streamed.length).toBeGreaterThan(0);
    const { problem, index } = stated;
    const choosers = problem.choosers.map((one, v) => ({
      ...one,
      choices: one.choices.filter((_, c) => index.meanings[v][c].rule?.stream === undefined),
    }));
    const materialised = await searchPlan({ ...problem, choosers }, { milp, effort: effortOf(60_000) });
    if (!("plan" in materialised)) throw new Error(materialised.status);
    expect(materialised.status).toBe("optimal");
    expect(ps).toBeLessThan(0.99 * materialised.ps);
  });

  it.each([[false], [true]])("expert parallelism where weights are many and tokens few (gates: %s)", async (gated) => {
    const graph = experts(gated);
    const { movesOf, nodeNamed, steps } = await search(graph, 80 * GIB);
    const expert = dimensionOf(graph, "experts");
    for (const name of ["up", "down", "gradient of up weights", "gradient of down weights", "gradient of active"]) {
      expect(nodeNamed(name).is.rule?.along, name).toEqual([expert, expert]);
    }
    for (const name of ["up weights", "down weights", "gradient of up weights", "gradient of down weights"]) {
      expect(movesOf(name), name).toEqual([]);
    }
    // tokens go to the experts and come back; so do gradients, the other way round
    const isAllToAll = (move: string): boolean => move.startsWith("alltoall");
    for (const name of ["dispatched", "down", "gradient of down", "gradient of dispatched"]) {
      const moves = movesOf(name);
      expect(moves.length, name).toBeGreaterThan(0);
      expect(moves.every(isAllToAll), name).toBe(true);
    }
    // the first two in the forward pass
    const begin = steps.findIndex(({ kind, node }) => kind === "compute" && graph.nodes[node].phase === "backward");
    const forward = steps
      .slice(0, begin)
      .flatMap((step) => (step.kind === "move" ? [graph.nodes[step.node].name] : []));
    expect(forward).toEqual(expect.arrayContaining(["dispatched", "down"]));
  });

  it("tensors that are made again where memory is less than what would be kept, and only as much time for it as is needed", async () => {
    const graph = perceptron(8192, 65_536);
    const ample = await search(graph, 80 * GIB);
    const kept = (searched: Searched): number =>
      searched.plan.nodes.filter(({ retention }) => retention === "kept").length;
    const isAgain = ({ retention }: NodePlan): boolean => retention === "again";
    expect(ample.plan.nodes.filter(isAgain)).toEqual([]);
    const scarce = await search(graph, 1.2 * GIB);
    const again = graph.nodes.filter((_, i) => isAgain(scarce.plan.nodes[i]));
    // what takes no product
    expect(again.length).toBeGreaterThan(0);
    expect(again.every((node) => node.kind === "elementwise")).toBe(true);
    expect(scarce.steps.filter((step) => step.kind === "compute" && step.isAgain).length).toBe(again.length);
    expect(kept(scarce)).toBe(kept(ample) - again.length);
    expect(scarce.ps).toBeGreaterThan(ample.ps);
    // less still: products, too
    const least = await search(graph, 0.95 * GIB);
    expect(graph.nodes.some((node, i) => isProduct(node) && isAgain(least.plan.nodes[i]))).toBe(true);
    expect(least.ps).toBeGreaterThan(scarce.ps);
  });
});
