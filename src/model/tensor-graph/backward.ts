import { InputError } from "../../base/errors.ts";
import { type Derivative, FUNCTIONS } from "./functions.ts";
import {
  type Dimension,
  DROPPED,
  type Einsum,
  type Elementwise,
  type GradientOf,
  type GraphNode,
  type Operand,
  type Output,
  operandsOf,
  type Reduction,
  type TensorGraph,
} from "./graph.ts";

/** One summand of the gradient of a tensor, as seen by the tensor's own dimensions. */
interface Summand {
  readonly operand: Operand;
  /** It is the gradient of another tensor. */
  readonly isShared: boolean;
}

/** The gradient just passes. */
const PASSED: Derivative = { function: "copy", of: ["gradient"] };

/** Returns the derivative of an elementwise node towards operand k, null where no gradient goes there. */
function derivativeOf(node: Elementwise, k: number): Derivative | null {
  if (node.function === "add") return PASSED;
  const derivatives = FUNCTIONS.get(node.function)?.derivatives;
  if (derivatives === undefined) {
    const expected = "a function with a gradient, for parameters are behind it";
    throw new InputError(`the function of node ${node.name}`, expected, node.function).as("not-applicable");
  }
  return derivatives[k] ?? null;
}

/** Returns whether a gradient goes from a node to its operand k, if parameters are behind that. */
function passes(node: GraphNode, k: number): boolean {
  if (node.kind === "einsum") return !(node.selects && k === 0);
  return node.kind !== "elementwise" || derivativeOf(node, k) !== null;
}

/** Returns, for every node, whether a parameter is among what it is made of, along ways on which gradients come back. */
export function parametersBehind(nodes: readonly GraphNode[]): boolean[] {
  const behind: boolean[] = [];
  for (const node of nodes) {
    const is =
      node.kind === "placeholder"
        ? node.role === "parameter"
        : node.operands.some((operand, k) => behind[operand.node] && passes(node, k));
    behind.push(is);
  }
  return behind;
}

/** Returns how many summands the gradient of each tensor has. */
function summandCounts(nodes: readonly GraphNode[], behind: readonly boolean[]): Int32Array {
  const counts = new Int32Array(nodes.length);
  for (let n = nodes.length - 1; n >= 0; n--) {
    const node = nodes[n] as GraphNode;
    if (node.kind !== "output" && counts[n] === 0) continue;
    operandsOf(node).forEach((operand, k) => {
      if (behind[operand.node] && passes(node, k)) (counts[operand.node] as number)++;
    });
  }
  return counts;
}

/**
 * Returns other names for dimensions, by which a node sees an operand by its own: a permutation of dimensions of equal size, so
 * that nothing that was apart falls together.
 */
function ownNames(node: GraphNode, { dims: seen }: Operand, { name, dims: own }: GraphNode): (dim: number) => number {
  const names = new Map<number, number>();
  const taken = new Map<number, number>();
  seen.forEach((dim, i) => {
    if (dim === DROPPED) return;
    if (names.has(dim)) {
      const expected = "seeing each dimension of a tensor as another, where it has a gradient";
      throw new InputError(`node ${node.name}`, expected, dim)
        .as("not-applicable")
        .saying(
          `node ${node.name} sees two dimensions of ${name} as one; gradients go only where each is seen as another`,
        );
    }
    names.set(dim, own[i] as number);
    taken.set(own[i] as number, dim);
  });
  for (const last of taken.keys()) {
    if (names.has(last)) continue;
    let first = last;
    while (taken.has(first)) first = taken.get(first) as number;
    names.set(last, first);
  }
  return (dim) => names.get(dim) ?? dim;
}

/** Returns what a node is like but for the numbers of its operands and of its dimensions: the same for equal ones only. */
function likeness({ dimensions }: TensorGraph, node: GraphNode): string {
  const numbers = new Map<number, number>();
  const of = (dims: readonly number[]): string =>
    dims
      .map((dim) => {
        if (dim === DROPPED) return "-";
        if (!numbers.has(dim)) numbers.set(dim, numbers.size);
        return `${numbers.get(dim)}:${(dimensions[dim] as Dimension).size}`;
      })
      .join(",");
  const operands = operandsOf(node).map(({ dims }) => of(dims));
  const own = node.kind === "elementwise" ? of(node.whole) : node.kind === "reduction" ? of(node.over) : "";
  return `${operands.join(";")}>${of(node.dims)}/${own}/${node.elementBytes}${node.isFused ? "f" : ""}`;
}

const whole = (node: number, dims: readonly number[]): Operand => ({ node, dims });
const seenAs = ({ node, dims }: Operand, name: (dim: number) => number): Operand => ({
  node,
  dims: dims.map((dim) => (dim === DROPPED ? DROPPED : name(dim))),
});

/**
 * Returns the graph with the gradients of its parameters behind it: of every output that parameters are behind, a placeholder of
 * role "tangent" is the gradient that it is given; gradients of einsums are einsums, of elementwise nodes what the table of
 * functions says, then summed over what the operand was repeated along; of sums, repetitions. A gradient has the dimensions of its
 * tensor in the same order, its bytes, and is fused where the tensor is; what is summed at once is fused too. Summands from several
 * consumers are added by one node, not by a chain: so all of them may be partial and are summed over NPUs once. Where the gradient
 * just passes (residuals) there is no node. Nodes of equal classes have gradients of equal classes. The output has what it had, then
 * the gradients, by parameter; a parameter that no gradient comes to has none. Throws InputError for a function without a gradient
 * on the way to a parameter. O(nodes x operands).
 */
export function withGradients(graph: TensorGraph): TensorGraph {
  const { nodes, classes } = graph;
  const output = nodes[nodes.length - 1];
  if (output?.kind !== "output" || nodes.some((node, n) => node.kind === "output" && n < nodes.length - 1)) {
    throw new InputError(`the graph ${graph.name}`, "one whose last node, and only that, is its output");
  }
  const behind = parametersBehind(nodes);
  const counts = summandCounts(nodes, behind);
  const made: GraphNode[] = nodes.slice(0, -1);
  const known = new Map<string, number>();
  const numbers: number[] = [];
  const count = (key: string): void => {
    const number = known.get(key) ?? known.size;
    known.set(key, number);
    numbers.push(number);
  };
  for (let n = 0; n < made.length; n++) count(`${classes[n]}`);
  const place = (node: GraphNode, key: string): number => {
    count(`${key} ${likeness(graph, node)}`);
    return made.push(node) - 1;
  };
  /** What all nodes have that make the gradient of a tensor, or a summand of it. */
  const base = (n: number, name: string) => {
    const { dims, elementBytes, isFused } = nodes[n] as GraphNode;
    return { name, dims, elementBytes, isFused, phase: "backward" as const };
  };
  const summands: Summand[][] = nodes.map(() => []);

  /** Adds the summand that comes to operand k of node n, whose gradient is node g. */
  const pass = (n: number, k: number, g: number): void => {
    const node = nodes[n] as Einsum | Elementwise | Reduction;
    const operand = node.operands[k] as Operand;
    const tensor = nodes[operand.node] as GraphNode;
    const name = ownNames(node, operand, tensor);
    const key = `${classes[n]}.${k}`;
    const times = node.operands.filter((other) => other.node === operand.node).length;
    const through = times > 1 ? ` through ${node.name} (operand ${k})` : ` through ${node.name}`;
    const own = base(operand.node, `gradient of ${tensor.name}${(counts[operand.node] as number) > 1 ? through : ""}`);
    const gradient = seenAs(whole(g, node.dims), name);
    const add = (made: Operand, isShared = false): void => {
      (summands[operand.node] as Summand[]).push({ operand: made, isShared });
    };
    const fresh = (made: GraphNode): void => add(whole(place(made, `${key} ${made.kind}`), tensor.dims));
    const others = node.operands.map((other) => seenAs(other, name));
    if (node.kind === "einsum") {
      const rest = others.filter((_, j) => j !== k);
      const operands = node.selects ? [rest[0] as Operand, gradient, ...rest.slice(1)] : [gradient, ...rest];
      fresh({ ...own, kind: "einsum", operands, selects: node.selects });
      return;
    }
    const elementwise = { ...own, kind: "elementwise", constant: 0, whole: [] } as const;
    if (node.kind === "reduction") {
      // dimensions of size 1 that the reduction has put there
      const kept = (other: Operand): Operand => seenAs(other, (dim) => (tensor.dims.includes(dim) ? dim : DROPPED));
      if (node.function === "sum") {
        fresh({ ...elementwise, function: "copy", operands: [kept(gradient)] });
        return;
      }
      const operands = [kept(gradient), kept(seenAs(whole(n, node.dims), name)), others[0] as Operand];
      fresh({ ...elementwise, function: "max-gradient", operands, whole: node.over.map(name) });
      return;
    }
    const derivative = derivativeOf(node, k) as Derivative;
    const seen = (others[k] as Operand).dims.filter((dim) => dim !== DROPPED);
    // functions whose whole dimensions are each for itself leave the operand those that it has
    const parts = FUNCTIONS.get(node.function)?.wholes === undefined ? [] : node.whole;
    const free = node.dims.filter((dim) => !parts.includes(dim)).map(name);
    const repeated = free.filter((dim) => !seen.includes(dim));
    const isPassed = derivative.function === "copy";
    if (isPassed && repeated.length === 0 && seen.length === tensor.dims.length) {
      add(gradient, true);
      return;
    }
    let last = gradient;
    if (!(isPassed && repeated.length > 0)) {
      const unsummed = {
        ...elementwise,
        function: derivative.function,
        constant: isPassed ? 0 : node.constant,
        whole: node.whole.map(name),
        operands: derivative.of.map((what) =>
          what === "gradient"
            ? gradient
            : what === "result"
              ? seenAs(whole(n, node.dims), name)
              : (others[what] as Operand),
        ),
      };
      if (repeated.length === 0) {
        fresh(unsummed);
        return;
      }
      const dims = [...seen, ...repeated];
      const made = { ...unsummed, name: `${own.name}, to be summed`, dims, isFused: true };
      last = whole(place(made, `${key} unsummed`), dims);
    }
    fresh({ ...own, kind: "reduction", function: "sum", over: repeated, operands: [last] });
  };

  /** Returns the node that makes the gradient of a tensor of its summands. */
  const gather = (n: number, of: readonly Summand[]): number => {
    const { dims, isFused, elementBytes, kind } = nodes[n] as GraphNode;
    const [{ operand, isShared }] = of as [Summand];
    if (of.length === 1) {
      const there = made[operand.node] as GraphNode;
      const isSame = there.isFused === isFused && there.elementBytes === elementBytes;
      const isSeenSo = operand.dims.every((dim, i) => dim === dims[i] && dim === there.dims[i]);
      if (!isShared || (isSame && isSeenSo && kind !== "placeholder")) return operand.node;
    }
    const sum: GraphNode = {
      ...base(n, `gradient of ${(nodes[n] as GraphNode).name}`),
      kind: "elementwise",
      function: of.length === 1 ? "copy" : "add",
      constant: 0,
      whole: [],
      operands: of.map((one) => one.operand),
    };
    return place(sum, `sum ${classes[n]}`);
  };

  output.operands.forEach(({ node: n }, k) => {
    if (!behind[n]) return;
    const { name } = nodes[n] as GraphNode;
    const times = output.operands.slice(0, k).filter((other) => other.node === n).length;
    const tangent: GraphNode = {
      ...base(n, times === 0 ? `tangent of ${name}` : `tangent of ${name} (${times + 1})`),
      kind: "placeholder",
      role: "tangent",
    };
    const at = place(tangent, `tangent ${classes[n]} ${k}`);
    (summands[n] as Summand[]).push({
      operand: whole(at, tangent.dims),
      isShared: (nodes[n] as GraphNode).kind === "placeholder",
    });
  });
  const gradients: GradientOf[] = [];
  for (let n = nodes.length - 2; n >= 0; n--) {
    const of = summands[n] as Summand[];
    if (of.length === 0) continue;
    const gradient = gather(n, of);
    const node = nodes[n] as GraphNode;
    if (node.kind === "placeholder") gradients.push({ parameter: n, gradient });
    operandsOf(node).forEach((operand, k) => {
      if (behind[operand.node] && passes(node, k)) pass(n, k, gradient);
    });
  }
  gradients.reverse();
  const listed = gradients.map(({ gradient }): Operand => whole(gradient, (made[gradient] as GraphNode).dims));
  const last: Output = { ...output, phase: "backward", operands: [...output.operands, ...listed] };
  made.push(last);
  count(`${classes[nodes.length - 1]}`);
  return { ...graph, nodes: made, gradients, classes: Int32Array.from(numbers) };
}
