import { InputError } from "../../base/errors.ts";
import { bidirectional, type Digraph, degreeExpansion, lineGraph, power, product, transpose } from "./digraph.ts";
import { refuseLarge } from "./families/family.ts";
import { family, familyNamed, familyText, type GraphSize } from "./families.ts";

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

/**
 * Returns a construction as plain ASCII that `parseConstruction` reads back as the same: `L3(C(16,{3,4}))`, `K(3)*2`,
 * `(UniRing(1,4) x UniRing(1,8))^2`.
 */
export function constructionText(construction: Construction): string {
  switch (construction.kind) {
    case "family": {
      const { family: name, parameters } = construction;
      return familyText(familyNamed(name) ?? { name }, parameters);
    }
    case "line":
      return `L${construction.times === 1 ? "" : construction.times}(${constructionText(construction.base)})`;
    case "degree":
      return `${operand(construction.base)}*${construction.factor}`;
    case "power":
      return `${operand(construction.base)}^${construction.exponent}`;
    case "product":
      return construction.factors
        .map((factor) => (factor.kind === "product" ? `(${constructionText(factor)})` : constructionText(factor)))
        .join(" x ");
    case "transpose":
      return `T(${constructionText(construction.base)})`;
    case "bidirectional":
      return `Bi(${constructionText(construction.base)})`;
  }
}

/** Returns a construction in brackets where an operator behind it would bind to its end. */
function operand(base: Construction): string {
  const text = constructionText(base);
  return base.kind === "degree" || base.kind === "power" || base.kind === "product" ? `(${text})` : text;
}

/** Line graphs of graphs of degree 1 have no more arcs, so their number is bounded apart. */
const MOST_TIMES = 64;

/**
 * Returns nodes and degree of a construction's graph without building it (table 3.3). Throws InputError for parameters without
 * a graph and above 1e7 arcs. O(size of the construction).
 */
export function sizeOf(construction: Construction): GraphSize {
  const size = sizeOfParts(construction);
  refuseLarge(size, constructionText(construction));
  return size;
}

function sizeOfParts(construction: Construction): GraphSize {
  switch (construction.kind) {
    case "family":
      return family(construction.family).size(construction.parameters);
    case "line": {
      const times = checked(construction.times, "times a line graph is taken", MOST_TIMES);
      const { nodes, degree } = sizeOf(construction.base);
      return { nodes: nodes * degree ** times, degree };
    }
    case "degree": {
      const factor = checked(construction.factor, "factor of a degree expansion");
      const { nodes, degree } = sizeOf(construction.base);
      return { nodes: nodes * factor, degree: degree * factor };
    }
    case "power": {
      const exponent = checked(construction.exponent, "exponent of a power");
      const { nodes, degree } = sizeOf(construction.base);
      return { nodes: nodes ** exponent, degree: degree * exponent };
    }
    case "product":
      return construction.factors
        .map(sizeOf)
        .reduce((all, { nodes, degree }) => ({ nodes: all.nodes * nodes, degree: all.degree + degree }), {
          nodes: 1,
          degree: 0,
        });
    case "transpose":
      return sizeOf(construction.base);
    case "bidirectional": {
      const { nodes, degree } = sizeOf(construction.base);
      return { nodes, degree: 2 * degree };
    }
  }
}

function checked(value: number, what: string, most = 1e7): number {
  if (Number.isInteger(value) && value >= 1 && value <= most) return value;
  throw new InputError(`the ${what}`, `a whole number, 1 to ${most}`, value).as("out-of-range");
}

/**
 * Returns the graph of a construction, numbered as `construction.ts` says. Throws InputError as sizeOf, before anything is built,
 * and for degree expansions of graphs with self-loops. O(arcs * depth of the construction).
 */
export function graphOf(construction: Construction): Digraph {
  sizeOf(construction);
  return built(construction);
}

function built(construction: Construction): Digraph {
  switch (construction.kind) {
    case "family":
      return family(construction.family).build(construction.parameters);
    case "line": {
      let graph = built(construction.base);
      for (let i = 0; i < construction.times; i++) graph = lineGraph(graph);
      return graph;
    }
    case "degree":
      return degreeExpansion(built(construction.base), construction.factor);
    case "power":
      return power(built(construction.base), construction.exponent);
    case "product":
      return product(construction.factors.map(built));
    case "transpose":
      return transpose(built(construction.base));
    case "bidirectional":
      return bidirectional(built(construction.base));
  }
}
