import { InputError } from "../../../base/errors.ts";
import type { Digraph } from "../digraph.ts";
import { lineGraph } from "../expansions.ts";
import { always, cayley, checkParameters, type Family, never, range, regularGraph } from "./family.ts";

/** Kautz, generalized Kautz and de Bruijn digraphs: few steps from any node to any other. */

/** K(d, n) = L^n(K_{d+1}), written Kautz because K(d,d) is the complete bipartite graph. */
export const KAUTZ: Family = {
  name: "Kautz",
  form: "Kautz(d,n)",
  description: "Kautz digraph: the line graph, n times, of the complete graph of d + 1 nodes",
  size: (parameters) => {
    checkParameters("Kautz(d,n)", parameters, [1, 0]);
    const [d, n] = parameters;
    return { nodes: d ** n * (d + 1), degree: d };
  },
  build: ([d, n]) => {
    let graph: Digraph = cayley([d + 1], range(1, d));
    // with one arc a node the line graph is the graph again
    for (let i = 0; i < n && d > 1; i++) graph = lineGraph(graph);
    return graph;
  },
  selfLoops: never,
  multiEdges: never,
  reverseSymmetric: true,
  bfb: true,
  bandwidthOptimal: ([, n]) => n === 0,
};

/** Definition 16: x leads to -dx - a modulo m for a = 1 .. d. */
export const GENERALIZED_KAUTZ: Family = {
  name: "Pi",
  aliases: ["Π", "GenKautz"],
  form: "Pi(d,m)",
  description: "generalized Kautz digraph: x leads to -dx - 1, ..., -dx - d modulo m > d",
  size: (parameters) => {
    checkParameters("Pi(d,m)", parameters, [1, 2]);
    const [d, m] = parameters;
    if (m < d + 1) throw new InputError(`Pi(${d},${m})`, `at least d + 1 = ${d + 1} nodes`, m);
    return { nodes: m, degree: d };
  },
  build: ([d, m]) => regularGraph(m, d, (x, k) => (m - ((d * x + k + 1) % m)) % m),
  selfLoops: ([d, m]) => m % (d + 1) !== 0,
  multiEdges: never,
  reverseSymmetric: false,
  bfb: true,
  bandwidthOptimal: ([d, m]) => m === d + 1,
};

export const DE_BRUIJN: Family = {
  name: "DBJ",
  aliases: ["DeBruijn"],
  form: "DBJ(d,n)",
  description: "de Bruijn digraph: words of n letters out of d, shifted by one letter",
  size: (parameters) => {
    checkParameters("DBJ(d,n)", parameters, [2, 1]);
    const [d, n] = parameters;
    return { nodes: d ** n, degree: d };
  },
  build: ([d, n]) => {
    const nodes = d ** n;
    return regularGraph(nodes, d, (x, k) => (d * x + k) % nodes);
  },
  selfLoops: always,
  multiEdges: never,
  reverseSymmetric: true,
  bfb: true,
  bandwidthOptimal: ([, n]) => n <= 1,
};
