import { InternalError } from "../../base/errors.ts";
import {
  classesByKey,
  type Dimension,
  DROPPED,
  type GraphNode,
  type Operand,
  type Role,
  type TensorGraph,
} from "./graph.ts";

/** A node by its number, which sees its tensor as it is; or how it is seen. */
export type Taken = number | Operand;

/** What may be said of a node besides. */
export interface NodeMore {
  readonly isFused?: boolean;
  /** Of one element; else those of the graph. */
  readonly bytes?: number;
}

export interface FunctionMore extends NodeMore {
  /** Of the result; else those of all operands as they come, which a function without whole dimensions of its own has. */
  readonly dims?: readonly number[];
  readonly whole?: readonly number[];
  readonly constant?: number;
}

/** Puts a graph together node by node. What adds a node returns its number. */
export interface GraphBuilder {
  /** Returns the dimension of that name, which is made the first time. */
  readonly dimension: (name: string, size: number) => number;
  readonly placeholder: (name: string, role: Role, dims: readonly number[], bytes?: number) => number;
  /** Sums over all dimensions that the result does not have. */
  readonly einsum: (name: string, operands: readonly Taken[], dims: readonly number[], more?: NodeMore) => number;
  /** The same, where the first operand says which elements of the others go where. */
  readonly select: (name: string, operands: readonly Taken[], dims: readonly number[], more?: NodeMore) => number;
  readonly apply: (name: string, of: string, operands: readonly Taken[], more?: FunctionMore) => number;
  readonly reduce: (
    name: string,
    of: "sum" | "max",
    operand: Taken,
    over: readonly number[],
    more?: NodeMore,
  ) => number;
  /** Returns a tensor seen with a dimension as another. */
  readonly as: (node: number, from: number, to: number) => Operand;
  readonly dimsOf: (node: number) => readonly number[];
  /**
   * Returns the builder of a part: its nodes are named after `part`, and those of parts of equal `kind` that have the same name in
   * it are of one class.
   */
  readonly part: (part: string, kind: string) => GraphBuilder;
  readonly graph: (name: string, outputs: readonly number[]) => TensorGraph;
}

/** Returns a builder of a graph whose elements have so many bytes unless said otherwise. */
export function graphBuilder(elementBytes: number): GraphBuilder {
  const dimensions: Dimension[] = [];
  const nodes: GraphNode[] = [];
  const keys: string[] = [];

  const dimsOf = (node: number): readonly number[] => (nodes[node] as GraphNode).dims;
  const operandOf = (taken: Taken): Operand =>
    typeof taken === "number" ? { node: taken, dims: dimsOf(taken) } : taken;
  const within = (part: string, kind: string | null): GraphBuilder => {
    const base = (name: string, dims: readonly number[], { isFused = false, bytes = elementBytes }: NodeMore) => ({
      name: part + name,
      dims,
      elementBytes: bytes,
      phase: "forward" as const,
      isFused,
    });
    const place = (node: GraphNode, name: string): number => {
      keys.push(kind === null ? `node ${nodes.length}` : `${kind}: ${name}`);
      return nodes.push(node) - 1;
    };
    const product =
      (selects: boolean): GraphBuilder["einsum"] =>
      (name, operands, dims, more = {}) =>
        place({ ...base(name, dims, more), kind: "einsum", operands: operands.map(operandOf), selects }, name);
    return {
      dimension(name, size) {
        const known = dimensions.findIndex((one) => one.name === name);
        if (known < 0) return dimensions.push({ name, size }) - 1;
        if (dimensions[known]?.size !== size) throw new InternalError(`two sizes of the dimension ${name}`);
        return known;
      },
      placeholder: (name, role, dims, bytes = elementBytes) =>
        place({ ...base(name, dims, { bytes }), kind: "placeholder", role }, name),
      einsum: product(false),
      select: product(true),
      apply(name, of, taken, more = {}) {
        const operands = taken.map(operandOf);
        const seen = [...new Set(operands.flatMap((operand) => operand.dims))].filter((dim) => dim !== DROPPED);
        const { dims = seen, whole = [], constant = 0 } = more;
        return place({ ...base(name, dims, more), kind: "elementwise", function: of, operands, constant, whole }, name);
      },
      reduce(name, of, taken, over, more = {}) {
        const operand = operandOf(taken);
        const dims = operand.dims.filter((dim) => dim !== DROPPED && !over.includes(dim));
        return place({ ...base(name, dims, more), kind: "reduction", function: of, operands: [operand], over }, name);
      },
      as: (node, from, to) => ({ node, dims: dimsOf(node).map((dim) => (dim === from ? to : dim)) }),
      dimsOf,
      part: (inner, innerKind) => within(`${part}${inner} `, innerKind),
      graph(name, outputs) {
        if (part !== "") throw new InternalError("a part is no graph");
        place({ ...base("output", [], {}), kind: "output", operands: outputs.map(operandOf) }, "output");
        return { name, dimensions, nodes, gradients: [], classes: classesByKey(keys) };
      },
    };
  };
  return within("", null);
}
