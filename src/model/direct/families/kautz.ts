import { InputError } from "../../../base/errors.ts";
import { type Digraph, digraph, lineGraph } from "../digraph.ts";
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
    if (m < d + 1) throw new InputError(`Pi(${d},${m})`, `at least d + 1 = ${d + 1} nodes`, m).as("out-of-range");
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

/**
 * Base graphs that Zhao 2026 gives as drawings (figures A.8 and A.9), rebuilt from what its tables say of them and of what grows
 * from them (`bench/base-graphs.mjs` does the search). f is the all-to-all rate of (A.1); f(G^2) = f(G) / N.
 * The all-to-all times of table 3.4 come out as printed: 446.6 us for L2(Diamond^2), 529.9 us for L(DBJMod(2,4)^2).
 */

/**
 * Returns the Diamond (figure A.8): a cycle of four, 0 to 3, whose even and odd nodes lead to 4 and 5, from there to 6 and 7,
 * and from those to two neighbours on the cycle each. Up to isomorphism it and its transpose are the only digraphs of 8 nodes
 * with two arcs each way, no loops, no parallel arcs, diameter 3, no reverse symmetry and an all-to-all rate that is printed as
 * table A.1 has it: f(Diamond^2) = 3/160, 1.87e-2. It is not known which of the two was drawn.
 */
export function diamond(): Digraph {
  const targets = [
    [1, 4],
    [2, 5],
    [3, 4],
    [0, 5],
    [6, 7],
    [6, 7],
    [0, 1],
    [2, 3],
  ];
  return digraph(targets.length, (v) => targets[v]);
}

/** How the arcs of de Bruijn graphs that are loops or have an opposite are replaced: nodes of the cycle, in order. */
const CYCLES: ReadonlyMap<string, readonly number[]> = new Map([
  ["2,3", [0, 2, 5, 7]],
  ["2,4", [0, 5, 10, 15]],
  ["3,2", [0, 5, 3, 4, 6, 7, 8, 1, 2]],
  ["4,2", [0, 7, 6, 9, 15, 2, 1, 4, 10, 13, 12, 3, 5, 8, 11, 14]],
]);

/** Parameters d,n for which table A.3 has a DBJMod(d, n). */
const MODIFIED_DE_BRUIJN_PARAMETERS: readonly string[] = [...CYCLES.keys()];

/**
 * Returns DBJMod(d, n) (figure A.9): the de Bruijn graph DBJ(d, n) whose self-loops and 2-cycles make way for one cycle through
 * the nodes that had them; null where table A.3 has none. Nodes are numbered as in DBJ(d, n); the new arc of a node is its last.
 *
 * The order of the cycle is in the drawing that is missing; chosen are, of those that fit the tables,
 *   (2,3) the ascending one, as in (2,4): all six fit;
 *   (2,4) the ascending one: no reverse symmetry, diameter 4 and f = 2.94e-3 of the square leave one graph and its transpose;
 *   (3,2) one that turns with the letters (0 to 1, 1 to 2, 2 to 0), has diameter 2 and the greatest f of these, 2/9;
 *   (4,2) one that turns with the letters and gives diameter 3, f = 2.21e-2 of L(G) and 4.10e-3 of L2(G) (exactly 19/860 and
 *         76/18553), with the least sum of distances among these.
 */
export function modifiedDeBruijn(d: number, n: number): Digraph | null {
  const cycle = CYCLES.get(`${d},${n}`);
  if (cycle === undefined) return null;
  const nodes = d ** n;
  const next = new Map(cycle.map((v, i) => [v, cycle[(i + 1) % cycle.length]]));
  const deBruijn = (v: number): number[] => Array.from({ length: d }, (_, letter) => (d * v + letter) % nodes);
  return digraph(nodes, (v) => {
    const kept = deBruijn(v).filter((w) => w !== v && !deBruijn(w).includes(v));
    const added = next.get(v);
    return added === undefined ? kept : [...kept, added];
  });
}

/** The graphs that Zhao 2026 gives as drawings, with schedules that BFB does not find (table A.3, figures A.8 and A.9). */

const DRAWN = {
  selfLoops: never,
  multiEdges: never,
  reverseSymmetric: false,
  bfb: false,
  bandwidthOptimal: always,
} as const;

export const DIAMOND: Family = {
  ...DRAWN,
  name: "Diamond",
  form: "Diamond",
  description: "the Diamond: 8 nodes of degree 2, Moore and bandwidth optimal",
  size: (parameters) => {
    checkParameters("Diamond", parameters, []);
    return { nodes: 8, degree: 2 };
  },
  build: diamond,
};

const DRAWN_DE_BRUIJN = MODIFIED_DE_BRUIJN_PARAMETERS.map((pair) => `(${pair})`).join(", ");

export const MODIFIED_DE_BRUIJN: Family = {
  ...DRAWN,
  name: "DBJMod",
  form: "DBJMod(d,n)",
  description: `de Bruijn digraph, loops and 2-cycles made one cycle: ${DRAWN_DE_BRUIJN}`,
  size: (parameters) => {
    checkParameters("DBJMod(d,n)", parameters, [2, 1]);
    const [d, n] = parameters;
    if (!MODIFIED_DE_BRUIJN_PARAMETERS.includes(`${d},${n}`)) {
      throw new InputError(`DBJMod(${d},${n})`, `parameters of table A.3: ${DRAWN_DE_BRUIJN}`, [d, n]);
    }
    return { nodes: d ** n, degree: d };
  },
  build: ([d, n]) => modifiedDeBruijn(d, n) as Digraph,
};
