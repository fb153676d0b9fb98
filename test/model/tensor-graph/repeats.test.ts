import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { below, draw } from "../../../src/base/random.ts";
import { type GraphNode, operandsOf, type TensorGraph } from "../../../src/model/tensor-graph/graph.ts";
import { classesOfRepeats } from "../../../src/model/tensor-graph/repeats.ts";
import { runs } from "../../support/runs.ts";

const BASE = { elementBytes: 2, phase: "forward", isFused: false } as const;
const FUNCTIONS = ["relu", "tanh", "exp", "gelu"] as const;

type Part = readonly (
  | { readonly kind: "weight" }
  | { readonly kind: "function"; readonly name: string }
  // adds what the part was given, or the tensor so many nodes before
  | { readonly kind: "add"; readonly back: number | "part" }
)[];

interface Made {
  readonly graph: Pick<TensorGraph, "dimensions" | "nodes">;
  /** [layers][place] indices of nodes, and of weights. */
  readonly layers: readonly (readonly number[])[];
  readonly weights: readonly (readonly number[])[];
}

/** Returns functions, then equal layers of a part, then functions; weights come first, as exported graphs have them. */
function layered(part: Part, count: number, before: readonly string[], behind: readonly string[]): Made {
  const weightCount = part.filter(({ kind }) => kind === "weight").length;
  const dimensions = ["a", "b"].map((name) => ({ name, size: 8 }));
  const nodes: GraphNode[] = [];
  const weights = Array.from({ length: count }, (_, layer) =>
    Array.from(
      { length: weightCount },
      (_, i) =>
        nodes.push({ ...BASE, kind: "placeholder", role: "parameter", name: `w${layer}.${i}`, dims: [0, 1] }) - 1,
    ),
  );
  let last = nodes.push({ ...BASE, kind: "placeholder", role: "input", name: "x", dims: [0] }) - 1;
  const make = (node: object): number => {
    last = nodes.push({ ...BASE, name: `n${nodes.length}`, dims: [0], ...node } as unknown as GraphNode) - 1;
    return last;
  };
  const apply = (name: string): number =>
    make({ kind: "elementwise", function: name, constant: 0, whole: [], operands: [{ node: last, dims: [0] }] });
  for (const name of before) apply(name);
  const layers = weights.map((own) => {
    const given = last;
    let taken = 0;
    const made: number[] = [];
    for (const step of part) {
      if (step.kind === "function") made.push(apply(step.name));
      else if (step.kind === "weight") {
        const operands = [
          { node: last, dims: [1] },
          { node: own[taken++], dims: [0, 1] },
        ];
        made.push(make({ kind: "einsum", selects: false, operands }));
      } else {
        const other = step.back === "part" ? given : (made.at(-1 - step.back) ?? given);
        const operands = [last, other].map((node) => ({ node, dims: [0] }));
        made.push(make({ kind: "elementwise", function: "add", constant: 0, whole: [], operands }));
      }
    }
    return made;
  });
  for (const name of behind) apply(name);
  nodes.push({ ...BASE, kind: "output", name: "output", dims: [], operands: [{ node: last, dims: [0] }] });
  return { graph: { dimensions, nodes }, layers, weights };
}

const step = fc.oneof(
  fc.constant({ kind: "weight" } as const),
  fc.constantFrom(...FUNCTIONS).map((name) => ({ kind: "function", name }) as const),
  fc.constant({ kind: "add", back: "part" } as const),
);
const functions = fc.array(fc.constantFrom("log", "sqrt", "silu"), { maxLength: 3 });

describe("classesOfRepeats", () => {
  it("gives nodes and weights at the same place of equal layers one class", () => {
    const parts = fc.array(step, { minLength: 1, maxLength: 9 }).map((rest): Part => [{ kind: "weight" }, ...rest]);
    fc.assert(
      fc.property(parts, fc.integer({ min: 3, max: 7 }), functions, functions, (part, count, before, behind) => {
        const { graph, layers, weights } = layered(part, count, before, behind);
        const classes = classesOfRepeats(graph);
        for (const layer of layers) expect(layer.map((i) => classes[i])).toEqual(layers[0]?.map((i) => classes[i]));
        for (const own of weights) expect(own.map((i) => classes[i])).toEqual(weights[0]?.map((i) => classes[i]));
        // numbers 0 .. in the order in which they first come, and nodes of one do the same
        let next = 0;
        const firsts: GraphNode[] = [];
        classes.forEach((number, i) => {
          expect(number).toBeLessThanOrEqual(next);
          const node = graph.nodes[i] as GraphNode;
          if (number === next) firsts[next++] = node;
          const first = firsts[number] as GraphNode;
          expect([node.kind, operandsOf(node).length, "function" in node && node.function]).toEqual([
            first.kind,
            operandsOf(first).length,
            "function" in first && first.function,
          ]);
        });
      }),
      {
        numRuns: runs(200),
        // halves of a part that do the same and take other tensors
        examples: [
          [
            [{ kind: "weight" }, { kind: "add", back: "part" }, { kind: "weight" }, { kind: "add", back: "part" }],
            3,
            [],
            [],
          ],
        ],
      },
    );
  });

  it("gives what is no layer a class of its own", () => {
    const part: Part = [{ kind: "function", name: "exp" }, { kind: "weight" }, { kind: "add", back: "part" }];
    const { graph, layers } = layered(part, 12, ["log"], ["exp", "log"]);
    const classes = classesOfRepeats(graph);
    // the weights, x, log, three of a layer, exp, log, the output
    expect(new Set(classes).size).toBe(1 + 1 + 1 + 3 + 2 + 1);
    expect(classes[layers[11]?.[2] as number]).toBe(classes[layers[0]?.[2] as number]);
  });

  it("finds nothing in layers of different sizes, nor where they are wired otherwise", () => {
    const part: Part = [{ kind: "weight" }, { kind: "function", name: "relu" }];
    const { graph, layers } = layered(part, 2, [], []);
    const nodes = [...graph.nodes];
    const at = layers[1]?.[0] as number;
    // the second layer takes what the first took
    nodes[at] = { ...(nodes[at] as GraphNode), elementBytes: 4 };
    expect(new Set(classesOfRepeats({ ...graph, nodes })).size).toBe(nodes.length);
  });

  it("takes time near linear in nodes", () => {
    const part: Part = Array.from({ length: 40 }, (_, i) =>
      i % 5 === 0 ? { kind: "weight" } : { kind: "function", name: FUNCTIONS[below(draw(7, i, 0), 4)] as string },
    );
    const { graph, layers } = layered(part, 400, ["log"], ["log"]);
    const start = process.cpuUsage();
    const classes = classesOfRepeats(graph);
    const { user, system } = process.cpuUsage(start);
    expect(new Set(classes).size).toBe(8 + 1 + 1 + 40 + 1 + 1);
    expect(layers.every((layer) => classes[layer[0] as number] === classes[layers[0]?.[0] as number])).toBe(true);
    // 19,204 nodes; a search of all pairs takes minutes
    expect((user + system) / 1000).toBeLessThan(10_000);
  });
});
