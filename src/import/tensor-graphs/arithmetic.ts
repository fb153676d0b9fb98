import { inWords } from "../../base/errors.ts";
import { type Assembly, elementwise, freshAxes, type Made, partOf, refusal, type Value } from "./assembly.ts";
import { asTensor, type Given, given, isKnown, type Known, numberOf } from "./operators.ts";

/** What is added to scores that are to have no part. */
const LEAST = -1e4;

/** Returns sizes of two operands that are repeated along each other's. */
const sizesTogether = (one: readonly number[], other: readonly number[]): number[] => {
  const rank = Math.max(one.length, other.length);
  const at = (sizes: readonly number[], i: number): number => sizes[i - rank + sizes.length] ?? 1;
  return Array.from({ length: rank }, (_, i) => (at(one, i) === 1 ? at(other, i) : at(one, i)));
};

/** Returns what is worked out of two things that are known; its numbers where `of` says and each is one number. */
export function knownOf(one: Known | number, other: Known | number, of?: (a: number, b: number) => number): Known {
  const [shape, otherShape] = [one, other].map((it) => (typeof it === "number" ? [] : it.shape)) as [
    number[],
    number[],
  ];
  const [a, b] = [numberOf(one), numberOf(other)];
  const bytes = Math.max(...[one, other].map((it) => (typeof it === "number" ? 0 : it.bytes)));
  return {
    shape: sizesTogether(shape, otherShape),
    bytes,
    numbers: of && a !== null && b !== null ? [of(a, b)] : null,
  };
}

const isFixed = (one: Given): one is Known | number => typeof one === "number" || isKnown(one);

/** Returns `one + factor * other`. */
export function sum(assembly: Assembly, made: Made, one: Given, other: Given, factor = 1): Given {
  if (isFixed(one) && isFixed(other)) return knownOf(one, other, (a, b) => a + factor * b);
  const [a, b] = [numberOf(one), numberOf(other)];
  if (b !== null) return shifted(assembly, made, one as Value, factor * b);
  const right = factor === 1 || factor === -1 ? other : product(assembly, partOf(made, "scaled"), other, factor);
  if (a !== null) {
    const negative =
      factor === -1 ? elementwise(assembly, partOf(made, "negative"), "negate", [right as Value]) : right;
    return shifted(assembly, made, negative as Value, a);
  }
  const operands = [one, right].map((it) => asTensor(assembly, made, it));
  return elementwise(assembly, made, factor === -1 ? "subtract" : "add", operands);
}

const shifted = (assembly: Assembly, made: Made, value: Value, by: number): Value =>
  by === 0 ? value : elementwise(assembly, made, "shift", [value], { constant: by });

/** Returns a product of elements. */
export function product(assembly: Assembly, made: Made, one: Given, other: Given): Given {
  if (isFixed(one) && isFixed(other)) return knownOf(one, other, (a, b) => a * b);
  const [a, b] = [numberOf(one), numberOf(other)];
  if (a !== null || b !== null) {
    const value = (a !== null ? other : one) as Value;
    return elementwise(assembly, made, "scale", [value], { constant: a ?? (b as number) });
  }
  return elementwise(
    assembly,
    made,
    "multiply",
    [one, other].map((it) => asTensor(assembly, made, it)),
  );
}

/** Returns a quotient of elements. */
export function quotient(assembly: Assembly, made: Made, one: Given, other: Given): Given {
  if (isFixed(one) && isFixed(other)) return knownOf(one, other, (a, b) => a / b);
  const [a, b] = [numberOf(one), numberOf(other)];
  if (b !== null) return elementwise(assembly, made, "scale", [one as Value], { constant: 1 / b });
  if (a !== null) {
    const inverse = power(assembly, a === 1 ? made : partOf(made, "inverse"), other as Value, -1);
    return a === 1 ? inverse : product(assembly, made, inverse, a);
  }
  return elementwise(
    assembly,
    made,
    "divide",
    [one, other].map((it) => asTensor(assembly, made, it)),
  );
}

/** Returns elements to the power of a number. */
export function power(assembly: Assembly, made: Made, value: Value, exponent: number): Value {
  if (exponent === 1) return value;
  const named = new Map([
    [2, "square"],
    [0.5, "sqrt"],
    [-0.5, "rsqrt"],
  ]).get(exponent);
  if (named !== undefined) return elementwise(assembly, made, named, [value]);
  return elementwise(assembly, made, "power", [value], { constant: exponent });
}

/**
 * Returns elements of `yes` where a condition holds, else of `no`. The condition has to be known beforehand: what it takes away is
 * multiplied by zeros, or, where the other is one very small number, has that added. Throws InputError for other conditions.
 */
export function chosen(assembly: Assembly, made: Made, condition: Given, yes: Given, no: Given): Given {
  if (!isFixed(condition)) throw refusal(assembly, "of a condition that depends on no input", inWords("of another"));
  if (isFixed(yes) && isFixed(no)) {
    const shape = [condition, yes, no].map((it) => (typeof it === "number" ? [] : it.shape)).reduce(sizesTogether);
    return { ...knownOf(yes, no), shape, numbers: null };
  }
  const always = numberOf(condition);
  if (always !== null) return always !== 0 ? yes : no;
  const factor = (name: string): Value => {
    const shape = typeof condition === "number" ? [] : condition.shape;
    return given(assembly, partOf(made, name), freshAxes(assembly.atoms, shape));
  };
  const part = (it: Given, name: string): Value | null => {
    const number = numberOf(it);
    if (number === 0) return null;
    if (number !== null) return factor(name);
    return elementwise(assembly, partOf(made, `${name} only`), "multiply", [
      asTensor(assembly, made, it),
      factor(name),
    ]);
  };
  for (const [one, other] of [
    [yes, no],
    [no, yes],
  ] as const) {
    const least = numberOf(other);
    if (least !== null && least <= LEAST) return elementwise(assembly, made, "add", [one as Value, factor("mask")]);
  }
  const parts = [part(yes, "where"), part(no, "elsewhere")].filter((it) => it !== null);
  return elementwise(assembly, made, parts.length === 1 ? "copy" : "add", parts);
}
