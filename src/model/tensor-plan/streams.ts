import { type Dimension, type GraphNode, operandsOf, type TensorGraph } from "../tensor-graph/graph.ts";
import { type AxisSet, groupSize, type Mesh, type MeshAxis } from "./mesh.ts";
import { type MoveKind, PARTIAL, type Pattern, REPLICATED, shardAlong, stateOn, withState } from "./patterns.ts";
import { NOT_DEALT, RESULT, type Stream, type WorkRule } from "./rules.ts";
import { localBytes } from "./work.ts";

/** A rule of a product that is streamed. */
export type StreamedRule = WorkRule & { readonly stream: Stream };

/** Numbers of pieces that a product may be done in. */
const PIECES = [2, 4, 8];

/** So many pieces are there at a time: one that is computed with, one on its way. */
const PIECES_THERE = 2;

/** Returns the sets of axes that deal work along one dimension. */
function axesTogether({ along }: WorkRule): AxisSet[] {
  const sets: AxisSet[] = [];
  for (let set = 1; set < 1 << along.length; set++) {
    const dims = along.filter((_, j) => (set >> j) & 1);
    if (dims[0] !== NOT_DEALT && dims.every((dim) => dim === dims[0])) sets.push(set);
  }
  return sets;
}

/**
 * Returns the ways in which a product of two tensors is streamed under a rule, by what is streamed, each in as many pieces as
 * divide evenly. Along axes that deal the work by a dimension that an operand does not have, that operand may lie dealt, and is
 * gathered piece by piece; where they would leave the result a summand, it is summed and dealt piece by piece (reduce-scatter).
 * O(2 ** axes x ranks).
 */
export function streamedRules(
  { nodes, dimensions }: Pick<TensorGraph, "nodes" | "dimensions">,
  node: GraphNode,
  { axes }: Mesh,
  rule: WorkRule,
): StreamedRule[][] {
  const operands = operandsOf(node);
  const isProduct = node.kind === "einsum" && !node.selects && !node.isFused && operands.length === 2;
  if (!isProduct || operands.some(({ node: of }) => nodes[of]?.isFused)) return [];
  const ways: StreamedRule[][] = [];
  for (const set of axesTogether(rule)) {
    const whole = [...rule.operands, rule.result];
    [...operands, node].forEach(({ dims }, k) => {
      const of = k < operands.length ? k : RESULT;
      const pattern = whole[k] as Pattern;
      const state = of === RESULT ? PARTIAL : REPLICATED;
      if (axes.some((_, j) => ((set >> j) & 1) !== 0 && stateOn(pattern, j) !== state)) return;
      dims.forEach((dim, at) => {
        if (!operands.some((operand) => dim >= 0 && operand.dims.includes(dim))) return;
        let lies = pattern;
        let parts = 1;
        axes.forEach(({ size }: MeshAxis, j) => {
          if (rule.along[j] === dim || (set >> j) & 1) parts *= size;
          if ((set >> j) & 1) lies = withState(lies, j, shardAlong(at));
        });
        const { size } = dimensions[dim] as Dimension;
        const patterns = whole.with(k, lies);
        const way = PIECES.filter((pieces) => size % (parts * pieces) === 0).map((pieces) => ({
          operands: patterns.slice(0, -1),
          result: patterns[operands.length] as Pattern,
          along: rule.along,
          stream: { of, axes: set, along: dim, pieces },
        }));
        if (way.length > 0) ways.push(way);
      });
    });
  }
  return ways;
}

/** The collective of one piece of a streamed product. */
export interface PieceMove {
  readonly kind: MoveKind;
  readonly axes: AxisSet;
  /** In the buffer of an NPU: before a reduce-scatter, behind an all-gather. */
  readonly bytes: number;
  readonly pieces: number;
  /** Of the pieces that are there at a time. */
  readonly workingBytes: number;
}

/** Returns the collective of each piece of a node under a streamed rule. */
export function pieceMove(
  graph: TensorGraph,
  mesh: Mesh,
  node: GraphNode,
  { operands, result, stream: { of, axes, pieces } }: StreamedRule,
): PieceMove {
  const isResult = of === RESULT;
  const tensor = isResult ? node : (graph.nodes[operandsOf(node)[of]?.node as number] as GraphNode);
  const lies = isResult ? result : (operands[of] as Pattern);
  const bytes = (localBytes(graph, mesh, tensor, lies) * groupSize(mesh, axes)) / pieces;
  const kind = isResult ? "reducescatter" : "allgather";
  return { kind, axes, bytes, pieces, workingBytes: PIECES_THERE * bytes };
}

/**
 * Returns how long a streamed product takes, of whose pieces each moves and is computed for so long: the first that is moved, or the
 * last, has nothing beside it.
 */
export const streamedPs = (pieces: number, movePs: number, computingPs: number): number =>
  movePs + (pieces - 1) * Math.max(movePs, computingPs) + computingPs;

/** Returns a rule as one that is streamed; null of others. */
export const streamed = (rule: WorkRule | null | undefined): StreamedRule | null =>
  rule?.stream === undefined ? null : (rule as StreamedRule);
