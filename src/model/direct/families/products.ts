import { InputError } from "../../../base/errors.ts";
import type { Digraph } from "../digraph.ts";
import { cayley, checkParameters, type Family, never, range, regularGraph, UNDIRECTED } from "./family.ts";

/** Complete, complete bipartite and Hamming graphs, binary cubes, twisted cubes and cube-connected cycles. */

/** Returns K_q to the n-th Cartesian power, coordinates as digits, first one fastest. */
function hamming(n: number, q: number): Digraph {
  const steps = range(0, n - 1).flatMap((d) => range(1, q - 1).map((offset) => offset * q ** d));
  return cayley(new Array<number>(n).fill(q), steps);
}

function bipartiteHalf(parameters: readonly number[]): number {
  const [half, other] = parameters;
  if (half === other) return half;
  const expected = `equal halves such as K(4,4); the Kautz graph is written Kautz(${half},${other})`;
  throw new InputError(`K(${half},${other})`, expected, other);
}

/** K_m with one parameter, K_{d,d} with two: nodes x and x + d, each of a half to all of the other. */
export const COMPLETE: Family = {
  ...UNDIRECTED,
  name: "K",
  form: "K(m) or K(d,d)",
  description: "complete graph of m nodes; complete bipartite graph of d + d nodes",
  size: (parameters) => {
    checkParameters("K(m) or K(d,d)", parameters, parameters.length < 2 ? [2] : [1, 1]);
    if (parameters.length === 1) return { nodes: parameters[0], degree: parameters[0] - 1 };
    const half = bipartiteHalf(parameters);
    return { nodes: 2 * half, degree: half };
  },
  build: (parameters) => {
    const [m] = parameters;
    return parameters.length === 1 ? cayley([m], range(1, m - 1)) : cayley([m, 2], range(m, 2 * m - 1));
  },
};

export const HAMMING: Family = {
  ...UNDIRECTED,
  name: "H",
  aliases: ["Hamming"],
  form: "H(n,q)",
  description: "Hamming graph: the complete graph of q nodes to the n-th Cartesian power",
  size: (parameters) => {
    checkParameters("H(n,q)", parameters, [1, 2]);
    const [n, q] = parameters;
    return { nodes: q ** n, degree: n * (q - 1) };
  },
  build: ([n, q]) => hamming(n, q),
};

export const CUBE: Family = {
  ...UNDIRECTED,
  name: "Q",
  aliases: ["Hypercube"],
  form: "Q(n)",
  description: "binary cube of n dimensions",
  size: (parameters) => {
    checkParameters("Q(n)", parameters, [1]);
    return { nodes: 2 ** parameters[0], degree: parameters[0] };
  },
  build: ([n]) => hamming(n, 2),
};

/**
 * The twisted cube of Esfahanian, Ni and Sagan: in the cycle 0, 1, 3, 2 of the binary cube the edges 0-1 and 3-2 give way to 0-3
 * and 1-2, which takes one from the diameter.
 */
export const TWISTED_CUBE: Family = {
  ...UNDIRECTED,
  name: "TQ",
  form: "TQ(n)",
  description: "binary cube of n dimensions with two edges exchanged, of diameter n - 1",
  size: (parameters) => {
    checkParameters("TQ(n)", parameters, [3]);
    return { nodes: 2 ** parameters[0], degree: parameters[0] };
  },
  build: ([n]) => regularGraph(2 ** n, n, (v, d) => (d === 0 && v < 4 ? v ^ 3 : v ^ (1 << d))),
  bandwidthOptimal: ([n]) => n === 3,
};

/**
 * Cube-connected cycles (Preparata and Vuillemin, "The cube-connected cycles", CACM 1981): position p of the cycle in place of
 * corner w of the cube is p + n w, linked to those before and after it and to position p of the corner across dimension p.
 */
export const CUBE_CONNECTED_CYCLES: Family = {
  ...UNDIRECTED,
  name: "CCC",
  form: "CCC(n)",
  description: "cube-connected cycles: a binary cube of n dimensions, each corner a cycle of n nodes",
  size: (parameters) => {
    checkParameters("CCC(n)", parameters, [3]);
    return { nodes: parameters[0] * 2 ** parameters[0], degree: 3 };
  },
  build: ([n]) =>
    regularGraph(n * 2 ** n, 3, (v, k) => {
      const p = v % n;
      return k === 2 ? p + n * (Math.floor(v / n) ^ (1 << p)) : v - p + ((p + (k === 0 ? 1 : n - 1)) % n);
    }),
  bandwidthOptimal: never,
};

/** Complete bipartite graph less a perfect matching: x of one half to all but x of the other. */
export const CROWN: Family = {
  ...UNDIRECTED,
  name: "Crown",
  form: "Crown(n)",
  description: "complete bipartite graph of n + n nodes less a perfect matching",
  size: (parameters) => {
    checkParameters("Crown(n)", parameters, [3]);
    return { nodes: 2 * parameters[0], degree: parameters[0] - 1 };
  },
  build: ([n]) => cayley([n, 2], range(n + 1, 2 * n - 1)),
};
