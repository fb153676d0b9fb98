import { InputError } from "../../base/errors.ts";
import { FUNCTIONS, type Linearity } from "../tensor-graph/functions.ts";
import { type Dimension, type GraphNode, type Operand, operandsOf, type TensorGraph } from "../tensor-graph/graph.ts";
import type { AxisSet, Mesh, MeshAxis } from "./mesh.ts";
import {
  ALL_REPLICATED,
  type AxisState,
  axesWhere,
  PARTIAL,
  type Pattern,
  REPLICATED,
  shardAlong,
  withState,
} from "./patterns.ts";

/** A way in which the NPUs of an axis share a node's work: how its operands have to lie along it, and how its tensor lies then. */
export interface AxisRule {
  readonly operands: readonly AxisState[];
  readonly result: AxisState;
  /** The dimension along which work is dealt; NOT_DEALT: all do the same, or each with its summand. */
  readonly along: number;
}

export const NOT_DEALT = -1;

/** Of a stream: the result, not an operand. */
export const RESULT = -1;

/** What is brought to a product, or away from it, piece by piece beside it (Zhao 2026, 5.2.2: streamed, not materialised). */
export interface Stream {
  /** Number of the operand that is gathered; RESULT: the result is summed and dealt. */
  readonly of: number;
  /** The axes along which it lies dealt, though the work is done as if it were whole there, or a summand. */
  readonly axes: AxisSet;
  /** The dimension, as the node sees it, that they deal. Every NPU's part of it is cut into pieces. */
  readonly along: number;
  readonly pieces: number;
}

/** A way in which all NPUs share a node's work: a rule an axis. */
export interface WorkRule {
  /** [operands] how they are taken. */
  readonly operands: readonly Pattern[];
  readonly result: Pattern;
  /** [axes] the dimension along which the axis deals the work, or NOT_DEALT. */
  readonly along: readonly number[];
  /** Only of products that are streamed. */
  readonly stream?: Stream;
}

/** Returns whether no operand is taken as a summand. */
export const takesNoSummand = (mesh: Mesh, { operands }: WorkRule): boolean =>
  operands.every((pattern) => axesWhere(mesh, pattern, (state) => state === PARTIAL) === 0);

/** Returns the state of a tensor along whose dimension `dim`, as a node sees it, an axis deals. */
function stateOf(dims: readonly number[], dim: number): AxisState {
  const at = dims.indexOf(dim);
  return at < 0 ? REPLICATED : shardAlong(at);
}

const seen = ({ dims }: Operand, dim: number): AxisState => stateOf(dims, dim);

/** Returns the rules of an axis of two NPUs or more for a node, whatever divides. */
function rulesOfNode(node: GraphNode): readonly AxisRule[] {
  const operands = operandsOf(node);
  const replicated: AxisRule = { operands: operands.map(() => REPLICATED), result: REPLICATED, along: NOT_DEALT };
  /** Work is dealt along a dimension; the result is dealt too, or partial where it does not have the dimension. */
  const dealt = (dim: number): AxisRule => {
    const result = stateOf(node.dims, dim);
    return {
      operands: operands.map((operand) => seen(operand, dim)),
      result: result === REPLICATED ? PARTIAL : result,
      along: dim,
    };
  };
  const summands = (linear: Linearity): AxisRule[] => {
    if (linear === "none") return [];
    const partial = (is: (k: number) => boolean): AxisRule => ({
      operands: operands.map((_, k) => (is(k) ? PARTIAL : REPLICATED)),
      result: PARTIAL,
      along: NOT_DEALT,
    });
    if (linear === "all") return [partial(() => true)];
    return operands.slice(0, linear === "first" ? 1 : undefined).map((_, k) => partial((other) => other === k));
  };
  switch (node.kind) {
    case "einsum": {
      const labels = [...new Set(operands.flatMap(({ dims }) => dims).filter((dim) => dim >= 0))];
      // a tensor's sum may be taken after it was used; which elements are selected may not
      const linear = summands("one").filter((_, k) => !(node.selects && k === 0));
      return [replicated, ...labels.map(dealt), ...linear];
    }
    case "elementwise": {
      const of = FUNCTIONS.get(node.function);
      if (of === undefined) throw noRule(node);
      const free = node.dims.filter((dim) => !node.whole.includes(dim));
      return [replicated, ...free.map(dealt), ...summands(of.linear)];
    }
    case "reduction": {
      const kept = node.dims.filter((dim) => operands.some(({ dims }) => dims.includes(dim)));
      if (node.function !== "sum") return [replicated, ...kept.map(dealt)];
      return [replicated, ...kept.map(dealt), ...node.over.map(dealt), ...summands("all")];
    }
    default:
      throw new TypeError(node.kind);
  }
}

const noRule = (node: GraphNode): InputError =>
  new InputError(
    `node ${node.name}`,
    "of a function that there are rules for",
    "function" in node ? node.function : node.kind,
  ).as("not-applicable");

/**
 * Returns the ways in which the NPUs of a mesh can share the work of an einsum, an elementwise node or a reduction: a rule an axis,
 * independent of each other but that every dimension has to be dealt evenly (Zhao 2026, 5.2.1; rules of propagation). A dimension
 * that is contracted, or summed over, leaves the result partial; one that an operand does not have leaves it replicated. At most
 * (2 + labels + operands) ** axes. Throws InputError for a function without rules.
 */
export function workRules(
  { dimensions }: Pick<TensorGraph, "dimensions">,
  node: GraphNode,
  { axes }: Mesh,
): WorkRule[] {
  const rules = rulesOfNode(node);
  const alone: AxisRule = { operands: operandsOf(node).map(() => REPLICATED), result: REPLICATED, along: NOT_DEALT };
  interface Begun {
    readonly rule: WorkRule;
    /** By dimension: into how many parts it is dealt. */
    readonly parts: ReadonlyMap<number, number>;
  }
  let begun: Begun[] = [
    {
      rule: { operands: alone.operands.map(() => ALL_REPLICATED), result: ALL_REPLICATED, along: [] },
      parts: new Map(),
    },
  ];
  axes.forEach(({ size }: MeshAxis, j) => {
    begun = begun.flatMap(({ rule, parts }) =>
      (size === 1 ? [alone] : rules).flatMap((one): Begun[] => {
        let now = parts;
        if (one.along !== NOT_DEALT) {
          const count = (parts.get(one.along) ?? 1) * size;
          if ((dimensions[one.along] as Dimension).size % count !== 0) return [];
          now = new Map(parts).set(one.along, count);
        }
        const operands = rule.operands.map((pattern, k) => withState(pattern, j, one.operands[k] as AxisState));
        return [
          {
            rule: { operands, result: withState(rule.result, j, one.result), along: [...rule.along, one.along] },
            parts: now,
          },
        ];
      }),
    );
  });
  return begun.map(({ rule }) => rule);
}
