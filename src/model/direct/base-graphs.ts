import { type Digraph, digraph } from "./digraph.ts";

/**
 * Base graphs that Zhao 2026 gives as drawings (figures A.8 and A.9), rebuilt from what its tables say of them and of what grows
 * from them (`bench/base-graphs.mjs` does the search). f is the all-to-all rate of (A.1); f(G^2) = f(G) / N.
 * The all-to-all times of table 3.4 come out as printed: 446.6 us for L2(Diamond^2), 529.9 us for L(DBJMod(2,4)^2).
 */

/**
 * Returns the Diamond (figure A.8): a cycle of four, 0 to 3, whose even and odd nodes lead to 4 and 5, from there to 6 and 7,
 * and from those to two neighbours on the cycle each. Up to isomorphism it and its transpose are the only digraphs of 8 nodes
 * with two arcs each way, no loops, no parallel arcs, diameter 3, no reverse symmetry and an all-to-all rate that is printed as
 * table A.1 has it: f(Diamond^2) = 3/160, 1.87e-2. Which of the two was drawn cannot be told.
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
export const MODIFIED_DE_BRUIJN_PARAMETERS: readonly string[] = [...CYCLES.keys()];

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
