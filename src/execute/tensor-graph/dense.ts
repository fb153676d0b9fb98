import { InputError, InternalError, inWords } from "../../base/errors.ts";
import {
  type Dimension,
  DROPPED,
  type Einsum,
  type Elementwise,
  elementsOf,
  type GraphNode,
  type Reduction,
  type TensorGraph,
} from "../../model/tensor-graph/graph.ts";
import { POINTWISE, WHOLE } from "./functions.ts";

/** A tensor as numbers. */
export interface DenseTensor {
  /** [rank] indices of the graph's dimensions. */
  readonly dims: readonly number[];
  /** In row-major order of `dims`: the last one's neighbours are neighbours. */
  readonly data: Float64Array;
}

/** How dimensions are counted. */
type Sizes = Pick<TensorGraph, "dimensions">;
const sizeIn = ({ dimensions }: Sizes, dim: number): number => (dimensions[dim] as Dimension).size;

/** Returns how far apart neighbours along some dimensions are in a tensor as it is seen; 0 along those that it does not have. */
function stridesOf(sizes: Sizes, seen: readonly number[], along: readonly number[]): number[] {
  const strides = along.map(() => 0);
  let stride = 1;
  for (let i = seen.length - 1; i >= 0; i--) {
    const dim = seen[i] as number;
    if (dim === DROPPED) continue;
    // a dimension that is there twice is walked along both at once
    const at = along.indexOf(dim);
    if (at >= 0) strides[at] = (strides[at] as number) + stride;
    stride *= sizeIn(sizes, dim);
  }
  return strides;
}

/** Returns, for all indices along some dimensions in row-major order, where that is in a tensor of these strides. */
function offsetsOf(sizes: Sizes, along: readonly number[], strides: readonly number[]): Int32Array {
  let offsets = Int32Array.of(0);
  along.forEach((dim, i) => {
    const size = sizeIn(sizes, dim);
    const next = new Int32Array(offsets.length * size);
    offsets.forEach((offset, at) => {
      for (let index = 0; index < size; index++) next[at * size + index] = offset + index * (strides[i] as number);
    });
    offsets = next;
  });
  return offsets;
}

/** Returns where the elements of a tensor, as it is seen, are that belong to each index along some dimensions. */
const placesAlong = (sizes: Sizes, seen: readonly number[], along: readonly number[]): Int32Array =>
  offsetsOf(sizes, along, stridesOf(sizes, seen, along));

/** A tensor as a node sees it. */
interface Seen {
  readonly dims: readonly number[];
  readonly data: Float64Array;
}

function runEinsum(sizes: Sizes, { dims }: Einsum, operands: readonly Seen[]): Float64Array {
  const summed = [...new Set(operands.flatMap((operand) => operand.dims))].filter(
    (dim) => dim !== DROPPED && !dims.includes(dim),
  );
  const outer = operands.map((operand) => placesAlong(sizes, operand.dims, dims));
  const inner = operands.map((operand) => placesAlong(sizes, operand.dims, summed));
  const result = new Float64Array(elementsOf(sizes, dims));
  const terms = elementsOf(sizes, summed);
  for (let at = 0; at < result.length; at++) {
    let sum = 0;
    for (let term = 0; term < terms; term++) {
      let product = 1;
      for (let k = 0; k < operands.length; k++) {
        product *= (operands[k] as Seen).data[(outer[k] as Int32Array)[at] + (inner[k] as Int32Array)[term]];
      }
      sum += product;
    }
    result[at] = sum;
  }
  return result;
}

function runElementwise(sizes: Sizes, node: Elementwise, operands: readonly Seen[]): Float64Array {
  const { dims, whole, constant } = node;
  const result = new Float64Array(elementsOf(sizes, dims));
  const pointwise = POINTWISE.get(node.function);
  if (pointwise !== undefined) {
    const places = operands.map((operand) => placesAlong(sizes, operand.dims, dims));
    for (let at = 0; at < result.length; at++) {
      result[at] = pointwise(
        operands.map(({ data }, k) => data[(places[k] as Int32Array)[at]]),
        constant,
      );
    }
    return result;
  }
  const along = WHOLE.get(node.function);
  if (along === undefined) {
    const known = [...POINTWISE.keys(), ...WHOLE.keys()].join(", ");
    throw new InputError(`the function of node ${node.name}`, `one of ${known}`, node.function).as("unknown-name");
  }
  const { takes, gives, of } = along;
  const pick = (places: readonly number[] | undefined): readonly number[] =>
    places === undefined ? whole : places.map((i) => whole[i] as number);
  const free = dims.filter((dim) => !whole.includes(dim));
  const starts = operands.map((operand) => placesAlong(sizes, operand.dims, free));
  const blocks = operands.map((operand, k) => placesAlong(sizes, operand.dims, pick(takes?.[k])));
  const resultStarts = placesAlong(sizes, dims, free);
  const resultBlock = placesAlong(sizes, dims, pick(gives));
  const wholeSizes = whole.map((dim) => sizeIn(sizes, dim));
  for (let at = 0; at < resultStarts.length; at++) {
    const taken = operands.map(({ data }, k) =>
      Float64Array.from(blocks[k] as Int32Array, (offset) => data[offset + (starts[k] as Int32Array)[at]]),
    );
    const made = of(taken, wholeSizes, constant);
    resultBlock.forEach((offset, i) => {
      result[offset + (resultStarts[at] as number)] = made[i] as number;
    });
  }
  return result;
}

function runReduction(sizes: Sizes, { dims, over, function: kind }: Reduction, operand: Seen): Float64Array {
  const outer = placesAlong(sizes, operand.dims, dims);
  const inner = placesAlong(sizes, operand.dims, over);
  return Float64Array.from(outer, (start) => {
    let result = kind === "sum" ? 0 : Number.NEGATIVE_INFINITY;
    for (const offset of inner) {
      const value = operand.data[start + offset] as number;
      result = kind === "sum" ? result + value : Math.max(result, value);
    }
    return result;
  });
}

/**
 * Returns what a node makes of its operands' tensors (of their own dimensions, in the node's order of operands): einsums as they
 * are defined, one sum of products for each element of the result. O(product of all sizes that occur).
 */
export function computeNode(sizes: Sizes, node: GraphNode, tensors: readonly DenseTensor[]): DenseTensor {
  if (node.kind === "placeholder" || node.kind === "output") throw new InternalError(`${node.name} computes nothing`);
  const operands = node.operands.map(({ dims }, k): Seen => ({ dims, data: (tensors[k] as DenseTensor).data }));
  const data =
    node.kind === "einsum"
      ? runEinsum(sizes, node, operands)
      : node.kind === "elementwise"
        ? runElementwise(sizes, node, operands)
        : runReduction(sizes, node, operands[0] as Seen);
  return { dims: node.dims, data };
}

/**
 * Returns all tensors of a graph on whole tensors, [nodes]; of the output, none (null). `given`: of every placeholder, by its
 * index. Throws InputError for a placeholder that is not given, or not in its size.
 */
export function runDense(graph: TensorGraph, given: ReadonlyMap<number, DenseTensor>): (DenseTensor | null)[] {
  const tensors: (DenseTensor | null)[] = [];
  graph.nodes.forEach((node, n) => {
    if (node.kind === "output") tensors.push(null);
    else if (node.kind === "placeholder") tensors.push(placed(graph, node, given.get(n)));
    else {
      const operands = node.operands.map((operand) => tensors[operand.node] as DenseTensor);
      tensors.push(computeNode(graph, node, operands));
    }
  });
  return tensors;
}

/** Returns a tensor that was given, in the order of the placeholder's dimensions. */
function placed(sizes: Sizes, { name, dims }: GraphNode, tensor: DenseTensor | undefined): DenseTensor {
  const along = (of: readonly number[]): string =>
    of.length === 0 ? "along no dimension" : `along ${of.map((dim) => sizes.dimensions[dim]?.name).join(", ")}`;
  const expected = `${elementsOf(sizes, dims)} numbers ${along(dims)}`;
  if (tensor === undefined) throw new InputError(`the tensor ${name}`, expected);
  const isIts = tensor.dims.length === dims.length && dims.every((dim) => tensor.dims.includes(dim));
  if (!isIts || tensor.data.length !== elementsOf(sizes, dims)) {
    throw new InputError(
      `the tensor ${name}`,
      expected,
      inWords(`${tensor.data.length} numbers ${along(tensor.dims)}`),
    );
  }
  const places = placesAlong(sizes, tensor.dims, dims);
  return { dims, data: Float64Array.from(places, (at) => tensor.data[at]) };
}
