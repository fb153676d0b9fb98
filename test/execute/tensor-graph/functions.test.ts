import { describe, expect, it } from "vitest";
import { random } from "../../../src/base/random.ts";
import { type DenseTensor, runDense } from "../../../src/execute/tensor-graph/dense.ts";
import { POINTWISE, WHOLE } from "../../../src/execute/tensor-graph/functions.ts";
import { graphBuilder } from "../../../src/model/tensor-graph/builder.ts";
import { FUNCTIONS } from "../../../src/model/tensor-graph/functions.ts";
import type { TensorGraph } from "../../../src/model/tensor-graph/graph.ts";
import { expectGradients, numbersFor, uniform } from "../../support/tensor-numbers.ts";

/** How a function is tried where its operands are not all alike. */
interface Trial {
  /** [name, size] */
  readonly dimensions: readonly (readonly [string, number])[];
  readonly operands: readonly (readonly number[])[];
  readonly dims: readonly number[];
  readonly whole?: readonly number[];
  readonly constant?: number;
  /** [operands] the element number i; absent: anything between the ends of `range`. */
  readonly numbers?: readonly (((i: number) => number) | null)[];
  readonly range?: readonly [number, number];
}

const ab = [
  ["a", 3],
  ["b", 4],
] as const;
const POSITIVE = { range: [0.4, 2] } as const;
const routed = {
  dimensions: [
    ["samples", 2],
    ["tokens", 5],
    ["experts", 4],
    ["places", 2],
  ],
  whole: [1, 2, 3],
  constant: 2,
  range: [-2, 2],
} as const;
const windowed = {
  dimensions: [
    ["samples", 2],
    ["rows", 5],
    ["columns", 4],
    ["down", 3],
    ["across", 2],
    ["high", 3],
    ["wide", 2],
  ],
  whole: [1, 2, 3, 4, 5, 6],
  constant: 2,
} as const;
const normed = { dimensions: ab, operands: [[0, 1]], dims: [0, 1], whole: [1], constant: 1e-3 } as const;
const positions = (i: number): number => i;

const TRIALS: Readonly<Record<string, Trial>> = {
  scale: { dimensions: ab, operands: [[0, 1]], dims: [0, 1], constant: 1.7 },
  shift: { dimensions: ab, operands: [[0, 1]], dims: [0, 1], constant: 1.7 },
  power: { dimensions: ab, operands: [[0, 1]], dims: [0, 1], constant: 1.7, ...POSITIVE },
  divide: { dimensions: ab, operands: [[0, 1], [1]], dims: [0, 1], ...POSITIVE },
  multiply: { dimensions: ab, operands: [[0], [0, 1]], dims: [0, 1] },
  add: { dimensions: ab, operands: [[0], [1], [1, 0]], dims: [0, 1] },
  subtract: { dimensions: ab, operands: [[], [1]], dims: [0, 1] },
  ...Object.fromEntries(
    ["log", "sqrt", "rsqrt"].map((name) => [name, { dimensions: ab, operands: [[0, 1]], dims: [0, 1], ...POSITIVE }]),
  ),
  softmax: { ...normed, whole: [1] },
  "rms-norm": normed,
  "layer-norm": { ...normed, whole: [1, 0] },
  "causal-softmax": {
    dimensions: [...ab, ["keys", 4]],
    operands: [[2, 0, 1], [1], [2]],
    dims: [0, 1, 2],
    whole: [2],
    constant: 3,
    numbers: [null, positions, positions],
  },
  turn: {
    dimensions: [...ab, ["size", 6]],
    operands: [[1, 2, 0], [1]],
    dims: [0, 1, 2],
    whole: [2],
    constant: 100,
    numbers: [null, (i) => i + 2],
  },
  "one-hot": { dimensions: ab, operands: [[0]], dims: [1, 0], whole: [1], numbers: [(i) => i - 1] },
  "cross-entropy": {
    dimensions: ab,
    operands: [[1, 0], [0]],
    dims: [0],
    whole: [1],
    numbers: [null, (i) => [2, -100, 0][i] as number],
  },
  route: { ...routed, operands: [[0, 1, 2]], dims: [3, 0, 1, 2] },
  gates: { ...routed, operands: [[1, 0, 2]], dims: [0, 3, 2] },
  windows: { ...windowed, operands: [[0, 2, 1]], dims: [3, 5, 0, 4, 6] },
};

function trialOf(name: string): Trial {
  const { operands, isWhole } = FUNCTIONS.get(name) as NonNullable<ReturnType<typeof FUNCTIONS.get>>;
  const count = operands === "any" ? 3 : operands;
  const known = TRIALS[name];
  if (known !== undefined) return known;
  expect(isWhole, `${name} needs a trial of its own`).toBe(false);
  return { dimensions: ab, operands: Array.from({ length: count }, () => [0, 1]), dims: [0, 1] };
}

function graphOf(name: string, { dimensions, operands, dims, whole = [], constant = 0 }: Trial): TensorGraph {
  const builder = graphBuilder(4);
  for (const [dimension, size] of dimensions) builder.dimension(dimension, size);
  const given = operands.map((of, k) => builder.placeholder(`operand ${k}`, "parameter", of));
  return builder.graph(name, [builder.apply("result", name, given, { dims, whole, constant })]);
}

const derived = [...FUNCTIONS.values()].filter(({ derivatives, name }) => derivatives !== undefined || name === "add");

describe("functions of elements", () => {
  it("are computed, each in one way", () => {
    const computed = [...POINTWISE.keys(), ...WHOLE.keys()];
    expect(computed.sort()).toEqual([...FUNCTIONS.keys()].sort());
    for (const { name, isWhole } of FUNCTIONS.values()) expect(WHOLE.has(name), name).toBe(isWhole);
  });

  it.each(derived.map(({ name }) => name))("%s has the gradient that central differences give", (name) => {
    const trial = trialOf(name);
    const graph = graphOf(name, trial);
    const derivatives = FUNCTIONS.get(name)?.derivatives;
    const draws = random(7);
    const [low, high] = trial.range ?? [-1.5, 1.5];
    const of = (operand: string, _: string, i: number): number =>
      trial.numbers?.[Number(operand.slice(-1))]?.(i) ?? uniform(draws, low, high);
    for (let round = 0; round < 3; round++) {
      const given = numbersFor(graph, of);
      // where no gradient goes, the operand is an input
      const nodes = graph.nodes.map((node, k) =>
        node.kind === "placeholder" && derivatives?.[k] === null ? { ...node, role: "input" as const } : node,
      );
      const compared = expectGradients({ ...graph, nodes }, given, draws);
      expect(compared > 0).toBe(derivatives === undefined || derivatives.some((one) => one !== null));
    }
  });

  it.each([...FUNCTIONS.values()].filter(({ linear }) => linear !== "none").map(({ name }) => name))(
    "%s is linear in what the table says",
    (name) => {
      const { linear, operands } = FUNCTIONS.get(name) as NonNullable<ReturnType<typeof FUNCTIONS.get>>;
      const trial = LINEAR[name] ?? trialOf(name);
      const graph = graphOf(name, trial);
      const count = operands === "any" ? trial.operands.length : operands;
      const draws = random(3);
      const [low, high] = trial.range ?? [-1.5, 1.5];
      const of = (operand: string, _: string, i: number): number =>
        trial.numbers?.[Number(operand.slice(-1))]?.(i) ?? uniform(draws, low, high);
      const value = (given: ReadonlyMap<number, DenseTensor>): Float64Array =>
        (runDense(graph, given)[count] as DenseTensor).data;
      const sets = linear === "all" ? [[...Array(count).keys()]] : linear === "first" ? [[0]] : [[0], [1]];
      for (const together of sets) {
        const one = numbersFor(graph, of);
        const other = new Map(one);
        const sum = new Map(one);
        for (const k of together) {
          const { dims, data } = one.get(k) as DenseTensor;
          const more = data.map(() => uniform(draws, -1, 1));
          other.set(k, { dims, data: more });
          sum.set(k, { dims, data: data.map((x, i) => x + 2 * more[i]) });
        }
        const [a, b] = [value(one), value(other)];
        value(sum).forEach((x, i) => {
          expect(x).toBeCloseTo(a[i] + 2 * b[i], 9);
        });
      }
    },
  );

  it("send tokens to places in their order, and drop who finds none", () => {
    const trial = { ...(TRIALS["route"] as Trial), constant: 1 };
    const graph = graphOf("route", trial);
    // all five tokens of both samples prefer the expert 2, then 0: of equal ones the first
    const given = numbersFor(graph, (_, __, i) => [0, 0, 5, -1][i % 4] as number);
    const { data } = runDense(graph, given)[1] as DenseTensor;
    const at = (place: number, sample: number, token: number, expert: number): number =>
      data[((place * 2 + sample) * 5 + token) * 4 + expert];
    for (const sample of [0, 1]) {
      expect([at(0, sample, 0, 2), at(1, sample, 1, 2)]).toEqual([1, 1]);
    }
    expect(data.reduce((sum, x) => sum + x)).toBe(4);
    const two = runDense(graphOf("route", { ...trial, constant: 2 }), given)[1] as DenseTensor;
    expect(two.data[((0 * 2 + 1) * 5 + 0) * 4 + 0]).toBe(1);
    expect(two.data.reduce((sum, x) => sum + x)).toBe(8);
  });

  it("show windows of a convolution what they see", () => {
    const builder = graphBuilder(4);
    const dims = [4, 4, 2, 2, 3, 3].map((size, i) => builder.dimension(`d${i}`, size));
    const x = builder.placeholder("x", "input", dims.slice(0, 2));
    const seen = builder.apply("seen", "windows", [x], { dims: dims.slice(2), whole: dims, constant: 2 });
    const graph = builder.graph("windows", [seen]);
    const { data } = runDense(
      graph,
      numbersFor(graph, (_, __, i) => i + 1),
    )[seen] as DenseTensor;
    expect([...data.slice(0, 9)]).toEqual([0, 0, 0, 0, 1, 2, 0, 5, 6]);
    expect([...data.slice(27, 36)]).toEqual([6, 7, 8, 10, 11, 12, 14, 15, 16]);
  });
});

const same = (count: number): Trial => ({
  dimensions: ab,
  operands: Array.from({ length: count }, () => [0, 1]),
  dims: [0, 1],
  ...POSITIVE,
});
/** Trials of gradients, which have no gradient themselves. */
const LINEAR: Readonly<Record<string, Trial>> = {
  ...Object.fromEntries(
    [...FUNCTIONS.values()]
      .filter(({ name, isWhole }) => name.endsWith("-gradient") && !isWhole)
      .map(({ name, operands }) => [name, { ...same(operands as number), constant: 1.3 }]),
  ),
  ...Object.fromEntries(
    ["softmax-gradient", "rms-norm-gradient", "layer-norm-gradient"].map((name) => [
      name,
      { ...same(2), whole: [1], constant: 0.1 },
    ]),
  ),
  "max-gradient": { ...same(3), whole: [1], numbers: [null, () => 1, (i) => (i % 4 === 2 ? 1 : 0)] },
  "cross-entropy-gradient": {
    dimensions: ab,
    operands: [[0], [1, 0], [0]],
    dims: [0, 1],
    whole: [1],
    numbers: [null, null, (i) => i],
  },
  "turn-back": TRIALS["turn"] as Trial,
  "gates-gradient": {
    ...routed,
    operands: [
      [0, 2, 3],
      [0, 1, 2],
    ],
    dims: [0, 1, 2],
  },
  "windows-back": { ...windowed, operands: [[0, 3, 4, 5, 6]], dims: [2, 0, 1] },
};
