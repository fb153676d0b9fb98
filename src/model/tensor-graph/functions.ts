/**
 * How a function takes operands that are partial (the sum over some NPUs is meant). "none": not at all. "first": it is linear in
 * its first operand, which may be, and then the result is. "one": it is linear in each operand, so one of them may be. "all": it is
 * linear in all together, so all have to be, or none.
 */
export type Linearity = "none" | "first" | "one" | "all";

/** The gradient towards an operand: a function, with the same constant, of the gradient of the result and of some of what there is. */
export interface Derivative {
  readonly function: string;
  /** "gradient", "result", or the number of an operand. */
  readonly of: readonly ("gradient" | "result" | number)[];
}

/** A function of elements, by name. */
export interface ElementFunction {
  readonly name: string;
  /** Operands; "any": one or more. */
  readonly operands: number | "any";
  readonly linear: Linearity;
  /** It takes the elements along whole dimensions together. */
  readonly isWhole: boolean;
  /**
   * What its whole dimensions count, in this order, where each has its own part and operands and result have only some of them.
   * Absent: there may be any number of them, all alike; operands without one are repeated along it.
   */
  readonly wholes?: readonly string[];
  /** [operands] null: no gradient goes there. Absent: the function has no gradient at all, unless it is "add". */
  readonly derivatives?: readonly (Derivative | null)[];
}

type More = Partial<Omit<ElementFunction, "name" | "operands">>;

const listed = (name: string, operands: number | "any", more: More = {}): ElementFunction => ({
  name,
  operands,
  linear: "none",
  isWhole: false,
  ...more,
});

const gradientBy = (of: string, ...by: Derivative["of"]): Derivative => ({ function: of, of: by });
const PASSED = gradientBy("copy", "gradient");

/** A function of one operand whose gradient is a function of its own of the gradient, in which it is linear, and that operand. */
const curved = (name: string): ElementFunction[] => [
  listed(name, 1, { derivatives: [gradientBy(`${name}-gradient`, "gradient", 0)] }),
  listed(`${name}-gradient`, 2, { linear: "first" }),
];

/** Of routing. */
const ROUTED = { isWhole: true, wholes: ["tokens", "experts", "places"] } as const;
/** Of convolutions. */
const WINDOWED = {
  linear: "all",
  isWhole: true,
  wholes: ["rows", "columns", "rows of windows", "columns of windows", "rows in a window", "columns in a window"],
} as const;

/**
 * What elementwise nodes compute. Gradients of functions with whole dimensions are whole along the same ones, in the same order.
 * Positions are an operand (their numbers, by token), not counted from where elements stand: so tokens may be dealt.
 *
 * `scale`, `shift`, `power`: by the constant. `gelu` is exact, `gelu-tanh` its approximation (Hendrycks and Gimpel 2016).
 * `softmax`, `rms-norm`, `layer-norm`: along all whole dimensions together; norms have neither scales nor shifts, the constant is
 * added below their root. `causal-softmax` (scores, positions of queries, positions of keys): keys behind the query's position, and
 * where the constant is above 0 those that many or more before it, have no part. `turn` (numbers, positions): along its one whole
 * dimension of n, numbers i and i + n / 2 are turned by position / constant ** (2 i / n) (Su et al. 2021, as Llama pairs them).
 * `one-hot` (indices): 1 at the place along its whole dimension that the index says. `cross-entropy` (logits, indices of targets):
 * along the whole dimension, which the result does not have, 0 for a target that is none of it (-100, say).
 *
 * `route` (logits by tokens and experts) is 1 where a token goes to a place of an expert: to the experts, as many as the constant
 * says, of its greatest logits (of equal ones the first), there to the next place that is free; tokens come in order, and who finds
 * none goes nowhere (Shazeer et al. 2017; Lepikhin et al. 2021). `gates` (the same) is by experts and places with what weight its
 * token takes what comes back: the softmax of the logits of the token's experts (Jiang et al. 2024); 0 where there is no token.
 * `windows` (rows, columns) shows each window of a convolution what it sees, at steps of the constant, with zeros (size - 1) / 2
 * before the first row and column.
 */
const LISTED: readonly ElementFunction[] = [
  listed("copy", 1, { linear: "all", derivatives: [PASSED] }),
  listed("negate", 1, { linear: "all", derivatives: [gradientBy("negate", "gradient")] }),
  listed("scale", 1, { linear: "all", derivatives: [gradientBy("scale", "gradient")] }),
  listed("shift", 1, { derivatives: [PASSED] }),
  listed("add", "any", { linear: "all" }),
  listed("subtract", 2, { linear: "all", derivatives: [PASSED, gradientBy("negate", "gradient")] }),
  listed("multiply", 2, {
    linear: "one",
    derivatives: [gradientBy("multiply", "gradient", 1), gradientBy("multiply", "gradient", 0)],
  }),
  listed("divide", 2, {
    linear: "first",
    derivatives: [gradientBy("divide", "gradient", 1), gradientBy("divide-gradient", "gradient", "result", 1)],
  }),
  listed("divide-gradient", 3, { linear: "first" }),
  ...["relu", "gelu", "gelu-tanh", "silu", "sigmoid", "tanh", "exp", "log", "sqrt", "rsqrt", "square", "power"].flatMap(
    curved,
  ),
  // of the reduction of that name
  listed("max-gradient", 3, { linear: "first", isWhole: true }),
  listed("softmax", 1, { isWhole: true, derivatives: [gradientBy("softmax-gradient", "gradient", "result")] }),
  listed("softmax-gradient", 2, { linear: "first", isWhole: true }),
  listed("causal-softmax", 3, {
    isWhole: true,
    derivatives: [gradientBy("softmax-gradient", "gradient", "result"), null, null],
  }),
  listed("rms-norm", 1, { isWhole: true, derivatives: [gradientBy("rms-norm-gradient", "gradient", 0)] }),
  listed("rms-norm-gradient", 2, { linear: "first", isWhole: true }),
  listed("layer-norm", 1, { isWhole: true, derivatives: [gradientBy("layer-norm-gradient", "gradient", 0)] }),
  listed("layer-norm-gradient", 2, { linear: "first", isWhole: true }),
  listed("turn", 2, { linear: "first", isWhole: true, derivatives: [gradientBy("turn-back", "gradient", 1), null] }),
  listed("turn-back", 2, { linear: "first", isWhole: true }),
  listed("one-hot", 1, { isWhole: true, derivatives: [null] }),
  listed("cross-entropy", 2, {
    isWhole: true,
    derivatives: [gradientBy("cross-entropy-gradient", "gradient", 0, 1), null],
  }),
  listed("cross-entropy-gradient", 3, { linear: "first", isWhole: true }),
  listed("route", 1, { ...ROUTED, derivatives: [null] }),
  listed("gates", 1, { ...ROUTED, derivatives: [gradientBy("gates-gradient", "gradient", 0)] }),
  listed("gates-gradient", 2, { ...ROUTED, linear: "first" }),
  listed("windows", 1, { ...WINDOWED, derivatives: [gradientBy("windows-back", "gradient")] }),
  listed("windows-back", 1, WINDOWED),
];

export const FUNCTIONS: ReadonlyMap<string, ElementFunction> = new Map(LISTED.map((one) => [one.name, one]));
