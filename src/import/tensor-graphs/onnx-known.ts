import type { OnnxCall } from "./onnx-call.ts";
import { type Given, isKnown, type Known } from "./operators.ts";

/** More numbers are not worked out. */
const MOST_NUMBERS = 64;

const count = (shape: readonly number[]): number => shape.reduce((a, b) => a * b, 1);

/** Returns all numbers of what is known; null where they are not. */
export function numbersOf(given: Given | null): readonly number[] | null {
  if (given === null || typeof given === "number" || !isKnown(given) || given.numbers === null) return null;
  const all = count(given.shape);
  if (given.numbers.length === all) return given.numbers;
  return all <= MOST_NUMBERS ? Array.from({ length: all }, () => given.numbers?.[0] as number) : null;
}

const ARITHMETIC: ReadonlyMap<string, (a: number, b: number) => number> = new Map([
  ["Add", (a, b) => a + b],
  ["Sub", (a, b) => a - b],
  ["Mul", (a, b) => a * b],
  ["Div", (a, b) => a / b],
  ["Pow", (a, b) => a ** b],
  ["Equal", (a, b) => Number(a === b)],
  ["Less", (a, b) => Number(a < b)],
  ["Greater", (a, b) => Number(a > b)],
  ["LessOrEqual", (a, b) => Number(a <= b)],
  ["GreaterOrEqual", (a, b) => Number(a >= b)],
  ["And", (a, b) => a * b],
  ["Or", (a, b) => Math.max(a, b)],
]);

const together = (one: readonly number[], other: readonly number[]): number[] => {
  const rank = Math.max(one.length, other.length);
  const from = (shape: readonly number[], i: number): number => shape[i - rank + shape.length] ?? 1;
  return Array.from({ length: rank }, (_, i) => Math.max(from(one, i), from(other, i)));
};

const wholeDivision = (call: OnnxCall, found: number): number =>
  call.operator === "Div" && call.type !== 1 && call.type !== 11 && call.type !== 10 ? Math.trunc(found) : found;

function calculated(call: OnnxCall, one: Known, other: Known, of: (a: number, b: number) => number): Known {
  const shape = together(one.shape, other.shape);
  const [a, b] = [one.numbers, other.numbers];
  const length = Math.max(a?.length ?? 0, b?.length ?? 0);
  const goes = a !== null && b !== null && [a, b].every((list) => list.length === 1 || list.length === count(shape));
  if (!goes) return { shape, bytes: one.bytes, numbers: null };
  const at = (list: readonly number[], i: number): number => (list.length === 1 ? list[0] : list[i]) as number;
  const numbers = Array.from({ length }, (_, i) => wholeDivision(call, of(at(a, i), at(b, i))));
  return { shape, bytes: one.bytes, numbers };
}

const listed = (numbers: readonly number[], bytes: number): Known => ({ shape: [numbers.length], bytes, numbers });

function sliced(call: OnnxCall, data: Known, numbers: readonly number[]): Known | null {
  if (data.shape.length !== 1) return null;
  const [start, end, , step] = [1, 2, 3, 4].map((i) => numbersOf(call.inputs[i] ?? null)?.[0]);
  const from = start ?? call.attributes.get("starts")?.numbers[0];
  const to = end ?? call.attributes.get("ends")?.numbers[0];
  if (from === undefined || to === undefined || (step ?? 1) !== 1) return null;
  return listed(numbers.slice(from, to), data.bytes);
}

/** Returns what an operator makes of what is known: sizes, indices, masks; null where it does not follow. */
export function workedOut(call: OnnxCall): Known | null {
  const { operator, inputs, attributes, bytes } = call;
  const [first, second] = inputs.map((one) =>
    typeof one === "number" ? { shape: [], bytes, numbers: [one] } : one,
  ) as (Known | null)[];
  const tensor = attributes.get("value")?.tensor;
  if (operator === "Constant") {
    if (tensor) return { shape: tensor.sizes, bytes, numbers: tensor.numbers };
    const number = (attributes.get("value_float") ?? attributes.get("value_int"))?.number;
    if (typeof number === "number") return { shape: [], bytes, numbers: [number] };
    const numbers = (attributes.get("value_ints") ?? attributes.get("value_floats"))?.numbers;
    return numbers === undefined ? null : listed(numbers, bytes);
  }
  if (!first) return null;
  const numbers = numbersOf(first);
  const sizes = numbersOf(second ?? null);
  const plain = ARITHMETIC.get(operator);
  if (plain && second) return calculated(call, first, second, plain);
  switch (operator) {
    case "ConstantOfShape":
      return numbers && { shape: numbers, bytes, numbers: [tensor?.numbers?.[0] ?? 0] };
    case "Range": {
      const [from, to, step] = inputs.map((one) => numbersOf(one)?.[0]) as (number | undefined)[];
      if (from === undefined || to === undefined || !step) return null;
      const length = Math.max(0, Math.ceil((to - from) / step));
      const all = length <= MOST_NUMBERS ? Array.from({ length }, (_, i) => from + i * step) : null;
      return { shape: [length], bytes: first.bytes, numbers: length === 1 ? null : all };
    }
    case "Gather": {
      if (first.shape.length !== 1 || !second) return null;
      const found = numbers && sizes ? sizes.map((i) => numbers[i < 0 ? i + numbers.length : i] ?? 0) : null;
      return { shape: second.shape, bytes: first.bytes, numbers: found };
    }
    case "Concat": {
      const all = inputs.map(numbersOf);
      if (!all.every((list) => list !== null) || !inputs.every((one) => (one as Known).shape.length === 1)) return null;
      return listed(all.flat(), first.bytes);
    }
    case "Slice":
      return numbers && sliced(call, first, numbers);
    case "Unsqueeze":
    case "Squeeze":
    case "Reshape":
    case "Expand": {
      const axes = sizes ?? attributes.get("axes")?.numbers ?? [];
      const shape = reshaped(operator, first.shape, axes);
      const isAlike = first.numbers?.length === 1 || operator !== "Expand";
      return shape && { shape, bytes: first.bytes, numbers: isAlike ? first.numbers : null };
    }
    case "Not":
      return { ...first, numbers: first.numbers?.map((number) => Number(number === 0)) ?? null };
    case "Cast":
    case "Identity":
      return { ...first, bytes };
    case "Where": {
      const shape = inputs.map((one) => (one as Known).shape).reduce(together);
      return { shape, bytes: second?.bytes ?? bytes, numbers: null };
    }
    case "Trilu":
    case "Neg":
    case "Sqrt":
    case "Sin":
    case "Cos":
    case "Exp":
    case "Reciprocal":
    case "CumSum":
      return { ...first, numbers: operator === "Sqrt" ? (first.numbers?.map(Math.sqrt) ?? null) : null };
    default:
      return null;
  }
}

function reshaped(operator: string, shape: readonly number[], given: readonly number[]): number[] | null {
  const isUnsqueeze = operator === "Unsqueeze";
  const rank = shape.length + (isUnsqueeze ? given.length : 0);
  const axes = given.map((at) => (at < 0 ? at + rank : at));
  if (isUnsqueeze) {
    const rest = [...shape];
    return Array.from({ length: rank }, (_, i) => (axes.includes(i) ? 1 : (rest.shift() ?? 1)));
  }
  if (operator === "Squeeze") return shape.filter((size, i) => size !== 1 || (axes.length > 0 && !axes.includes(i)));
  if (operator === "Expand") return together(shape, given);
  const known = given.map((size, i) => (size === 0 ? (shape[i] ?? 0) : size));
  const others = known.reduce((a, b) => (b < 0 ? a : a * b), 1);
  const found = known.map((size) => (size < 0 ? count(shape) / others : size));
  return count(found) === count(shape) ? found : null;
}
