import { InputError, inWords } from "../../base/errors.ts";
import { type Axis, sizeOfAxis } from "../../model/tensor-graph/dimension-solver.ts";
import {
  type Assembly,
  einsum,
  elementwise,
  freshAxes,
  type Made,
  oneHot,
  partOf,
  permuted,
  placeholder,
  reduction,
  refusal,
  sizesOf,
  type Value,
  viewed,
} from "./assembly.ts";

/** What a program works out before any input is there: its numbers, where they are few and known. */
export interface Known {
  readonly shape: readonly number[];
  readonly bytes: number;
  readonly numbers: readonly number[] | null;
}

/** What an operator is given. */
export type Given = Value | Known | number;

export const isKnown = (given: Given): given is Known => typeof given === "object" && "shape" in given;

/** Returns the number that is given; null where it is none, or not known. */
export function numberOf(given: Given): number | null {
  if (typeof given === "number") return given;
  return isKnown(given) && given.numbers?.length === 1 ? (given.numbers[0] as number) : null;
}

/** Returns a tensor of numbers that are made where they are used: an input that takes no memory. */
export const given = (assembly: Assembly, made: Made, axes: readonly Axis[]): Value =>
  placeholder(assembly, { ...made, isFused: true }, "input", axes);

/** Returns what is given as a tensor. */
export function asTensor(assembly: Assembly, made: Made, one: Given): Value {
  if (typeof one === "object" && !isKnown(one)) return one;
  return given(assembly, partOf(made, "given"), freshAxes(assembly.atoms, typeof one === "number" ? [] : one.shape));
}

/** Returns the number of an axis that is counted from the end where it is negative. Throws InputError where there is none. */
export function axisAt({ place }: Pick<Assembly, "place">, at: number, rank: number): number {
  const axis = at < 0 ? at + rank : at;
  if (Number.isInteger(axis) && axis >= 0 && axis < rank) return axis;
  throw new InputError(place, `a dimension in ${-rank} .. ${rank - 1}`, at).as("out-of-range");
}

/** Returns the axes of numbers, each once; all where there are none. */
export function axesAt(assembly: Assembly, at: readonly number[] | null, rank: number): number[] {
  if (at === null || at.length === 0) return Array.from({ length: rank }, (_, i) => i);
  return [...new Set(at.map((one) => axisAt(assembly, one, rank)))].sort((a, b) => a - b);
}

/** Returns the product of matrices, or of stacks of them; a vector is a matrix of one row on the left, of one column on the right. */
export function matmul(assembly: Assembly, made: Made, left: Value, right: Value): Value {
  const [m, n] = [left.axes.length, right.axes.length];
  if (m === 0 || n === 0) throw refusal(assembly, "of vectors or matrices", inWords("of single numbers"));
  const rank = Math.max(m, n, 2) - 2;
  const batch = (count: number): string[] => Array.from({ length: count }, (_, i) => `batch ${rank - count + i}`);
  const rows = m > 1 ? [...batch(m - 2), "row"] : [];
  const columns = n > 1 ? ["column"] : [];
  return einsum(
    assembly,
    made,
    [
      { value: left, labels: [...rows, "both"] },
      { value: right, labels: n > 1 ? [...batch(n - 2), "both", "column"] : ["both"] },
    ],
    [...batch(rank), ...(m > 1 ? ["row"] : []), ...columns],
  );
}

/** Returns an einsum by its equation, in letters, of which no tensor has one twice. Throws InputError for another. */
export function einsumBy(assembly: Assembly, made: Made, equation: unknown, values: readonly Value[]): Value {
  const [left = "", right] = typeof equation === "string" ? equation.replaceAll(" ", "").split("->") : [];
  const terms = left.split(",");
  const isAlone = (label: string): boolean => left.split(label).length === 2;
  const wanted = right ?? [...new Set(left.replaceAll(",", ""))].filter(isAlone).sort().join("");
  const isPlain = [...terms, wanted].every((term) => /^[A-Za-z]*$/.test(term) && new Set(term).size === term.length);
  const goes = terms.length === values.length && terms.every((term, k) => term.length === values[k]?.axes.length);
  if (!isPlain || !goes || ![...wanted].every((label) => left.includes(label)))
    throw refusal(assembly, "an equation of letters, each once in a tensor, one for each of its dimensions", equation);
  const operands = values.map((value, k) => ({ value, labels: [...(terms[k] as string)] }));
  return einsum(assembly, made, operands, [...wanted]);
}

/** Returns the value with its last two axes changed for each other. */
export function transposed(assembly: Assembly, value: Value, one = -2, other = -1): Value {
  const rank = value.axes.length;
  const order = value.axes.map((_, i) => i);
  const [a, b] = [axisAt(assembly, one, rank), axisAt(assembly, other, rank)];
  return permuted(value, order.with(a, b).with(b, a));
}

/** Returns x W^T + b, whose product is its own node where there is a b. */
export function linear(assembly: Assembly, made: Made, x: Value, weight: Value, bias: Value | null): Value {
  const product = (as: Made): Value =>
    matmul(assembly, as, x, weight.axes.length === 2 ? transposed(assembly, weight) : weight);
  if (bias === null) return product(made);
  return elementwise(assembly, made, "add", [product({ ...partOf(made, "product"), isFused: false }), bias]);
}

/** Returns the mean over axes: the sum, scaled. */
export function mean(assembly: Assembly, made: Made, x: Value, over: readonly number[], keeps: boolean): Value {
  const sizes = sizesOf(assembly, x);
  const count = over.reduce((all, at) => all * (sizes[at] as number), 1);
  const sum = reduction(assembly, partOf(made, "sum"), "sum", x, over, keeps);
  return elementwise(assembly, made, "scale", [sum], { constant: 1 / count });
}

/** A norm and what its gradient is made of. */
export interface Normed {
  readonly result: Value;
  readonly normed: Value;
}

/** Returns a norm along the last `count` axes, times a weight, plus a bias; what is between is made and used piece by piece. */
export function norm(
  assembly: Assembly,
  made: Made,
  name: "layer-norm" | "rms-norm",
  x: Value,
  besides: {
    readonly count: number;
    readonly epsilon: number;
    readonly weight: Value | null;
    readonly bias: Value | null;
  },
): Normed {
  const { count, epsilon, weight, bias } = besides;
  const rank = x.axes.length;
  const whole = Array.from({ length: count }, (_, i) => axisAt(assembly, i - count, rank));
  const isLast = weight === null && bias === null;
  const normed = elementwise(assembly, isLast ? made : partOf(made, "normed"), name, [x], { constant: epsilon, whole });
  const scaled = weight && elementwise(assembly, bias ? partOf(made, "scaled") : made, "multiply", [normed, weight]);
  const result = bias ? elementwise(assembly, made, "add", [scaled ?? normed, bias]) : (scaled ?? normed);
  return { result, normed };
}

/**
 * Returns rows of a table by their indices: an einsum that selects, of the table and of what is 1 where an index says and 0
 * elsewhere ("one-hot"), which is made of the indices piece by piece; where the indices are known beforehand it is an input that
 * takes no memory.
 */
export function rowsOf(assembly: Assembly, made: Made, table: Value, indices: Given, axis = 0): Value {
  const rows = table.axes[axis] as Axis;
  const places = placesOf(assembly, made, indices, rows);
  const which = places.axes.slice(0, -1).map((_, i) => `index ${i}`);
  const others = table.axes.map((_, i) => (i === axis ? "row" : `axis ${i}`));
  const result = others.flatMap((label) => (label === "row" ? which : [label]));
  const operands = [
    { value: places, labels: [...which, "row"] },
    { value: table, labels: others },
  ];
  return einsum(assembly, made, operands, result, true);
}

/** Returns, for indices, what is 1 at their places along an axis, its last. */
export function placesOf(assembly: Assembly, made: Made, indices: Given, axis: Axis): Value {
  const as = partOf(made, "places");
  if (typeof indices === "object" && !isKnown(indices)) return oneHot(assembly, as, indices, axis);
  const size = sizeOfAxis(assembly.atoms, axis);
  return given(assembly, as, freshAxes(assembly.atoms, [...(typeof indices === "number" ? [] : indices.shape), size]));
}

/** A part of an axis: every `step`-th of `length` from `start`. */
export interface Part {
  readonly start: number;
  readonly length: number;
  readonly step: number;
}

/** Whether a part is one of several equal ones that an axis of a size consists of. */
const isEvenPart = ({ start, length, step }: Part, size: number): boolean =>
  step === 1 && size % length === 0 && start % length === 0;

/**
 * Returns a part of an axis: an einsum that selects, of what is 1 where the part is. Of equal parts which it is is a dimension of its
 * own, so that the part keeps the rest.
 */
export function partAlong(assembly: Assembly, made: Made, x: Value, axis: number, part: Part): Value {
  const sizes = sizesOf(assembly, x);
  const size = sizes[axis] as number;
  if (part.length === size && part.start === 0) return x;
  const labels = x.axes.map((_, i): number | string => i);
  const which = partOf(made, "which");
  if (!isEvenPart(part, size)) {
    const places = given(assembly, which, freshAxes(assembly.atoms, [part.length, size]));
    const operands = [
      { value: places, labels: ["part", axis] },
      { value: x, labels },
    ];
    return einsum(assembly, made, operands, labels.with(axis, "part"), true);
  }
  const parts = viewed(assembly, x, sizes.toSpliced(axis, 1, size / part.length, part.length));
  const operands = [
    { value: given(assembly, which, freshAxes(assembly.atoms, [size / part.length])), labels: ["which"] },
    { value: parts, labels: labels.toSpliced(axis, 1, "which", axis) },
  ];
  return einsum(assembly, made, operands, labels, true);
}

/** Returns a longer axis in which the value is a part, and what else there is is 0: partAlong the other way. */
export function placedAlong(assembly: Assembly, made: Made, x: Value, axis: number, part: Part, size: number): Value {
  const labels = x.axes.map((_, i): number | string => i);
  const which = partOf(made, "which");
  if (!isEvenPart(part, size)) {
    const places = given(assembly, which, freshAxes(assembly.atoms, [part.length, size]));
    const operands = [
      { value: places, labels: [axis, "all"] },
      { value: x, labels },
    ];
    return einsum(assembly, made, operands, labels.with(axis, "all"), true);
  }
  const operands = [
    { value: given(assembly, which, freshAxes(assembly.atoms, [size / part.length])), labels: ["which"] },
    { value: x, labels },
  ];
  const parts = einsum(assembly, made, operands, labels.toSpliced(axis, 1, "which", axis), true);
  return viewed(assembly, parts, sizesOf(assembly, x).with(axis, size));
}

/** Returns values one behind the other along an axis: the sum of what has each at its place, which is made there. */
export function joined(assembly: Assembly, made: Made, values: readonly Value[], axis: number): Value {
  if (values.length === 1) return values[0] as Value;
  const lengths = values.map((value) => sizesOf(assembly, value)[axis] as number);
  const size = lengths.reduce((a, b) => a + b, 0);
  let start = 0;
  const placed = values.map((value, i) => {
    const length = lengths[i] as number;
    const part = { start, length, step: 1 };
    start += length;
    return placedAlong(assembly, partOf(made, `part ${i}`), value, axis, part, size);
  });
  return elementwise(assembly, made, "add", placed);
}

/** What attention is asked. */
export interface AttentionRequest {
  /** [batch ..., tokens, numbers] each; keys and values may have fewer heads, each of which is for several neighbours of queries. */
  readonly query: Value;
  readonly key: Value;
  readonly value: Value;
  /** Added to scores. */
  readonly mask: Value | null;
  readonly isCausal: boolean;
  readonly scale: number;
}

/** Attention, and what its gradient is made of. */
export interface Attended {
  readonly result: Value;
  /** The softmax of the scores, by queries and keys. */
  readonly weights: Value;
}

/** Returns attention: scores, their softmax, and what they take of the values; scores are made and used piece by piece. */
export function attention(assembly: Assembly, made: Made, request: AttentionRequest): Attended {
  const { query, key, value, mask, isCausal, scale } = request;
  let scores = matmul(assembly, partOf(made, "products"), query, transposed(assembly, key));
  scores = elementwise(assembly, partOf(made, "scores"), "scale", [scores], { constant: scale });
  if (mask !== null) scores = elementwise(assembly, partOf(made, "masked"), "add", [scores, mask]);
  const rank = scores.axes.length;
  const weights = isCausal
    ? causalSoftmax(assembly, partOf(made, "weights"), scores)
    : elementwise(assembly, partOf(made, "weights"), "softmax", [scores], { whole: [rank - 1] });
  return { result: matmul(assembly, made, weights, value), weights };
}

/** Returns the softmax over keys that stand no later than the query. */
function causalSoftmax(assembly: Assembly, made: Made, scores: Value): Value {
  const [queries, keys] = sizesOf(assembly, scores).slice(-2) as [number, number];
  const positions = [queries, keys].map((size, i) =>
    given(assembly, partOf(made, i === 0 ? "queries" : "keys"), freshAxes(assembly.atoms, [size])),
  ) as [Value, Value];
  const column = viewed(assembly, positions[0], [queries, 1]);
  return elementwise(assembly, made, "causal-softmax", [scores, column, positions[1]], {
    whole: [scores.axes.length - 1],
  });
}
