import { inWords } from "../../base/errors.ts";
import { chosen, power, product, quotient, sum } from "./arithmetic.ts";
import {
  elementwise,
  elementwiseOf,
  expanded,
  partOf,
  permuted,
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
import {
  attention,
  axesAt,
  axisAt,
  einsumBy,
  type Given,
  isKnown,
  joined,
  linear,
  matmul,
  norm,
  numberOf,
  type Part,
  partAlong,
  rowsOf,
  transposed,
} from "./operators.ts";
import {
  argument,
  axisArgument,
  declaredShape,
  flagArgument,
  givenArgument,
  numberArgument,
  numbersArgument,
  optionalValue,
  type Slot,
  sizeAt,
  type TorchCall,
  valueArgument,
  valuesArgument,
} from "./torch-call.ts";

export type TorchOperator = (call: TorchCall) => Slot;

const first = (call: TorchCall): Value => valueArgument(call, 0);

const unary =
  (name: string): TorchOperator =>
  (call) =>
    elementwise(call.assembly, call.made, name, [first(call)]);

const cast: TorchOperator = (call) => castTo(call.assembly, call.made, first(call), call.made.bytes);

const reshape: TorchOperator = (call) => viewed(call.assembly, first(call), declaredShape(call));

const multiplied: TorchOperator = (call) => matmul(call.assembly, call.made, first(call), valueArgument(call, 1));

/** c + a b, where c and the product may be scaled. */
const addedProduct: TorchOperator = (call) => {
  const { assembly, made } = call;
  const [beta, alpha] = [numberArgument(call, 3, 1, "beta"), numberArgument(call, 4, 1, "alpha")];
  const as = { ...partOf(made, "product"), isFused: false };
  const scaled = (value: Given, by: number, part: string): Given =>
    by === 1 ? value : product(assembly, partOf(made, part), value, by);
  const result = matmul(assembly, as, valueArgument(call, 1), valueArgument(call, 2));
  if (beta === 0) return scaled(result, alpha, "scaled");
  return sum(assembly, made, scaled(result, alpha, "scaled"), scaled(first(call), beta, "bias"));
};

const reduced =
  (how: Reducing): TorchOperator =>
  (call) => {
    const { assembly, made } = call;
    const value = first(call);
    const written = call.args.length > 1 || Object.hasOwn(call.kwargs, "dim") ? numbersArgument(call, 1, "dim") : null;
    const over = axesAt(assembly, written, value.axes.length);
    return reducedOver(assembly, made, how, value, over, flagArgument(call, 2, "keepdim"));
  };

const softmax: TorchOperator = (call) => {
  const value = first(call);
  return elementwise(call.assembly, call.made, "softmax", [value], { whole: [axisArgument(call, value, 1)] });
};

const logSoftmax: TorchOperator = (call) => {
  const value = first(call);
  return logSoftmaxOf(call.assembly, call.made, value, [axisArgument(call, value, 1)]);
};

const normalized =
  (name: "layer-norm" | "rms-norm"): TorchOperator =>
  (call) => {
    const x = first(call);
    const isLayer = name === "layer-norm";
    const epsilon = numberArgument(call, isLayer ? 4 : 3, 1e-5, "eps");
    const count = numbersArgument(call, 1)?.length ?? 1;
    const [weight, bias] = [optionalValue(call, 2, "weight"), isLayer ? optionalValue(call, 3, "bias") : null];
    const { result, normed } = norm(call.assembly, call.made, name, x, { count, epsilon, weight, bias });
    if (call.operator === "layer_norm" || call.operator === "rms_norm") return result;
    const memo = { normed: { result, normed, epsilon, count } };
    return isLayer ? [result, memo, memo] : [result, memo];
  };

/** Keys or values of fewer heads than queries, each for several neighbours. */
function repeatedHeads({ assembly }: TorchCall, value: Value, query: Value): Value {
  const [sizes, wanted] = [sizesOf(assembly, value), sizesOf(assembly, query)];
  const at = sizes.length - 3;
  const [heads, queries] = [sizes[at] as number, wanted[at] as number];
  if (at < 0 || heads === queries) return value;
  const several = unsqueezed(assembly, value, [at + 1]);
  const repeated = expanded(assembly, several, sizes.toSpliced(at + 1, 0, queries / heads));
  return viewed(assembly, repeated, sizes.with(at, queries));
}

/** Attention, whose mask, causality and scale stand where an operator has them. */
const attended =
  (places: { mask: number; causal: number; scale: number; dropout: number }): TorchOperator =>
  (call) => {
    const { assembly, made, operator } = call;
    const query = first(call);
    const [key, value] = [1, 2].map((i) => repeatedHeads(call, valueArgument(call, i), query)) as [Value, Value];
    if (numberArgument(call, places.dropout, 0, "dropout_p") !== 0)
      throw refusal(assembly, "without dropout", inWords("with it"));
    const mask = argument(call, places.mask, "attn_mask") === undefined ? null : maskOf(call, places.mask);
    const width = sizeAt(call, query, query.axes.length - 1);
    const scale = numberArgument(call, places.scale, 1 / Math.sqrt(width), "scale");
    const isCausal = flagArgument(call, places.causal, "is_causal");
    const found = attention(assembly, made, { query, key, value, mask, isCausal, scale });
    if (operator === "scaled_dot_product_attention") return found.result;
    return [found.result, { attended: { ...found, scale } }, null, null, null, null, null, null, null];
  };

/** A mask that is added; of one that is true or false it is what is known beforehand. */
function maskOf(call: TorchCall, place: number): Value {
  const mask = givenArgument(call, place, "attn_mask");
  if (typeof mask === "object" && !isKnown(mask) && call.assembly.drafts[mask.node]?.elementBytes === 1)
    throw refusal(call.assembly, "of a mask of numbers, or that depends on no input", inWords("of another"));
  return valueArgument(call, place, "attn_mask");
}

const NOWHERE = 99;

const einsumOf: TorchOperator = (call) =>
  einsumBy(call.assembly, call.made, argument(call, 0), valuesArgument(call, 1));

const split: TorchOperator = (call) => {
  const value = first(call);
  const axis = axisArgument(call, value, 2, 0);
  const size = sizeAt(call, value, axis);
  const given = numbersArgument(call, 1) ?? [];
  const isList = Array.isArray(argument(call, 1));
  const each = call.operator === "chunk" ? Math.ceil(size / (given[0] ?? 1)) : (given[0] ?? 1);
  if (!isList && !(each >= 1)) throw refusal(call.assembly, "of parts of 1 or more", given);
  return partsAlong(call.assembly, call.made, value, axis, isList ? given : evenLengths(size, each));
};

/** Returns the slice that arguments from a place on say, of an axis of a size. */
export const sliceOf = (call: TorchCall, size: number, from: number): Part =>
  sliceBetween(
    call.assembly,
    size,
    numberArgument(call, from, 0, "start"),
    numberArgument(call, from + 1, size, "end"),
    numberArgument(call, from + 2, 1, "step"),
  );

const slice: TorchOperator = (call) => {
  const value = first(call);
  const axis = axisArgument(call, value, 1, 0);
  return partAlong(call.assembly, call.made, value, axis, sliceOf(call, sizeAt(call, value, axis), 2));
};

const select: TorchOperator = (call) => {
  const value = first(call);
  const axis = axisArgument(call, value, 1);
  const start = axisAt(call.assembly, numberArgument(call, 2), sizeAt(call, value, axis));
  return squeezed(call.assembly, partAlong(call.assembly, call.made, value, axis, { start, length: 1, step: 1 }), [
    axis,
  ]);
};

const unbind: TorchOperator = (call) => {
  const value = first(call);
  const axis = axisArgument(call, value, 1, 0);
  const lengths = Array.from({ length: sizeAt(call, value, axis) }, () => 1);
  return partsAlong(call.assembly, call.made, value, axis, lengths).map((part) =>
    squeezed(call.assembly, part, [axis]),
  );
};

const stack: TorchOperator = (call) => {
  const values = valuesArgument(call, 0);
  const axis = axisAt(call.assembly, numberArgument(call, 1, 0, "dim"), (values[0] as Value).axes.length + 1);
  const apart = values.map((value) => unsqueezed(call.assembly, value, [axis]));
  return joined(call.assembly, call.made, apart, axis);
};

const indexed: TorchOperator = (call) => {
  const value = first(call);
  const written = argument(call, 1);
  const [index, ...others] = Array.isArray(written) ? written : [];
  const isNode = typeof index === "object" && index !== null;
  if (!isNode || others.some((one) => one !== null))
    throw refusal(call.assembly, "by indices of its first dimension alone", inWords("others"));
  const slot = givenArgument({ ...call, args: [index] }, 0);
  return rowsOf(call.assembly, call.made, value, slot);
};

const REDUCTIONS = ["none", "mean", "sum"] as const;

const crossEntropy: TorchOperator = (call) => {
  const { assembly, made } = call;
  const [logits, targets] = [first(call), valueArgument(call, 1)];
  const plain = argument(call, 2, "weight") === undefined && numberArgument(call, 5, 0, "label_smoothing") === 0;
  const rank = logits.axes.length;
  if (!plain || targets.axes.length !== rank - 1 || rank === 0)
    throw refusal(assembly, "without weights and smoothing, of targets by their indices", inWords("of another kind"));
  const axis = rank === 1 ? 0 : 1;
  const labels = logits.axes.map((_, i) => i);
  const others = labels.filter((i) => i !== axis);
  const how = REDUCTIONS[numberArgument(call, 3, 1, "reduction")] ?? "mean";
  const operands = [
    { value: logits, labels },
    { value: targets, labels: others },
  ];
  const as = how === "none" ? made : partOf(made, "each");
  const each = elementwiseOf(assembly, as, "cross-entropy", operands, others, { whole: [axis] });
  if (how === "none") return each;
  const over = others.map((_, i) => i);
  return reducedOver(assembly, made, how, each, over, false);
};

const filled: TorchOperator = (call) =>
  chosen(call.assembly, call.made, givenArgument(call, 1), givenArgument(call, 2), givenArgument(call, 0));

/** What all have one number, whatever the tensor has whose shape they take. */
const alike =
  (of: (call: TorchCall) => number): TorchOperator =>
  (call) => ({ shape: declaredShape(call), bytes: call.made.bytes, numbers: [of(call)] });

const raised: TorchOperator = (call) => raisedTo(call.assembly, call.made, first(call), givenArgument(call, 1));

const gelu: TorchOperator = (call) => unary(call.kwargs["approximate"] === "tanh" ? "gelu-tanh" : "gelu")(call);

const dropout: TorchOperator = (call) => {
  if (numberArgument(call, 1, 0) === 0 || argument(call, 2) !== true) return first(call);
  throw refusal(call.assembly, "without dropout (`eval()` on the model)", inWords("with it"));
};

/** No number of a program is infinite, but in rows of which nothing is left. */
const equal: TorchOperator = (call) => {
  const other = numberOf(givenArgument(call, 1));
  if (other !== null && !Number.isFinite(other)) return alike(() => 0)(call);
  throw refusal(call.assembly, "a comparison of what depends on no input", inWords("of another"));
};

const signed =
  (sign: number): TorchOperator =>
  (call) =>
    sum(
      call.assembly,
      call.made,
      givenArgument(call, 0),
      givenArgument(call, 1),
      sign * numberArgument(call, 2, 1, "alpha"),
    );

const UNARY = ["relu", "silu", "sigmoid", "tanh", "exp", "log", "sqrt", "rsqrt", "square"].map(
  (name): [string, TorchOperator] => [name, unary(name)],
);
const named = (names: string, operator: TorchOperator): [string, TorchOperator][] =>
  names.split(" ").map((name) => [name, operator]);

/** Operators of the forward pass, by their names without overloads. */
export const FORWARD: readonly (readonly [string, TorchOperator])[] = [
  ...UNARY,
  ...named("mm bmm matmul mv dot", multiplied),
  ...named("addmm baddbmm addmv", addedProduct),
  [
    "linear",
    (call) => linear(call.assembly, call.made, first(call), valueArgument(call, 1), optionalValue(call, 2, "bias")),
  ],
  ["einsum", einsumOf],
  ["add", signed(1)],
  ["sub", signed(-1)],
  ["rsub", (call) => sum(call.assembly, call.made, givenArgument(call, 1), givenArgument(call, 0), -1)],
  ["mul", (call) => product(call.assembly, call.made, givenArgument(call, 0), givenArgument(call, 1))],
  ["div", (call) => quotient(call.assembly, call.made, givenArgument(call, 0), givenArgument(call, 1))],
  ["reciprocal", (call) => power(call.assembly, call.made, first(call), -1)],
  ["pow", raised],
  ["neg", unary("negate")],
  ["gelu", gelu],
  ["mean", reduced("mean")],
  ["sum", reduced("sum")],
  ["amax", reduced("max")],
  ...named("softmax _softmax _safe_softmax", softmax),
  ...named("log_softmax _log_softmax", logSoftmax),
  ...named("layer_norm native_layer_norm", normalized("layer-norm")),
  ...named("rms_norm _fused_rms_norm", normalized("rms-norm")),
  ["embedding", (call) => rowsOf(call.assembly, call.made, first(call), givenArgument(call, 1))],
  [
    "index_select",
    (call) => rowsOf(call.assembly, call.made, first(call), givenArgument(call, 2), axisArgument(call, first(call), 1)),
  ],
  ["index", indexed],
  ["cross_entropy_loss", crossEntropy],
  ["scaled_dot_product_attention", attended({ mask: 3, dropout: 4, causal: 5, scale: 6 })],
  ["_scaled_dot_product_flash_attention_for_cpu", attended({ dropout: 3, causal: 4, mask: NOWHERE, scale: NOWHERE })],
  ["_scaled_dot_product_flash_attention", attended({ dropout: 3, causal: 4, mask: NOWHERE, scale: NOWHERE })],
  ["_scaled_dot_product_efficient_attention", attended({ mask: 3, dropout: 5, causal: 6, scale: NOWHERE })],
  ...named("view reshape _unsafe_view flatten unflatten _reshape_alias", reshape),
  ...named("alias detach contiguous clone lift_fresh_copy", first),
  ...named("to _to_copy type_as float half bfloat16", cast),
  ["dropout", dropout],
  ...named("expand expand_as", (call) => expanded(call.assembly, first(call), declaredShape(call))),
  ["permute", (call) => inOrder(call.assembly, first(call), numbersArgument(call, 1) ?? [])],
  ...named("t numpy_T", (call) =>
    permuted(
      first(call),
      first(call)
        .axes.map((_, i) => i)
        .reverse(),
    ),
  ),
  ["transpose", (call) => transposed(call.assembly, first(call), numberArgument(call, 1), numberArgument(call, 2))],
  [
    "unsqueeze",
    (call) => {
      const value = first(call);
      return unsqueezed(call.assembly, value, [axisAt(call.assembly, numberArgument(call, 1), value.axes.length + 1)]);
    },
  ],
  [
    "squeeze",
    (call) => {
      const value = first(call);
      return squeezed(call.assembly, value, axesAt(call.assembly, numbersArgument(call, 1), value.axes.length));
    },
  ],
  ...named("split split_with_sizes chunk", split),
  ["slice", slice],
  ["select", select],
  ["unbind", unbind],
  ["cat", (call) => joinedAlong(call.assembly, call.made, valuesArgument(call, 0), numberArgument(call, 1, 0, "dim"))],
  ["stack", stack],
  ["masked_fill", filled],
  [
    "where",
    (call) => chosen(call.assembly, call.made, givenArgument(call, 0), givenArgument(call, 1), givenArgument(call, 2)),
  ],
  ["full_like", alike((call) => numberArgument(call, 1))],
  ["ones_like", alike(() => 1)],
  ["zeros_like", alike(() => 0)],
  ["eq", equal],
];
