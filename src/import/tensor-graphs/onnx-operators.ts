import { InputError, inWords } from "../../base/errors.ts";
import { chosen, power, product, quotient, sum } from "./arithmetic.ts";
import {
  type Assembly,
  elementwise,
  expanded,
  type Made,
  partOf,
  refusal,
  sizesOf,
  squeezed,
  unsqueezed,
  type Value,
  viewed,
} from "./assembly.ts";
import {
  castTo,
  evenLengths,
  inOrder,
  joinedAlong,
  logSoftmaxOf,
  partsAlong,
  type Reducing,
  raisedTo,
  reducedOver,
  sliceBetween,
} from "./common-operators.ts";
import type { OnnxCall } from "./onnx-call.ts";
import { numbersOf } from "./onnx-known.ts";
import {
  asTensor,
  axesAt,
  axisAt,
  einsumBy,
  type Given,
  isKnown,
  matmul,
  norm,
  numberOf,
  partAlong,
  rowsOf,
  transposed,
} from "./operators.ts";

export type OnnxOperator = (call: OnnxCall) => Given | readonly Given[];

function givenInput({ assembly, inputs }: OnnxCall, place: number): Given {
  const found = inputs[place];
  if (found !== undefined && found !== null) return found;
  throw new InputError(`${assembly.place}: input ${place}`, "a tensor");
}

const valueInput = (call: OnnxCall, place: number): Value =>
  asTensor(call.assembly, call.made, givenInput(call, place));
const optionalInput = (call: OnnxCall, place: number): Value | null =>
  call.inputs[place] ? valueInput(call, place) : null;
const first = (call: OnnxCall): Value => valueInput(call, 0);
const numberFor = ({ attributes }: OnnxCall, name: string, otherwise: number): number =>
  attributes.get(name)?.number ?? otherwise;

/** Returns whole numbers that stand in an attribute, or, later, in an input; null where neither is there. */
function numbersFor(call: OnnxCall, name: string, place: number): readonly number[] | null {
  const attribute = call.attributes.get(name);
  if (attribute !== undefined) return attribute.numbers;
  const input = call.inputs[place] ?? null;
  if (input === null) return null;
  const numbers = typeof input === "number" ? [input] : numbersOf(input);
  if (numbers?.every(Number.isInteger)) return numbers;
  throw new InputError(
    `${call.assembly.place}: input ${place}`,
    "whole numbers that depend on no input",
    inWords("others"),
  );
}

const unary =
  (name: string): OnnxOperator =>
  (call) =>
    elementwise(call.assembly, call.made, name, [first(call)]);

const binary =
  (of: (assembly: Assembly, made: Made, one: Given, other: Given) => Given): OnnxOperator =>
  (call) =>
    of(call.assembly, call.made, givenInput(call, 0), givenInput(call, 1));

const gemm: OnnxOperator = (call) => {
  const { assembly, made } = call;
  const turned = (place: number, name: string): Value =>
    numberFor(call, name, 0) === 0 ? valueInput(call, place) : transposed(assembly, valueInput(call, place));
  const scaled = (value: Given, name: string): Given => {
    const by = numberFor(call, name, 1);
    return by === 1 ? value : product(assembly, partOf(made, name), value, by);
  };
  const hasBias = (call.inputs[2] ?? null) !== null;
  const [left, right] = [turned(0, "transA"), turned(1, "transB")];
  const isPlain = numberFor(call, "alpha", 1) === 1 && !hasBias;
  const as = isPlain ? made : { ...partOf(made, "product"), isFused: false };
  const found = scaled(matmul(assembly, as, left, right), "alpha");
  return hasBias ? sum(assembly, made, found, scaled(givenInput(call, 2), "beta")) : found;
};

/** Axes that a softmax is along: before version 13 of operators all from one. */
function softmaxAxes(call: OnnxCall, { axes }: Value): number[] {
  const at = axisAt(call.assembly, numberFor(call, "axis", call.version < 13 ? 1 : -1), axes.length);
  return call.version < 13 ? axes.map((_, i) => i).slice(at) : [at];
}

const softmax: OnnxOperator = (call) => {
  const value = first(call);
  return elementwise(call.assembly, call.made, "softmax", [value], { whole: softmaxAxes(call, value) });
};

const logSoftmax: OnnxOperator = (call) => {
  const value = first(call);
  return logSoftmaxOf(call.assembly, call.made, value, softmaxAxes(call, value));
};

const normalized =
  (name: "layer-norm" | "rms-norm"): OnnxOperator =>
  (call) => {
    const x = first(call);
    const rank = x.axes.length;
    const count = rank - axisAt(call.assembly, numberFor(call, "axis", -1), rank);
    const [weight, bias] = [optionalInput(call, 1), name === "layer-norm" ? optionalInput(call, 2) : null];
    const epsilon = numberFor(call, "epsilon", 1e-5);
    return norm(call.assembly, call.made, name, x, { count, epsilon, weight, bias }).result;
  };

const reduced =
  (how: Reducing): OnnxOperator =>
  (call) => {
    const value = first(call);
    const { assembly, made } = call;
    const given = numbersFor(call, "axes", 1);
    if ((given === null || given.length === 0) && numberFor(call, "noop_with_empty_axes", 0) !== 0) return value;
    const over = axesAt(assembly, given, value.axes.length);
    const keeps = numberFor(call, "keepdims", 1) !== 0;
    return reducedOver(assembly, made, how, value, over, keeps);
  };

const transpose: OnnxOperator = (call) => {
  const value = first(call);
  const order = call.attributes.get("perm")?.numbers ?? value.axes.map((_, i) => value.axes.length - 1 - i);
  return inOrder(call.assembly, value, order);
};

const reshape: OnnxOperator = (call) => {
  const value = first(call);
  const before = sizesOf(call.assembly, value);
  const keeps = numberFor(call, "allowzero", 0) === 0;
  const wanted = numbersFor(call, "shape", 1) ?? [];
  return viewed(
    call.assembly,
    value,
    wanted.map((size, i) => (size === 0 && keeps ? (before[i] ?? 0) : size)),
  );
};

const flatten: OnnxOperator = (call) => {
  const value = first(call);
  const sizes = sizesOf(call.assembly, value);
  const at = numberFor(call, "axis", 1);
  const from = at === sizes.length ? at : axisAt(call.assembly, at, sizes.length);
  const all = (list: readonly number[]): number => list.reduce((a, b) => a * b, 1);
  return viewed(call.assembly, value, [all(sizes.slice(0, from)), all(sizes.slice(from))]);
};

const unsqueeze: OnnxOperator = (call) => {
  const value = first(call);
  const places = numbersFor(call, "axes", 1) ?? [];
  const rank = value.axes.length + places.length;
  return unsqueezed(
    call.assembly,
    value,
    places.map((at) => axisAt(call.assembly, at, rank)),
  );
};

const squeeze: OnnxOperator = (call) => {
  const value = first(call);
  return squeezed(call.assembly, value, axesAt(call.assembly, numbersFor(call, "axes", 1), value.axes.length));
};

const expand: OnnxOperator = (call) => {
  const value = first(call);
  const sizes = sizesOf(call.assembly, value);
  const wanted = [...(numbersFor(call, "shape", 1) ?? [])];
  while (wanted.length < sizes.length) wanted.unshift(1);
  const added = wanted.length - sizes.length;
  return expanded(
    call.assembly,
    value,
    wanted.map((size, i) => Math.max(size, sizes[i - added] ?? 1)),
  );
};

const gather: OnnxOperator = (call) => {
  const value = first(call);
  const axis = axisAt(call.assembly, numberFor(call, "axis", 0), value.axes.length);
  const indices = givenInput(call, 1);
  const single = numberOf(indices);
  if (single === null || (typeof indices === "object" && isKnown(indices) && indices.shape.length > 1))
    return rowsOf(call.assembly, call.made, value, indices, axis);
  const size = sizesOf(call.assembly, value)[axis] as number;
  const part = { start: axisAt(call.assembly, single, size), length: 1, step: 1 };
  const found = partAlong(call.assembly, call.made, value, axis, part);
  const isScalar = typeof indices === "number" || (isKnown(indices) && indices.shape.length === 0);
  return isScalar ? squeezed(call.assembly, found, [axis]) : found;
};

const split: OnnxOperator = (call) => {
  const { assembly, made, outputCount } = call;
  const value = first(call);
  const axis = axisAt(assembly, numberFor(call, "axis", 0), value.axes.length);
  const size = sizesOf(assembly, value)[axis] as number;
  const lengths = numbersFor(call, "split", 1) ?? evenLengths(size, Math.ceil(size / outputCount));
  return partsAlong(assembly, made, value, axis, lengths);
};

const concat: OnnxOperator = (call) => {
  const values = call.inputs.map((_, i) => valueInput(call, i));
  return joinedAlong(call.assembly, call.made, values, numberFor(call, "axis", 0));
};

const slice: OnnxOperator = (call) => {
  const { assembly, made } = call;
  let value = first(call);
  const [starts, ends] = [numbersFor(call, "starts", 1) ?? [], numbersFor(call, "ends", 2) ?? []];
  const axes = numbersFor(call, "axes", 3) ?? starts.map((_, i) => i);
  const steps = numbersFor(call, "steps", 4) ?? starts.map(() => 1);
  axes.forEach((at, i) => {
    const axis = axisAt(assembly, at, value.axes.length);
    const size = sizesOf(assembly, value)[axis] as number;
    const part = sliceBetween(assembly, size, starts[i] ?? 0, ends[i] ?? size, steps[i] ?? 1);
    const as = i === axes.length - 1 ? made : { ...partOf(made, `${i}`), isFused: false };
    value = partAlong(assembly, as, value, axis, part);
  });
  return value;
};

const raised: OnnxOperator = (call) => raisedTo(call.assembly, call.made, first(call), givenInput(call, 1));

const cast: OnnxOperator = (call) => castTo(call.assembly, call.made, first(call), call.bytes);

const dropout: OnnxOperator = (call) => {
  const isOn = call.inputs[2] ? numberOf(givenInput(call, 2)) !== 0 : false;
  if (!isOn) return first(call);
  throw refusal(call.assembly, "without dropout", inWords("with it"));
};

const sumOfAll: OnnxOperator = (call) =>
  elementwise(
    call.assembly,
    call.made,
    "add",
    call.inputs.map((_, i) => valueInput(call, i)),
  );

/** Operators by their names in the default domain. */
export const ONNX_OPERATORS: ReadonlyMap<string, OnnxOperator> = new Map<string, OnnxOperator>([
  ...["Relu", "Sigmoid", "Tanh", "Exp", "Log", "Sqrt"].map((name): [string, OnnxOperator] => [
    name,
    unary(name.toLowerCase()),
  ]),
  ["Neg", unary("negate")],
  ["Gelu", (call) => unary(call.attributes.get("approximate")?.text === "tanh" ? "gelu-tanh" : "gelu")(call)],
  ["Add", binary(sum)],
  ["Sub", binary((assembly, made, one, other) => sum(assembly, made, one, other, -1))],
  ["Mul", binary(product)],
  ["Div", binary(quotient)],
  ["Pow", raised],
  ["Reciprocal", (call) => power(call.assembly, call.made, first(call), -1)],
  ["Sum", sumOfAll],
  ["MatMul", (call) => matmul(call.assembly, call.made, first(call), valueInput(call, 1))],
  ["Gemm", gemm],
  [
    "Einsum",
    (call) =>
      einsumBy(
        call.assembly,
        call.made,
        call.attributes.get("equation")?.text,
        call.inputs.map((_, i) => valueInput(call, i)),
      ),
  ],
  ["Softmax", softmax],
  ["LogSoftmax", logSoftmax],
  ["LayerNormalization", normalized("layer-norm")],
  ["RMSNormalization", normalized("rms-norm")],
  ["SimplifiedLayerNormalization", normalized("rms-norm")],
  ["ReduceMean", reduced("mean")],
  ["ReduceSum", reduced("sum")],
  ["ReduceMax", reduced("max")],
  ["Transpose", transpose],
  ["Reshape", reshape],
  ["Flatten", flatten],
  ["Squeeze", squeeze],
  ["Unsqueeze", unsqueeze],
  ["Expand", expand],
  ["Gather", gather],
  ["Split", split],
  ["Concat", concat],
  ["Slice", slice],
  ["Identity", first],
  ["Cast", cast],
  ["Dropout", dropout],
  ["Where", (call) => chosen(call.assembly, call.made, givenInput(call, 0), givenInput(call, 1), givenInput(call, 2))],
  ["Shape", (call) => shapeOf(call)],
]);

const shapeOf: OnnxOperator = (call) => {
  const given = givenInput(call, 0);
  const sizes = typeof given === "number" ? [] : isKnown(given) ? given.shape : sizesOf(call.assembly, given);
  const [from, to] = [numberFor(call, "start", 0), numberFor(call, "end", sizes.length)];
  const numbers = sizes.slice(from, to);
  return { shape: [numbers.length], bytes: 8, numbers };
};
