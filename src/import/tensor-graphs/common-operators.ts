import { InputError, inWords } from "../../base/errors.ts";
import { power } from "./arithmetic.ts";
import {
  type Assembly,
  elementwise,
  type Made,
  partOf,
  permuted,
  reduction,
  refusal,
  sizesOf,
  type Value,
} from "./assembly.ts";
import { axisAt, type Given, joined, mean, numberOf, type Part, partAlong } from "./operators.ts";

/** What torch and ONNX both have, with their arguments read. */

/** Returns the logarithm of a softmax along some axes. */
export function logSoftmaxOf(assembly: Assembly, made: Made, x: Value, whole: readonly number[]): Value {
  const shares = elementwise(assembly, partOf(made, "shares"), "softmax", [x], { whole });
  return elementwise(assembly, made, "log", [shares]);
}

export type Reducing = "sum" | "max" | "mean";

/** Returns a tensor reduced over some axes; itself where there are none. */
export function reducedOver(
  assembly: Assembly,
  made: Made,
  how: Reducing,
  x: Value,
  over: readonly number[],
  keeps: boolean,
): Value {
  if (over.length === 0) return x;
  return how === "mean" ? mean(assembly, made, x, over, keeps) : reduction(assembly, made, how, x, over, keeps);
}

/** Returns a tensor to the power of a number. Throws InputError where that is a tensor. */
export function raisedTo(assembly: Assembly, made: Made, x: Value, given: Given): Value {
  const exponent = numberOf(given);
  if (exponent === null) throw refusal(assembly, "to the power of a number", inWords("of a tensor"));
  return power(assembly, made, x, exponent);
}

/** Returns a tensor as elements of so many bytes: itself where it has as many. */
export const castTo = (assembly: Assembly, made: Made, x: Value, bytes: number): Value =>
  assembly.drafts[x.node]?.elementBytes === bytes ? x : elementwise(assembly, made, "copy", [x]);

/** Returns a tensor with its axes in another order. Throws InputError where one is missing. */
export function inOrder(assembly: Assembly, x: Value, written: readonly number[]): Value {
  const rank = x.axes.length;
  const order = written.map((at) => axisAt(assembly, at, rank));
  if (order.length === rank && new Set(order).size === rank) return permuted(x, order);
  throw new InputError(assembly.place, `an order of ${rank} dimensions`, written);
}

/** Returns parts of a tensor along an axis, of these lengths. Throws InputError where they do not make it. */
export function partsAlong(
  assembly: Assembly,
  made: Made,
  x: Value,
  axis: number,
  lengths: readonly number[],
): Value[] {
  const size = sizesOf(assembly, x)[axis] as number;
  if (lengths.some((length) => !(length >= 1)) || lengths.reduce((a, b) => a + b, 0) !== size)
    throw refusal(assembly, `of parts that make ${size}`, lengths);
  let start = 0;
  return lengths.map((length, i) => {
    const part = partAlong(assembly, { ...made, name: `${made.name}.${i}` }, x, axis, { start, length, step: 1 });
    start += length;
    return part;
  });
}

/** Returns the lengths of parts of `each`, the last with what is left. */
export const evenLengths = (size: number, each: number): number[] =>
  Array.from({ length: Math.ceil(size / each) }, (_, i) => Math.min(each, size - i * each));

/** Returns a slice as Python counts it. Throws InputError where it goes backwards or has nothing. */
export function sliceBetween(assembly: Assembly, size: number, from: number, to: number, step: number): Part {
  const bound = (at: number): number => Math.min(size, Math.max(0, at < 0 ? at + size : at));
  const start = bound(from);
  const length = Math.ceil((bound(to) - start) / step);
  if (step >= 1 && length >= 1) return { start, length, step };
  throw refusal(assembly, "a slice forwards of something", inWords("another"));
}

/** Returns tensors one behind the other along an axis. Throws InputError where they have other numbers of axes. */
export function joinedAlong(assembly: Assembly, made: Made, values: readonly Value[], at: number): Value {
  const rank = values[0]?.axes.length ?? 0;
  if (values.every(({ axes }) => axes.length === rank))
    return joined(assembly, made, values, axisAt(assembly, at, rank));
  throw refusal(assembly, "of tensors of as many dimensions", inWords("of others"));
}
