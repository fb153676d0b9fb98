/**
 * How a function takes operands that are partial (the sum over some NPUs is meant). "none": not at all. "one": it is linear in each
 * operand, so one of them may be, and the result is. "all": it is linear in all together, so all have to be, or none.
 */
export type Linearity = "none" | "one" | "all";

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
  /** [operands] null: no gradient goes there. Absent: the function has no gradient at all. */
  readonly derivatives?: readonly (Derivative | null)[];
}

const unary = (name: string, derivatives?: readonly (Derivative | null)[]): ElementFunction => ({
  name,
  operands: 1,
  linear: "none",
  isWhole: false,
  ...(derivatives && { derivatives }),
});

/** A function of one operand whose gradient is a function of its own of the gradient and that operand. */
const curved = (name: string): ElementFunction[] => [
  unary(name, [{ function: `${name}-gradient`, of: ["gradient", 0] }]),
  { name: `${name}-gradient`, operands: 2, linear: "none", isWhole: false },
];

/**
 * What elementwise nodes compute. Gradients of functions with whole dimensions are whole along the same ones. `route` says which tokens go to which place of which expert, and `gates` by what weights
 * (Shazeer et al. 2017; Lepikhin et al. 2021); `turn` is the rotation of pairs by positions (Su et al. 2021), linear.
 */
const LISTED: readonly ElementFunction[] = [
  { name: "copy", operands: 1, linear: "all", isWhole: false, derivatives: [{ function: "copy", of: ["gradient"] }] },
  {
    name: "negate",
    operands: 1,
    linear: "all",
    isWhole: false,
    derivatives: [{ function: "negate", of: ["gradient"] }],
  },
  {
    name: "scale",
    operands: 1,
    linear: "all",
    isWhole: false,
    derivatives: [{ function: "scale", of: ["gradient"] }],
  },
  { name: "shift", operands: 1, linear: "none", isWhole: false, derivatives: [{ function: "copy", of: ["gradient"] }] },
  { name: "add", operands: "any", linear: "all", isWhole: false },
  {
    name: "subtract",
    operands: 2,
    linear: "all",
    isWhole: false,
    derivatives: [
      { function: "copy", of: ["gradient"] },
      { function: "negate", of: ["gradient"] },
    ],
  },
  {
    name: "multiply",
    operands: 2,
    linear: "one",
    isWhole: false,
    derivatives: [
      { function: "multiply", of: ["gradient", 1] },
      { function: "multiply", of: ["gradient", 0] },
    ],
  },
  {
    name: "divide",
    operands: 2,
    linear: "none",
    isWhole: false,
    derivatives: [
      { function: "divide", of: ["gradient", 1] },
      { function: "divide-gradient", of: ["gradient", "result", 1] },
    ],
  },
  { name: "divide-gradient", operands: 3, linear: "none", isWhole: false },
  ...["relu", "gelu", "gelu-tanh", "silu", "sigmoid", "tanh", "exp", "log", "sqrt", "rsqrt", "square", "power"].flatMap(
    curved,
  ),
  {
    name: "softmax",
    operands: 1,
    linear: "none",
    isWhole: true,
    derivatives: [{ function: "softmax-gradient", of: ["gradient", "result"] }],
  },
  { name: "softmax-gradient", operands: 2, linear: "none", isWhole: true },
  {
    name: "causal-softmax",
    operands: 1,
    linear: "none",
    isWhole: true,
    derivatives: [{ function: "softmax-gradient", of: ["gradient", "result"] }],
  },
  {
    name: "rms-norm",
    operands: 1,
    linear: "none",
    isWhole: true,
    derivatives: [{ function: "rms-norm-gradient", of: ["gradient", 0] }],
  },
  { name: "rms-norm-gradient", operands: 2, linear: "none", isWhole: true },
  {
    name: "layer-norm",
    operands: 1,
    linear: "none",
    isWhole: true,
    derivatives: [{ function: "layer-norm-gradient", of: ["gradient", 0] }],
  },
  { name: "layer-norm-gradient", operands: 2, linear: "none", isWhole: true },
  {
    name: "turn",
    operands: 1,
    linear: "all",
    isWhole: true,
    derivatives: [{ function: "turn-back", of: ["gradient"] }],
  },
  { name: "turn-back", operands: 1, linear: "all", isWhole: true },
  { name: "route", operands: 1, linear: "none", isWhole: true, derivatives: [null] },
  {
    name: "gates",
    operands: 1,
    linear: "none",
    isWhole: true,
    derivatives: [{ function: "gates-gradient", of: ["gradient", 0] }],
  },
  { name: "gates-gradient", operands: 2, linear: "none", isWhole: true },
  {
    name: "cross-entropy",
    operands: 2,
    linear: "none",
    isWhole: true,
    derivatives: [{ function: "cross-entropy-gradient", of: ["gradient", 0, 1] }, null],
  },
  { name: "cross-entropy-gradient", operands: 3, linear: "none", isWhole: true },
];

export const FUNCTIONS: ReadonlyMap<string, ElementFunction> = new Map(LISTED.map((one) => [one.name, one]));
