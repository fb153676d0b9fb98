/** What a function without whole dimensions makes of the numbers at one place. */
export type Pointwise = (values: readonly number[], constant: number) => number;

/** What a function makes of the elements along its whole dimensions. */
export interface WholeFunction {
  /**
   * [operands] which of the whole dimensions, by their places, each operand shows, in row-major order; absent: each shows all, in
   * the order of `whole`.
   */
  readonly takes?: readonly (readonly number[])[];
  /** Which of them the result has; absent: all. */
  readonly gives?: readonly number[];
  /** `sizes`: of the whole dimensions. */
  readonly of: (operands: readonly Float64Array[], sizes: readonly number[], constant: number) => Float64Array;
}

const SQRT_2 = Math.SQRT2;
const SQRT_2_PI = Math.sqrt(2 * Math.PI);

/** Returns the error function, to about 1e-16: a series of positive summands (Abramowitz and Stegun 7.1.6). */
function erf(x: number): number {
  const far = Math.abs(x);
  if (far > 6) return Math.sign(x);
  let term = far;
  let sum = far;
  for (let n = 1; term > sum * 1e-17; n++) {
    term *= (2 * far * far) / (2 * n + 1);
    sum += term;
  }
  return (Math.sign(x) * 2 * sum * Math.exp(-far * far)) / Math.sqrt(Math.PI);
}

const sigmoid = (x: number): number => 1 / (1 + Math.exp(-x));
/** Of the normal distribution. */
const below = (x: number): number => (1 + erf(x / SQRT_2)) / 2;

/** Hendrycks and Gimpel 2016: x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))). */
const innerOf = (x: number): number => Math.sqrt(2 / Math.PI) * (x + 0.044715 * x ** 3);

/** [function of one operand, its derivative] */
const CURVES: Readonly<
  Record<string, readonly [(x: number, constant: number) => number, (x: number, constant: number) => number]>
> = {
  relu: [(x) => Math.max(0, x), (x) => (x > 0 ? 1 : 0)],
  gelu: [(x) => x * below(x), (x) => below(x) + (x * Math.exp((-x * x) / 2)) / SQRT_2_PI],
  "gelu-tanh": [
    (x) => (x / 2) * (1 + Math.tanh(innerOf(x))),
    (x) => {
      const t = Math.tanh(innerOf(x));
      return (1 + t) / 2 + (x / 2) * (1 - t * t) * Math.sqrt(2 / Math.PI) * (1 + 3 * 0.044715 * x * x);
    },
  ],
  silu: [(x) => x * sigmoid(x), (x) => sigmoid(x) * (1 + x * (1 - sigmoid(x)))],
  sigmoid: [sigmoid, (x) => sigmoid(x) * (1 - sigmoid(x))],
  tanh: [Math.tanh, (x) => 1 - Math.tanh(x) ** 2],
  exp: [Math.exp, Math.exp],
  log: [Math.log, (x) => 1 / x],
  sqrt: [Math.sqrt, (x) => 0.5 / Math.sqrt(x)],
  rsqrt: [(x) => 1 / Math.sqrt(x), (x) => -0.5 * x ** -1.5],
  square: [(x) => x * x, (x) => 2 * x],
  power: [(x, constant) => x ** constant, (x, constant) => constant * x ** (constant - 1)],
};

/** By name, as model/tensor-graph/functions.ts describes them. */
export const POINTWISE: ReadonlyMap<string, Pointwise> = new Map<string, Pointwise>([
  ["copy", ([x]) => x],
  ["negate", ([x]) => -x],
  ["scale", ([x], constant) => x * constant],
  ["shift", ([x], constant) => x + constant],
  ["add", (values) => values.reduce((sum, x) => sum + x, 0)],
  ["subtract", ([x, y]) => x - y],
  ["multiply", ([x, y]) => x * y],
  ["divide", ([x, y]) => x / y],
  ["divide-gradient", ([gradient, result, y]) => (-gradient * result) / y],
  ...Object.entries(CURVES).flatMap(([name, [value, slope]]): [string, Pointwise][] => [
    [name, ([x], constant) => value(x, constant)],
    [`${name}-gradient`, ([gradient, x], constant) => gradient * slope(x, constant)],
  ]),
]);

const sumOf = (values: Float64Array): number => values.reduce((sum, x) => sum + x, 0);
const meanOf = (values: Float64Array): number => sumOf(values) / values.length;
/** Returns the sum of products. */
const together = (a: Float64Array, b: Float64Array): number => a.reduce((sum, x, i) => sum + x * b[i], 0);

/** Returns the softmax of the elements for which `has` holds; 0 for the others. */
function softmax(values: Float64Array, has: (i: number) => boolean = () => true): Float64Array {
  const greatest = values.reduce((most, x, i) => (has(i) ? Math.max(most, x) : most), Number.NEGATIVE_INFINITY);
  const powers = values.map((x, i) => (has(i) ? Math.exp(x - greatest) : 0));
  const sum = sumOf(powers);
  return sum === 0 ? powers : powers.map((x) => x / sum);
}

/** Returns the gradient through a softmax of what it gave. */
function softmaxGradient(gradient: Float64Array, result: Float64Array): Float64Array {
  const mean = together(gradient, result);
  return result.map((y, i) => y * (gradient[i] - mean));
}

/** Returns x over the root of the mean of its squares, and the gradient through that. */
const rootMeanSquare = (x: Float64Array, eps: number): number => Math.sqrt(together(x, x) / x.length + eps);
function rmsNormGradient(gradient: Float64Array, x: Float64Array, eps: number): Float64Array {
  const root = rootMeanSquare(x, eps);
  const along = together(gradient, x) / (x.length * root * root);
  return x.map((value, i) => (gradient[i] - value * along) / root);
}

/** Returns numbers from which their mean is taken. */
function centred(x: Float64Array): Float64Array {
  const mean = meanOf(x);
  return x.map((value) => value - mean);
}

/** Returns numbers turned in pairs by positions, by as much times `direction`. */
function turned(x: Float64Array, positions: Float64Array, base: number, direction: 1 | -1): Float64Array {
  const half = x.length / 2;
  const result = new Float64Array(x.length);
  for (let i = 0; i < half; i++) {
    const angle = (direction * positions[i]) / base ** (i / half);
    const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
    result[i] = x[i] * cos - x[i + half] * sin;
    result[i + half] = x[i + half] * cos + x[i] * sin;
  }
  return result;
}

/** A token at its place: [token, expert, place]; -1 for no place. */
type Seat = readonly [number, number, number];

/** Returns where tokens go, and with what weight they take what comes back; of those without a place too. */
function seats(logits: Float64Array, [tokens, experts, places]: readonly number[], perToken: number) {
  const found: { seat: Seat; weight: number; chosen: readonly number[]; weights: Float64Array }[] = [];
  const taken = new Int32Array(experts);
  for (let token = 0; token < tokens; token++) {
    const own = logits.subarray(token * experts, (token + 1) * experts);
    const order = Array.from(own, (_, e) => e).sort((a, b) => own[b] - own[a] || a - b);
    const chosen = order.slice(0, perToken);
    const weights = softmax(Float64Array.from(chosen, (e) => own[e]));
    chosen.forEach((expert, i) => {
      const place = taken[expert] < places ? taken[expert]++ : -1;
      found.push({ seat: [token, expert, place], weight: weights[i], chosen, weights });
    });
  }
  return found;
}

/** Calls with [place of a window's element, place of what it sees] for all that see something. */
function forWindows(sizes: readonly number[], stride: number, call: (windows: number, seen: number) => void): void {
  const [rows, columns, down, across, high, wide] = sizes;
  const [above, before] = [Math.floor((high - 1) / 2), Math.floor((wide - 1) / 2)];
  let at = 0;
  for (let i = 0; i < down; i++) {
    for (let j = 0; j < across; j++) {
      for (let a = 0; a < high; a++) {
        for (let b = 0; b < wide; b++) {
          const [row, column] = [i * stride + a - above, j * stride + b - before];
          if (row >= 0 && row < rows && column >= 0 && column < columns) call(at, row * columns + column);
          at++;
        }
      }
    }
  }
}

const productOf = (sizes: readonly number[]): number => sizes.reduce((all, size) => all * size, 1);
const isTarget = (target: number, classes: number): boolean => target >= 0 && target < classes;

/** By name, as model/tensor-graph/functions.ts describes them. */
export const WHOLE: ReadonlyMap<string, WholeFunction> = new Map<string, WholeFunction>([
  [
    "max-gradient",
    {
      of: ([gradient, result, x]) => {
        const ties = x.filter((value, i) => value === result[i]).length;
        return x.map((value, i) => (value === result[i] ? gradient[i] / ties : 0));
      },
    },
  ],
  ["softmax", { of: ([x]) => softmax(x) }],
  ["softmax-gradient", { of: ([gradient, result]) => softmaxGradient(gradient, result) }],
  [
    "causal-softmax",
    {
      of: ([x, query, key], _, window) =>
        softmax(x, (i) => key[i] <= query[i] && (window === 0 || query[i] - key[i] < window)),
    },
  ],
  ["rms-norm", { of: ([x], _, eps) => x.map((value) => value / rootMeanSquare(x, eps)) }],
  ["rms-norm-gradient", { of: ([gradient, x], _, eps) => rmsNormGradient(gradient, x, eps) }],
  [
    "layer-norm",
    {
      of: ([x], _, eps) => {
        const middle = centred(x);
        return middle.map((value) => value / rootMeanSquare(middle, eps));
      },
    },
  ],
  ["layer-norm-gradient", { of: ([gradient, x], _, eps) => centred(rmsNormGradient(gradient, centred(x), eps)) }],
  ["turn", { of: ([x, positions], _, base) => turned(x, positions, base, 1) }],
  ["turn-back", { of: ([x, positions], _, base) => turned(x, positions, base, -1) }],
  ["one-hot", { of: ([index]) => index.map((value, i) => (value === i ? 1 : 0)) }],
  [
    "cross-entropy",
    {
      gives: [],
      of: ([x, [target]]) => {
        if (!isTarget(target, x.length)) return Float64Array.of(0);
        const greatest = x.reduce((a, b) => Math.max(a, b));
        return Float64Array.of(greatest + Math.log(sumOf(x.map((value) => Math.exp(value - greatest)))) - x[target]);
      },
    },
  ],
  [
    "cross-entropy-gradient",
    {
      of: ([[gradient], x, [target]]) =>
        isTarget(target, x.length)
          ? softmax(x).map((value, i) => gradient * (value - (i === target ? 1 : 0)))
          : new Float64Array(x.length),
    },
  ],
  [
    "route",
    {
      takes: [[0, 1]],
      of: ([logits], sizes, perToken) => {
        const [, experts, places] = sizes;
        const result = new Float64Array(productOf(sizes));
        for (const { seat } of seats(logits, sizes, perToken)) {
          const [token, expert, place] = seat;
          if (place >= 0) result[(token * experts + expert) * places + place] = 1;
        }
        return result;
      },
    },
  ],
  [
    "gates",
    {
      takes: [[0, 1]],
      gives: [1, 2],
      of: ([logits], sizes, perToken) => {
        const [, experts, places] = sizes;
        const result = new Float64Array(experts * places);
        for (const { seat, weight } of seats(logits, sizes, perToken)) {
          const [, expert, place] = seat;
          if (place >= 0) result[expert * places + place] = weight;
        }
        return result;
      },
    },
  ],
  [
    "gates-gradient",
    {
      takes: [
        [1, 2],
        [0, 1],
      ],
      gives: [0, 1],
      of: ([gradient, logits], sizes, perToken) => {
        const [tokens, experts, places] = sizes;
        const result = new Float64Array(tokens * experts);
        for (const { seat, weight, chosen, weights } of seats(logits, sizes, perToken)) {
          const [token, expert, place] = seat;
          if (place < 0) continue;
          const given = gradient[expert * places + place] * weight;
          chosen.forEach((other, i) => {
            result[token * experts + other] += given * ((other === expert ? 1 : 0) - weights[i]);
          });
        }
        return result;
      },
    },
  ],
  [
    "windows",
    {
      takes: [[0, 1]],
      gives: [2, 3, 4, 5],
      of: ([image], sizes, stride) => {
        const result = new Float64Array(productOf(sizes.slice(2)));
        forWindows(sizes, stride, (window, seen) => {
          result[window] = image[seen];
        });
        return result;
      },
    },
  ],
  [
    "windows-back",
    {
      takes: [[2, 3, 4, 5]],
      gives: [0, 1],
      of: ([gradient], sizes, stride) => {
        const result = new Float64Array(productOf(sizes.slice(0, 2)));
        forWindows(sizes, stride, (window, seen) => {
          result[seen] += gradient[window];
        });
        return result;
      },
    },
  ],
]);
