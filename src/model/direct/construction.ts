/**
 * How a direct-connect network is made: a graph of a family, or expansions of such graphs (Zhao 2026, 3.5, tables 3.3 and A.3).
 * Plain data; `parseConstruction` reads it, `constructionText` writes it, `graphOf` makes the graph, and the synthesizer
 * `expand` the schedule.
 *
 * Nodes and arcs are numbered the same way everywhere, with arcs ascending by the node that they leave:
 *   line       node i of L(G) is arc i of G; out of arc a lead the arcs that leave the node a enters, in order.
 *   degree     node v of copy i is i * N + v; its k-th arc to w becomes those to w in copies 0 .. n - 1, in order.
 *   product    the first factor is fastest: x1 + N1 * (x2 + N2 * ...); out of a node lead the arcs of factor 1, then 2, ...
 *   transpose  the arcs that entered v, ascending, leave it.
 *   bidirectional  the arcs of G, then those of its transpose.
 */
export type Construction =
  | { readonly kind: "family"; readonly family: string; readonly parameters: readonly number[] }
  | { readonly kind: "line"; readonly times: number; readonly base: Construction }
  | { readonly kind: "degree"; readonly factor: number; readonly base: Construction }
  | { readonly kind: "power"; readonly exponent: number; readonly base: Construction }
  | { readonly kind: "product"; readonly factors: readonly Construction[] }
  | { readonly kind: "transpose"; readonly base: Construction }
  | { readonly kind: "bidirectional"; readonly base: Construction };
