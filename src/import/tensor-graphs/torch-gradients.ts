import { inWords } from "../../base/errors.ts";
import {
  einsum,
  elementwise,
  freshAxes,
  type Labelled,
  partOf,
  reduction,
  refusal,
  sizesOf,
  type Value,
} from "./assembly.ts";
import { axisAt, matmul, placedAlong, placesOf, transposed } from "./operators.ts";
import {
  argument,
  axisArgument,
  declaredShape,
  givenArgument,
  type Memo,
  memoArgument,
  numberArgument,
  numbersArgument,
  optionalValue,
  type Slot,
  sizeAt,
  type TorchCall,
  valueArgument,
} from "./torch-call.ts";
import { sliceOf, type TorchOperator } from "./torch-operators.ts";

const gradientOf = (call: TorchCall): Value => valueArgument(call, 0);

/** The gradient through a function, of what went in. */
const through =
  (name: string): TorchOperator =>
  (call) =>
    elementwise(call.assembly, call.made, name, [gradientOf(call), valueArgument(call, 1)]);

const geluBackward: TorchOperator = (call) =>
  through(call.kwargs["approximate"] === "tanh" ? "gelu-tanh-gradient" : "gelu-gradient")(call);

/** g (1 - y^2), of the result y. */
const tanhBackward: TorchOperator = (call) => {
  const { assembly, made } = call;
  const [gradient, result] = [gradientOf(call), valueArgument(call, 1)];
  const square = elementwise(assembly, partOf(made, "square"), "square", [result]);
  const lost = elementwise(assembly, partOf(made, "lost"), "multiply", [gradient, square]);
  return elementwise(assembly, made, "subtract", [gradient, lost]);
};

/** g (y - y^2), of the result y. */
const sigmoidBackward: TorchOperator = (call) => {
  const { assembly, made } = call;
  const result = valueArgument(call, 1);
  const square = elementwise(assembly, partOf(made, "square"), "square", [result]);
  const slope = elementwise(assembly, partOf(made, "slope"), "subtract", [result, square]);
  return elementwise(assembly, made, "multiply", [gradientOf(call), slope]);
};

const softmaxBackward: TorchOperator = (call) => {
  const result = valueArgument(call, 1);
  const whole = [axisArgument(call, result, 2)];
  return elementwise(call.assembly, call.made, "softmax-gradient", [gradientOf(call), result], { whole });
};

/** g - exp(y) sum(g), of the result y. */
const logSoftmaxBackward: TorchOperator = (call) => {
  const { assembly, made } = call;
  const [gradient, result] = [gradientOf(call), valueArgument(call, 1)];
  const sum = reduction(assembly, partOf(made, "sum"), "sum", gradient, [axisArgument(call, result, 2)], true);
  const shares = elementwise(assembly, partOf(made, "shares"), "exp", [result]);
  const all = elementwise(assembly, partOf(made, "all"), "multiply", [shares, sum]);
  return elementwise(assembly, made, "subtract", [gradient, all]);
};

/** Gradients of a norm towards what it norms, its weight and its bias; null where they are not asked for. */
const normBackward =
  (name: "layer-norm" | "rms-norm"): TorchOperator =>
  (call) => {
    const { assembly, made } = call;
    const isLayer = name === "layer-norm";
    const memo = memoArgument(call, 3).normed;
    if (memo === undefined) throw refusal(assembly, "of figures that the norm left", inWords("of others"));
    const { normed, epsilon, count } = memo;
    const [gradient, x, weight] = [gradientOf(call), valueArgument(call, 1), optionalValue(call, isLayer ? 5 : 4)];
    const asked = argument(call, isLayer ? 7 : 5);
    const isAsked = (i: number): boolean => !Array.isArray(asked) || asked[i] === true;
    const rank = x.axes.length;
    const labels = x.axes.map((_, i) => i);
    const [over, whole] = [labels.slice(0, rank - count), labels.slice(rank - count)];
    const upstream = weight && elementwise(assembly, partOf(made, "scaled"), "multiply", [gradient, weight]);
    const results: Slot[] = [
      isAsked(0)
        ? elementwise(assembly, made, `${name}-gradient`, [upstream ?? gradient, x], { constant: epsilon, whole })
        : null,
      isAsked(1) && weight
        ? einsum(
            assembly,
            { ...made, name: `${made.name}.weight` },
            [
              { value: gradient, labels },
              { value: normed, labels },
            ],
            whole,
          )
        : null,
    ];
    if (!isLayer) return results;
    const bias = { ...made, name: `${made.name}.bias` };
    return [...results, isAsked(2) ? reduction(assembly, bias, "sum", gradient, over, false) : null];
  };

/** Gradients of attention towards queries, keys and values; `left` is where the forward operator's figures stand. */
const attentionBackward =
  (left: number): TorchOperator =>
  (call) => {
    const { assembly, made } = call;
    const memo: Memo["attended"] = memoArgument(call, left).attended;
    if (memo === undefined) throw refusal(assembly, "of figures that attention left", inWords("of others"));
    const { weights, scale } = memo;
    const [gradient, query, key, value] = [0, 1, 2, 3].map((i) => valueArgument(call, i)) as [
      Value,
      Value,
      Value,
      Value,
    ];
    const named = (part: string): typeof made => ({ ...made, name: `${made.name}.${part}` });
    const towardsWeights = matmul(assembly, partOf(made, "weights"), gradient, transposed(assembly, value));
    const whole = [weights.axes.length - 1];
    const scores = elementwise(assembly, partOf(made, "scores"), "softmax-gradient", [towardsWeights, weights], {
      whole,
    });
    const scaled = elementwise(assembly, partOf(made, "products"), "scale", [scores], { constant: scale });
    return [
      matmul(assembly, named("query"), scaled, key),
      matmul(assembly, named("key"), transposed(assembly, scaled), query),
      matmul(assembly, named("value"), transposed(assembly, weights), gradient),
      null,
    ];
  };

/** What a table's rows get: each the sum of what was made of it. */
const embeddingBackward: TorchOperator = (call) => {
  const { assembly, made } = call;
  const gradient = gradientOf(call);
  const [rows = []] = freshAxes(assembly.atoms, [numberArgument(call, 2)]);
  const places = placesOf(assembly, made, givenArgument(call, 1), rows);
  const which = places.axes.slice(0, -1).map((_, i) => i);
  const operands: Labelled[] = [
    { value: places, labels: [...which, "row"] },
    { value: gradient, labels: [...which, "number"] },
  ];
  return einsum(assembly, made, operands, ["row", "number"], true);
};

const sliceBackward: TorchOperator = (call) => {
  const sizes = numbersArgument(call, 1) ?? [];
  const axis = axisAt(call.assembly, numberArgument(call, 2), sizes.length);
  const size = sizes[axis] as number;
  return placedAlong(call.assembly, call.made, gradientOf(call), axis, sliceOf(call, size, 3), size);
};

/** -1 / n where a target says, of the n that are asked (log-probabilities by rows and classes). */
const REDUCED = { none: 0, mean: 1 } as const;

function targetPlaces(call: TorchCall, scores: Value, targets: number): Value {
  const axis = scores.axes.length - 1;
  return placesOf(call.assembly, call.made, givenArgument(call, targets), scores.axes[axis] ?? []);
}

/** How many targets a mean is of; 1 for a sum. */
function meanOf(call: TorchCall, scores: Value, place: number): number {
  const how = numberArgument(call, place);
  if (how === REDUCED.none || argument(call, place - 1) !== undefined)
    throw refusal(call.assembly, "a mean or a sum, without weights", inWords("of another kind"));
  return how === REDUCED.mean && scores.axes.length > 1 ? sizeAt(call, scores, 0) : 1;
}

const labelsOf = ({ axes }: Value): string[] => axes.map((_, i) => (i === axes.length - 1 ? "class" : `row ${i}`));

const nllForward: TorchOperator = (call) => {
  const { assembly, made } = call;
  const scores = gradientOf(call);
  const labels = labelsOf(scores);
  const operands = [
    { value: targetPlaces(call, scores, 1), labels },
    { value: scores, labels },
  ];
  const all = einsum(assembly, { ...partOf(made, "sum"), isFused: false }, operands, [], true);
  const result = elementwise(assembly, made, "scale", [all], { constant: -1 / meanOf(call, scores, 3) });
  return [result, null];
};

const nllBackward: TorchOperator = (call) => {
  const { assembly, made } = call;
  const scores = valueArgument(call, 1);
  const labels = labelsOf(scores);
  const operands = [
    { value: targetPlaces(call, scores, 2), labels },
    { value: gradientOf(call), labels: [] },
  ];
  const placed = einsum(assembly, partOf(made, "placed"), operands, labels, true);
  return elementwise(assembly, made, "scale", [placed], { constant: -1 / meanOf(call, scores, 4) });
};

const selectBackward: TorchOperator = (call) => {
  const sizes = numbersArgument(call, 1) ?? declaredShape(call);
  const axis = axisAt(call.assembly, numberArgument(call, 2), sizes.length);
  const size = sizes[axis] as number;
  const start = axisAt(call.assembly, numberArgument(call, 3), size);
  const gradient = gradientOf(call);
  const before = sizesOf(call.assembly, gradient);
  if (before.length !== sizes.length - 1) throw refusal(call.assembly, "of one dimension less", before);
  const axes = [...gradient.axes];
  axes.splice(axis, 0, ...freshAxes(call.assembly.atoms, [1]));
  return placedAlong(call.assembly, call.made, { ...gradient, axes }, axis, { start, length: 1, step: 1 }, size);
};

/** Operators that torch has for gradients, by their names without overloads. */
export const BACKWARD: readonly (readonly [string, TorchOperator])[] = [
  ["threshold_backward", through("relu-gradient")],
  ["gelu_backward", geluBackward],
  ["silu_backward", through("silu-gradient")],
  ["tanh_backward", tanhBackward],
  ["sigmoid_backward", sigmoidBackward],
  ["_softmax_backward_data", softmaxBackward],
  ["_log_softmax_backward_data", logSoftmaxBackward],
  ["native_layer_norm_backward", normBackward("layer-norm")],
  ["_fused_rms_norm_backward", normBackward("rms-norm")],
  ["_scaled_dot_product_flash_attention_for_cpu_backward", attentionBackward(5)],
  ["_scaled_dot_product_flash_attention_backward", attentionBackward(5)],
  ["_scaled_dot_product_efficient_attention_backward", attentionBackward(6)],
  ["embedding_dense_backward", embeddingBackward],
  ["slice_backward", sliceBackward],
  ["select_backward", selectBackward],
  ["nll_loss_forward", nllForward],
  ["nll_loss_backward", nllBackward],
];
