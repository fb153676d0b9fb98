import { expect } from "vitest";
import type { Random } from "../../src/base/random.ts";
import { type DenseTensor, runDense } from "../../src/execute/tensor-graph/dense.ts";
import { withGradients } from "../../src/model/tensor-graph/backward.ts";
import { elementsOf, type TensorGraph } from "../../src/model/tensor-graph/graph.ts";

/** Returns a number in [low, high). */
export const uniform = (draws: Random, low: number, high: number): number =>
  low + ((high - low) * draws.next()) / 2 ** 32;

/** Returns numbers for all placeholders of a graph, by a rule for each. */
export function numbersFor(
  graph: TensorGraph,
  of: (name: string, role: string, i: number) => number,
): Map<number, DenseTensor> {
  const given = new Map<number, DenseTensor>();
  graph.nodes.forEach((node, n) => {
    if (node.kind !== "placeholder") return;
    const data = Float64Array.from({ length: elementsOf(graph, node.dims) }, (_, i) => of(node.name, node.role, i));
    given.set(n, { dims: node.dims, data });
  });
  return given;
}

/** Returns the sum of all outputs of a forward graph, each times its tangent. */
function weighed(
  graph: TensorGraph,
  given: ReadonlyMap<number, DenseTensor>,
  tangents: readonly Float64Array[],
): number {
  const tensors = runDense(graph, given);
  const last = graph.nodes[graph.nodes.length - 1];
  if (last?.kind !== "output") throw new Error("no output");
  let sum = 0;
  last.operands.forEach(({ node }, k) => {
    const { data } = tensors[node] as DenseTensor;
    for (let i = 0; i < data.length; i++) sum += data[i] * ((tangents[k] as Float64Array)[i] ?? 0);
  });
  return sum;
}

/**
 * Holds all gradients that a graph gets against central differences; returns how many numbers were compared. `given`: of the
 * placeholders of the forward graph.
 */
export function expectGradients(
  forward: TensorGraph,
  given: ReadonlyMap<number, DenseTensor>,
  draws: Random,
  step = 1e-5,
): number {
  const graph = withGradients(forward);
  const all = new Map(given);
  const tangentOf = new Map<string, Float64Array[]>();
  graph.nodes.forEach((node, n) => {
    if (node.kind !== "placeholder" || node.role !== "tangent") return;
    const data = Float64Array.from({ length: elementsOf(graph, node.dims) }, () => uniform(draws, -1, 1));
    all.set(n, { dims: node.dims, data });
    const of = node.name.replace(/^tangent of /, "").replace(/ \(\d+\)$/, "");
    tangentOf.set(of, [...(tangentOf.get(of) ?? []), data]);
  });
  const last = forward.nodes[forward.nodes.length - 1];
  if (last?.kind !== "output") throw new Error("no output");
  const tangents = last.operands.map(
    ({ node }) => tangentOf.get(forward.nodes[node]?.name as string)?.shift() ?? new Float64Array(0),
  );
  const tensors = runDense(graph, all);
  let compared = 0;
  forward.nodes.forEach((node, n) => {
    if (node.kind !== "placeholder" || node.role !== "parameter") return;
    const of = graph.gradients.find(({ parameter }) => parameter === n);
    const gradient = of === undefined ? null : (tensors[of.gradient] as DenseTensor);
    if (gradient !== null) expect(gradient.dims).toEqual(node.dims);
    const { dims, data } = given.get(n) as DenseTensor;
    for (let i = 0; i < data.length; i++) {
      const at = (value: number): number =>
        weighed(forward, new Map(given).set(n, { dims, data: data.with(i, value) }), tangents);
      const slope = (at(data[i] + step) - at(data[i] - step)) / (2 * step);
      const found = gradient?.data[i] ?? 0;
      const scale = 1 + Math.abs(slope);
      expect(Math.abs(found - slope) / scale, `${node.name}[${i}]: ${found}, by differences ${slope}`).toBeLessThan(
        2e-6,
      );
      compared++;
    }
  });
  return compared;
}
