import { type Digraph, digraph } from "./digraph.ts";

/**
 * Base graphs that Zhao 2026 gives as drawings (figures A.8 and A.9), rebuilt from what its tables say of them and of what grows
 * from them (`bench/base-graphs.mjs` does the search).
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
]);

/**
 * Returns DBJMod(d, n) (figure A.9): the de Bruijn graph DBJ(d, n) whose self-loops and 2-cycles make way for one cycle through
 * the nodes that had them; null where table A.3 has none. Nodes are numbered as in DBJ(d, n); the new arc of a node is its last.
 *
 * The order of the cycle is in the missing drawing. (2,4): of the six orders, table A.3 (no reverse symmetry) and table A.1
 * (diameter 4, all-to-all rate 2.94e-3 of the square) leave four, two graphs and their transposes, of which none is told apart
 * from the others: the ascending one. (2,3): all six have an all-gather in 4 steps and none in 3; the ascending one, too.
 * (3,2): those that fit are many; among the most symmetric ones (letters can be rotated), the one of diameter 2 and the greatest
 * all-to-all rate that comes first.
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
