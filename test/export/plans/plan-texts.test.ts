import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { draw } from "../../../src/base/random.ts";
import { indicesOf } from "../../../src/execute/tensor-graph/placement.ts";
import { jaxSpecs } from "../../../src/export/plans/jax-specs.ts";
import { axisNames } from "../../../src/export/plans/python-plan.ts";
import { torchPlacements } from "../../../src/export/plans/torch-placements.ts";
import { withGradients } from "../../../src/model/tensor-graph/backward.ts";
import { graphBuilder } from "../../../src/model/tensor-graph/builder.ts";
import type { GraphNode, TensorGraph } from "../../../src/model/tensor-graph/graph.ts";
import { mlpGraph } from "../../../src/model/tensor-graph/models/mlp.ts";
import { transformerGraph } from "../../../src/model/tensor-graph/models/transformer.ts";
import { type Mesh, meshOf } from "../../../src/model/tensor-plan/mesh.ts";
import { PARTIAL, type Pattern, patternsOf, shardedAt, stateOn } from "../../../src/model/tensor-plan/patterns.ts";
import type { NodePlan, TensorPlan } from "../../../src/model/tensor-plan/plan.ts";
import { sizesOf } from "../../../src/model/tensor-plan/work.ts";
import { GPT_LIKE } from "../../../src/model/workload/transformer/config.ts";
import { handPlan } from "../../support/small-plans.ts";

const fixture = (name: string): string =>
  readFileSync(new URL(`../../fixtures/tensor-plan/${name}`, import.meta.url), "utf8");
const script = (name: string): string =>
  fileURLToPath(new URL(`../../support/python-scripts/${name}`, import.meta.url));

const MLP = withGradients(mlpGraph([8, 16, 8], 8));
const SMALL = {
  ...GPT_LIKE,
  ...{ name: "small", layers: 3, hidden: 16, heads: 8, kvHeads: 8, headSize: 8, ffn: 16, vocabulary: 8, sequence: 8 },
};
const GPT = withGradients(transformerGraph(SMALL, { batch: 8, sequence: 8, precision: "bf16" }));

/** Names of layers: some differ in a number, some in more. */
const ODD = [
  [`a "quoted" \\ {i} 1`, "two\nlines # 'x' {", 'κ"""\u202e\u{1f333} 12'],
  ...[`"quoted" \\ {i} {{`, "two\nlines 'x'}", "h# of \u2028h#", "0"].map((name) =>
    [1, 9, 10].map((number) => name.replaceAll("#", `${number}`) + number),
  ),
  ["h1 of h2", "h2 of h2", "h3 of h2 {i}"],
  ["w007", "w008", "w9"],
];

/** Layers of odd names, whose products have classes of their own. */
function oddGraph(names: readonly string[]): TensorGraph {
  const builder = graphBuilder(2);
  const samples = builder.dimension('samples "\n', 8);
  const width = builder.dimension("width # {", 8);
  const seen = builder.dimension("seen\\", 8);
  let last = builder.placeholder("x'\"", "input", [samples, width]);
  names.forEach((name, i) => {
    const part = builder.part(name, "layer");
    const weights = part.placeholder("weights", "parameter", [width, seen]);
    const product = part.einsum("product", [last, weights], [samples, seen]);
    last = builder.apply(`relu{${i}}`, "relu", [builder.as(product, seen, width)]);
  });
  return withGradients(builder.graph('odd """ \\', [last]));
}

/**
 * Returns a plan whose classes have any states that deal evenly: what is written does not depend on whether there is work that makes
 * them so.
 */
function somePlan(graph: TensorGraph, mesh: Mesh, seed: number): TensorPlan {
  const nodes = graph.nodes.map((node, i): NodePlan => {
    let drawn = 0;
    const number = (below: number): number => draw(seed, graph.classes[i] as number, drawn++) % below;
    const patterns = patternsOf(mesh, sizesOf(graph, node), node.kind !== "placeholder");
    const pattern = (): Pattern => patterns[number(patterns.length)] as Pattern;
    const made = pattern();
    const copies = new Set(Array.from({ length: number(3) }, pattern));
    return {
      ...{ rule: null, pattern: made, retention: "dropped", forwardCopies: [...copies], backwardCopies: [] },
      ...{ updateCopies: [], isSummedOnce: false, home: number(2) === 0 ? made : pattern() },
    };
  });
  return { graph, mesh, nodes };
}

/** Whether axes that deal a dimension are the first of all that could: its parts are then consecutive. */
function isConsecutive(mesh: Mesh, sizes: readonly number[], pattern: Pattern): boolean {
  return sizes.every((size, at) => {
    let [left, skipped] = [size, false];
    return mesh.axes.every((axis, j) => {
      if (axis.size === 1 || left % axis.size !== 0) return true;
      left /= axis.size;
      const deals = shardedAt(stateOn(pattern, j)) === at;
      if (deals && skipped) return false;
      skipped ||= !deals;
      return true;
    });
  });
}

/** Returns, by table and name, the shape of every tensor and what each NPU has of it, told by the plan itself. */
function factsOf({ graph, mesh, nodes: plans }: TensorPlan) {
  const placed = (sizes: readonly number[], pattern: Pattern) => ({
    indices: Array.from({ length: mesh.npuCount }, (_, npu) =>
      indicesOf(mesh, sizes, pattern, npu).map((list) => [...list]),
    ),
    partial: mesh.axes.map((_, j) => stateOn(pattern, j) === PARTIAL),
    same: isConsecutive(mesh, sizes, pattern),
  });
  const table = (statesOf: (node: GraphNode, plan: NodePlan) => readonly Pattern[]) =>
    Object.fromEntries(
      graph.nodes.flatMap((node, i) => {
        const patterns = node.phase === "forward" ? statesOf(node, plans[i] as NodePlan) : [];
        const shape = sizesOf(graph, node);
        return patterns.length === 0
          ? []
          : [[node.name, { shape, placed: patterns.map((one) => placed(shape, one)) }] as const];
      }),
    );
  const role = (node: GraphNode): string => (node.kind === "placeholder" ? node.role : node.kind);
  return {
    PARAMETERS: table((node, { pattern }) => (role(node) === "parameter" ? [pattern] : [])),
    OPTIMIZER: table((node, { pattern, home }) => (role(node) === "parameter" && home !== pattern ? [home] : [])),
    INPUTS: table((node, { pattern }) => (role(node) === "input" ? [pattern] : [])),
    ACTIVATIONS: table((node, { pattern }) =>
      ["einsum", "elementwise", "reduction"].includes(node.kind) && !node.isFused ? [pattern] : [],
    ),
    COPIES: table((node, { forwardCopies }) => (node.isFused ? [] : forwardCopies)),
  };
}

const MESHES: readonly Mesh[] = [
  meshOf([2, 4], ['data "x"', 'data "x"']),
  meshOf([2, 1, 2, 2], ["class", "", "1st", "tp"]),
  meshOf([8]),
];
const PLANS = (): TensorPlan[] =>
  MESHES.flatMap((mesh) => [
    ...[1, 2, 3].map((seed) => somePlan(MLP, mesh, seed)),
    ...ODD.map((names) => somePlan(oddGraph(names), mesh, 1)),
    somePlan(GPT, mesh, 1),
  ]);

/** Runs a script of Python that is told of the plans' files and facts; returns how much it compared and what it found wrong. */
function comparedBy(python: string, name: string, write: (plan: TensorPlan) => string) {
  const folder = mkdtempSync(join(tmpdir(), "banyan-plan-texts-"));
  try {
    const input = PLANS().map((plan, i) => {
      const path = join(folder, `plan-${i}.py`);
      writeFileSync(path, write(plan));
      return { path, npus: plan.mesh.npuCount, tables: factsOf(plan) };
    });
    const { status, stdout, stderr } = spawnSync(python, [script(name)], {
      input: JSON.stringify(input),
      encoding: "utf8",
      maxBuffer: 1 << 28,
      env: { ...process.env, XLA_FLAGS: "--xla_force_host_platform_device_count=8", JAX_PLATFORMS: "cpu" },
    });
    expect(status, stderr).toBe(0);
    return JSON.parse(stdout) as { readonly compared: number; readonly wrong: readonly unknown[] };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const pythonWith = (module: string): string | undefined =>
  [process.env["BANYAN_PYTHON"] ?? "python3", "/usr/bin/python3"].find(
    (python) => spawnSync(python, ["-c", `import ${module}`]).status === 0,
  );
const FAKE = "torch.distributed.tensor, torch.testing._internal.distributed.fake_pg";

describe("plans as texts of Python", () => {
  const plan = handPlan(MLP, meshOf([2, 4], ["dp", "tp"]), ["data", "tensor"], "parameters");

  it("are these for a perceptron, data by tensor parallel and fully sharded", () => {
    expect(torchPlacements([plan])).toBe(fixture("perceptron-torch.py"));
    expect(jaxSpecs([plan])).toBe(fixture("perceptron-jax.py"));
  });

  it("name the axes of a mesh by identifiers, each another", () => {
    expect(axisNames(meshOf([2, 2, 2], ["a b", "a_b", "a b"]))).toEqual(["a_b", "a_b_2", "a_b_3"]);
    expect(axisNames(meshOf([2, 2, 2, 2], ["class", "", "1", "a_2"]))).toEqual([
      "axis_class",
      "axis_",
      "axis_1",
      "a_2",
    ]);
    expect(axisNames(meshOf([2, 2]))).toEqual(["axis_0", "axis_1"]);
  });

  it("have one line for the layers of a class", () => {
    const text = torchPlacements([somePlan(GPT, meshOf([2, 4]), 1)]);
    const lines = text.slice(text.indexOf("PARAMETERS"), text.indexOf("OPTIMIZER")).split("\n");
    expect(lines.filter((line) => line.includes("up weights"))).toEqual([
      expect.stringMatching(
        /^ {4}\*\*\{f"layer \{i\} up weights": \[.*\] for i in range\(1, 4\)\}, {2}# hidden 16 x width 16$/,
      ),
    ]);
  });

  const torch = pythonWith(FAKE);
  it.skipIf(torch === undefined)(
    "deal tensors as PyTorch does (skipped where no python has DTensor and the fake process group)",
    () => {
      const { compared, wrong } = comparedBy(torch as string, "torch-plans.py", (plan) => torchPlacements([plan]));
      expect(wrong).toEqual([]);
      expect(compared).toBeGreaterThan(1000);
    },
    240_000,
  );

  const jax = pythonWith("jax");
  it.skipIf(jax === undefined)(
    "deal tensors as JAX does (skipped where no python has jax)",
    () => {
      const { compared, wrong } = comparedBy(jax as string, "jax-plans.py", (plan) => jaxSpecs([plan]));
      expect(wrong).toEqual([]);
      expect(compared).toBeGreaterThan(150);
    },
    240_000,
  );
});
