import { InputError } from "../../base/errors.ts";
import type { Construction } from "./construction.ts";
import { constructionText } from "./construction-text.ts";
import type { Digraph } from "./digraph.ts";
import { bidirectional, degreeExpansion, lineGraph, power, product, transpose } from "./expansions.ts";
import { refuseLarge } from "./families/family.ts";
import { family, type GraphSize } from "./families.ts";

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
  throw new InputError(`the ${what}`, `a whole number, 1 to ${most}`, value);
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
