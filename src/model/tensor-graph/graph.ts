/** A way of counting what tensors hold, by name: samples, tokens, heads. What two tensors have in common they have by the same dimension. */
export interface Dimension {
  readonly name: string;
  readonly size: number;
}

/** A tensor as a node takes it. */
export interface Operand {
  /** Index of the node that makes the tensor. */
  readonly node: number;
  /**
   * [rank of the tensor] index of the dimension as which each of its own is seen here: the same, or another of the same size (keys
   * count tokens apart from queries); DROPPED: it has size 1 and is left out.
   */
  readonly dims: readonly number[];
}

/** In `Operand.dims`: a dimension of size 1 that the node does not see. */
export const DROPPED = -1;

/** What a placeholder stands for: what is trained, what a step is given, the gradient of an output. */
export const ROLES = ["parameter", "input", "tangent"] as const;
export type Role = (typeof ROLES)[number];

/** Forward, or made for gradients. */
export const PHASES = ["forward", "backward"] as const;
export type Phase = (typeof PHASES)[number];

/** What every node has; it makes one tensor, which has its name. */
interface NodeBase {
  readonly name: string;
  /** [rank] indices of the graph's dimensions, each at most once; their order says nothing but how it is printed. */
  readonly dims: readonly number[];
  /** Of one element. */
  readonly elementBytes: number;
  readonly phase: Phase;
  /**
   * The tensor is made and used piece by piece inside one kernel, as scores of attention are (Dao et al. 2022): it takes no memory,
   * goes through none, and is never sent; who needs it in the backward pass makes it again.
   */
  readonly isFused: boolean;
}

export interface Placeholder extends NodeBase {
  readonly kind: "placeholder";
  readonly role: Role;
}

/**
 * Sum over all dimensions that the result does not have of the product of the operands; along a dimension that no operand has the
 * result is repeated.
 */
export interface Einsum extends NodeBase {
  readonly kind: "einsum";
  readonly operands: readonly Operand[];
  /**
   * The first operand only says which elements of the others go where (tokens to experts, rows of a table): the work is to move
   * them, not to multiply.
   */
  readonly selects: boolean;
}

/** A function of elements that stand at the same place; operands without a dimension of the result are repeated along it. */
export interface Elementwise extends NodeBase {
  readonly kind: "elementwise";
  readonly operands: readonly Operand[];
  /** One of FUNCTIONS. */
  readonly function: string;
  /** A number that the function takes besides; 0 where it takes none. */
  readonly constant: number;
  /**
   * Dimensions along which elements depend on each other (softmax, norms): they have to be whole. In the order that the function
   * names (`wholes`), if it does; all that operands have and the result has not are among them.
   */
  readonly whole: readonly number[];
}

/** A sum, or the greatest, over dimensions. */
export interface Reduction extends NodeBase {
  readonly kind: "reduction";
  readonly operands: readonly [Operand];
  readonly function: "sum" | "max";
  readonly over: readonly number[];
}

/** What the graph is for. It makes no tensor of its own; its dims are empty. */
export interface Output extends NodeBase {
  readonly kind: "output";
  readonly operands: readonly Operand[];
}

export type GraphNode = Placeholder | Einsum | Elementwise | Reduction | Output;

/** The gradient of what is trained. */
export interface GradientOf {
  /** Indices of nodes: a placeholder, and who makes its gradient. */
  readonly parameter: number;
  readonly gradient: number;
}

/**
 * The tensors of a step and how each is made of others (Zhao 2026, 5.3): views and permutations are no nodes, for the order of a
 * tensor's dimensions means nothing.
 */
export interface TensorGraph {
  readonly name: string;
  readonly dimensions: readonly Dimension[];
  /** Each behind all of its operands; the last is the output. */
  readonly nodes: readonly GraphNode[];
  readonly gradients: readonly GradientOf[];
  /**
   * [nodes] Nodes of equal numbers do the same in repeated parts (layers), and are to be treated the same; operands correspond by
   * their places. Numbers are 0 .. without a gap, in the order in which they first come.
   */
  readonly classes: Int32Array;
}

/** Returns what a node takes; a placeholder takes nothing. */
export const operandsOf = (node: GraphNode): readonly Operand[] => (node.kind === "placeholder" ? [] : node.operands);

/**
 * Returns, for every node, of which node's tensor it is the gradient that an output is given: of the first output with its dimensions
 * that has none yet; -1 where it is none, or of no output, or of a single number (that of a loss is known before the loss is).
 * O(nodes + outputs x tangents).
 */
export function tangentsOf(graph: TensorGraph): Int32Array {
  const { nodes } = graph;
  const outputs = nodes.flatMap((node) => (node.kind === "output" ? node.operands.map((operand) => operand.node) : []));
  return Int32Array.from(nodes, (node) => {
    if (node.kind !== "placeholder" || node.role !== "tangent" || elementsOf(graph, node.dims) === 1) return -1;
    const at = outputs.findIndex((of) => {
      const { dims, phase } = nodes[of] as GraphNode;
      return phase === "forward" && dims.length === node.dims.length && dims.every((dim) => node.dims.includes(dim));
    });
    return at < 0 ? -1 : (outputs.splice(at, 1)[0] as number);
  });
}

/** Returns how many elements a tensor has. */
export const elementsOf = ({ dimensions }: Pick<TensorGraph, "dimensions">, dims: readonly number[]): number =>
  dims.reduce((all, dim) => all * (dim === DROPPED ? 1 : (dimensions[dim] as Dimension).size), 1);

/** Returns the classes of nodes that are all alone. */
export const noClasses = (nodeCount: number): Int32Array => Int32Array.from({ length: nodeCount }, (_, i) => i);

/** Returns numbers 0 .. in the order in which keys first come. */
export function classesByKey(keys: readonly string[]): Int32Array {
  const known = new Map<string, number>();
  return Int32Array.from(keys, (key) => {
    const at = known.get(key) ?? known.size;
    known.set(key, at);
    return at;
  });
}
