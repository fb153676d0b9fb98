import { InputError } from "../../../base/errors.ts";
import type { Digraph } from "../digraph.ts";
import { cayley, checkParameters, type Family, never, nodesOf, refuseLarge, UNDIRECTED } from "./family.ts";

/**
 * Tori and twisted tori of any number of dimensions. In a twisted torus the wrap-around of a dimension also moves along others:
 * leaving the end of dimension i, one comes in at its start, shifted by this many places in dimension j (Camarero, Martinez and
 * Beivide, "Lattice graphs for high-scale interconnection topologies", TPDS 2015; TPU v4 has them for sizes k and 2k).
 * Nodes are numbered so that translations are additions (quotientGroup), not by place.
 */

const MOST_DIMENSIONS = 23;

/** Returns the steps both ways along each dimension, one where both lead to the same node. */
function bothWays(nodeOf: readonly number[], opposite: (node: number) => number): number[] {
  return nodeOf.flatMap((node) => (opposite(node) === node ? [node] : [node, opposite(node)]));
}

/** Returns the node that a node's coordinates, each negated, make. */
function negated(sizes: readonly number[], node: number): number {
  let image = 0;
  let stride = 1;
  for (const size of sizes) {
    image += ((size - (Math.floor(node / stride) % size)) % size) * stride;
    stride *= size;
  }
  return image;
}

const torusSteps = (sizes: readonly number[]): number[] =>
  bothWays(
    sizes.map((_, d) => nodesOf(sizes.slice(0, d))),
    (node) => negated(sizes, node),
  );

export const TORUS: Family = {
  ...UNDIRECTED,
  name: "Torus",
  form: "Torus(a,b,...)",
  description: "torus of any dimensions; a dimension of size 2 is one link",
  size: (parameters) => {
    checkParameters("Torus(a,b,...)", parameters, [2], MOST_DIMENSIONS);
    return { nodes: nodesOf(parameters), degree: parameters.reduce((sum, size) => sum + (size === 2 ? 1 : 2), 0) };
  },
  build: (sizes) => cayley(sizes, torusSteps(sizes)),
};

interface Skewed {
  readonly sizes: readonly number[];
  /** [dimension whose wrap-around it is][dimension that it shifts] */
  readonly shift: readonly (readonly number[])[];
}

/** Returns the group of a twisted torus and the steps of its links. Throws InputError where two of them lead to one node. */
function skewedSteps({ sizes, shift }: Skewed, place: string): { sizes: readonly number[]; steps: number[] } {
  refuseLarge({ nodes: nodesOf(sizes), degree: 2 * sizes.length }, place);
  const group = quotientGroup(sizes.map((size, i) => sizes.map((_, j) => (i === j ? size : -shift[i][j]))));
  const steps = bothWays(group.unit, (node) => negated(group.sizes, node));
  if (new Set([0, ...steps]).size <= steps.length) {
    throw new InputError(place, "twists that leave a node's links to different nodes", shift);
  }
  return { sizes: group.sizes, steps };
}

const skewed = (torus: Skewed, place: string): Digraph => {
  const { sizes, steps } = skewedSteps(torus, place);
  return cayley(sizes, steps);
};

/** Returns the twist of TPU v4: where sizes are k and 2k, the wrap-around of a short dimension shifts the long ones by k. */
function halfTwist(sizes: readonly number[]): Skewed {
  const short = Math.min(...sizes);
  const place = `TwistedTorus(${sizes.join(",")})`;
  if (!sizes.every((size) => size === short || size === 2 * short) || !sizes.includes(2 * short)) {
    const expected = "sizes k and 2k, both of them (SkewTorus(a,b,{t}) takes any sizes and twist t)";
    throw new InputError(place, expected, sizes);
  }
  return { sizes, shift: sizes.map((from) => sizes.map((to) => (from < to ? short : 0))) };
}

export const TWISTED_TORUS: Family = {
  ...UNDIRECTED,
  name: "TwistedTorus",
  form: "TwistedTorus(a,b,...)",
  description: "torus of sizes k and 2k: wrap-around of the short shifts the long by k, as in TPU v4",
  size: (parameters) => {
    checkParameters("TwistedTorus(a,b,...)", parameters, [2, 2], MOST_DIMENSIONS);
    const { steps } = skewedSteps(halfTwist(parameters), `TwistedTorus(${parameters.join(",")})`);
    return { nodes: nodesOf(parameters), degree: steps.length };
  },
  build: (sizes) => skewed(halfTwist(sizes), `TwistedTorus(${sizes.join(",")})`),
};

/** Returns n where there are n sizes and a shift for each two dimensions: n (n + 1) / 2 parameters; 0 for other numbers. */
function dimensionsOf(parameters: number): number {
  const n = Math.round((Math.sqrt(8 * parameters + 1) - 1) / 2);
  return n * (n + 1) === 2 * parameters ? n : 0;
}

const SKEW_FORM = "SkewTorus(a,b,...,{t12,t13,...,t23,...})";
const skewPlace = (parameters: readonly number[]): string => {
  const n = dimensionsOf(parameters.length);
  return `SkewTorus(${parameters.slice(0, n).join(",")},{${parameters.slice(n).join(",")}})`;
};

/** Returns sizes and shifts; the shifts come by the dimension whose wrap-around it is, then by the later one that is shifted. */
function skewOf(parameters: readonly number[]): Skewed {
  const n = dimensionsOf(parameters.length);
  const sizes = parameters.slice(0, n);
  let next = n;
  return { sizes, shift: sizes.map((_, i) => sizes.map((_, j) => (j > i ? parameters[next++] : 0))) };
}

export const SKEW_TORUS: Family = {
  ...UNDIRECTED,
  name: "SkewTorus",
  form: SKEW_FORM,
  description: "torus in which the wrap-around of dimension 1 shifts dimension 2 by t12, ...",
  beforeBraces: dimensionsOf,
  size: (parameters) => {
    const n = dimensionsOf(parameters.length);
    if (n < 2) {
      throw new InputError(SKEW_FORM, "a twist for each two dimensions, such as {t} for two", parameters.length);
    }
    const least = parameters.map((_, i) => (i < n ? 2 : 0));
    checkParameters(SKEW_FORM, parameters, least);
    const place = skewPlace(parameters);
    const torus = skewOf(parameters);
    torus.shift.forEach((row) => {
      row.forEach((twist, j) => {
        if (twist >= torus.sizes[j]) throw new InputError(`a twist of ${place}`, `less than ${torus.sizes[j]}`, twist);
      });
    });
    return { nodes: nodesOf(torus.sizes), degree: skewedSteps(torus, place).steps.length };
  },
  build: (parameters) => skewed(skewOf(parameters), skewPlace(parameters)),
  bandwidthOptimal: never,
};

/** A finite abelian group as translations (`model/symmetry/translation.ts`), and the nodes that unit steps lead to from node 0. */
interface QuotientGroup {
  /** Orders of its cyclic factors, none of them 1 unless the group is trivial. */
  readonly sizes: readonly number[];
  /** [dimension] */
  readonly unit: readonly number[];
}

const absolute = (value: bigint): bigint => (value < 0n ? -value : value);

/**
 * Returns Z^n modulo the rows of an n x n matrix of full rank: row and column operations make it diagonal, and the product of the
 * column operations takes unit vectors to coordinates. Integers of any size, so nothing overflows.
 */
function quotientGroup(rows: readonly (readonly number[])[]): QuotientGroup {
  const n = rows.length;
  const matrix = rows.map((row) => row.map(BigInt));
  const columns = rows.map((_, i) => rows.map((_, j) => (i === j ? 1n : 0n)));
  const swapColumns = (a: number, b: number): void => {
    for (const row of [...matrix, ...columns]) [row[a], row[b]] = [row[b], row[a]];
  };
  for (let t = 0; t < n; ) {
    const [pivotRow, pivotColumn] = smallest(matrix, t);
    [matrix[t], matrix[pivotRow]] = [matrix[pivotRow], matrix[t]];
    swapColumns(t, pivotColumn);
    const pivot = matrix[t][t];
    for (let i = t + 1; i < n; i++) {
      const times = matrix[i][t] / pivot;
      if (times !== 0n) matrix[i] = matrix[i].map((value, j) => value - times * matrix[t][j]);
    }
    for (let j = t + 1; j < n; j++) {
      const times = matrix[t][j] / pivot;
      if (times !== 0n) for (const row of [...matrix, ...columns]) row[j] -= times * row[t];
    }
    let done = true;
    for (let i = t + 1; i < n; i++) if (matrix[i][t] !== 0n || matrix[t][i] !== 0n) done = false;
    if (done) t++;
  }
  const kept = matrix.map((row, i) => ({ i, size: Number(absolute(row[i])) })).filter(({ size }) => size > 1);
  const unit = columns.map((row) => {
    let node = 0;
    let stride = 1;
    for (const { i, size } of kept) {
      const order = BigInt(size);
      node += Number(((row[i] % order) + order) % order) * stride;
      stride *= size;
    }
    return node;
  });
  return { sizes: kept.length === 0 ? [1] : kept.map(({ size }) => size), unit };
}

/** Returns row and column of the entry nearest to 0, but not 0, among rows and columns from `start` on. */
function smallest(matrix: readonly (readonly bigint[])[], start: number): [row: number, column: number] {
  let best: [number, number] = [start, start];
  let least = 0n;
  for (let i = start; i < matrix.length; i++) {
    for (let j = start; j < matrix.length; j++) {
      const size = absolute(matrix[i][j]);
      if (size !== 0n && (least === 0n || size < least)) {
        least = size;
        best = [i, j];
      }
    }
  }
  return best;
}
