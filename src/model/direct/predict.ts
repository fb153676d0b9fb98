import { add, multiply, type Rational, rational } from "../numbers/rational.ts";
import type { Construction } from "./construction.ts";

/** What is known of a network and its all-gather without making them. */
export interface Predicted {
  readonly nodes: number;
  /** Ports of a node, those of self-loops and parallel arcs included. */
  readonly degree: number;
  /** T_L / alpha. */
  readonly steps: number;
  /** T_B in units of M / B. */
  readonly bandwidth: Rational;
}

/**
 * Returns the times of the line graph (Zhao 2026, theorem 7, corollary 7.1): never less than the schedule of definition 1
 * takes. Theorem 10 states equality for optimal BFB schedules where every node has two different out-neighbours; its proof picks
 * one out-neighbour for all shards, but which may be picked depends on the shard. The line graph may take less where the
 * busiest nodes of a step receive the shards of all their out-neighbours in it (26 of 1,633 random graphs of 3 to 8 nodes),
 * and rings take a step less.
 */
export function predictLine(base: Predicted, times = 1): Predicted {
  let { nodes, bandwidth } = base;
  for (let i = 0; i < times; i++) {
    bandwidth = add(bandwidth, rational(1, nodes));
    nodes *= base.degree;
  }
  return { nodes, degree: base.degree, steps: base.steps + times, bandwidth };
}

/** Returns the times of the degree expansion of a graph without self-loops: exactly those of definition 2 (theorem 11). */
export function predictDegree({ nodes, degree, steps, bandwidth }: Predicted, factor: number): Predicted {
  if (factor === 1) return { nodes, degree, steps, bandwidth };
  return {
    nodes: nodes * factor,
    degree: degree * factor,
    steps: steps + 1,
    bandwidth: add(bandwidth, rational(factor - 1, factor * nodes)),
  };
}

/** Returns the times of a Cartesian power: exactly those of definition 14 (theorem 12). */
export function predictPower({ nodes, degree, steps, bandwidth }: Predicted, exponent: number): Predicted {
  const size = BigInt(nodes);
  const power = size ** BigInt(exponent);
  return {
    nodes: Number(power),
    degree: degree * exponent,
    steps: steps * exponent,
    bandwidth: nodes === 1 ? bandwidth : multiply(bandwidth, rational(size * (power - 1n), (size - 1n) * power)),
  };
}

/** Returns the times of a reverse-symmetric graph together with its transpose (A.1.6): those of the graph, at twice the degree. */
export const predictBidirectional = (base: Predicted): Predicted => ({ ...base, degree: 2 * base.degree });

/** A graph that an expansion starts with, or (turned) its transpose. */
export interface Base {
  readonly construction: Construction;
  readonly turned: boolean;
}

/** Returns the family or product that expansions start with, whose times no theorem gives. O(depth of the construction). */
export function innermost({ construction, turned }: Base): Base {
  switch (construction.kind) {
    case "family":
    case "product":
      return { construction, turned };
    case "transpose":
      return innermost({ construction: construction.base, turned: !turned });
    default:
      return innermost({ construction: construction.base, turned });
  }
}

/**
 * Returns the times of the schedule that expansions give a construction, by the theorems, from those of its innermost graph.
 * O(depth of the construction).
 */
export function predict(construction: Construction, times: Predicted): Predicted {
  switch (construction.kind) {
    case "family":
    case "product":
      return times;
    case "transpose":
      return predict(construction.base, times);
    case "line":
      return predictLine(predict(construction.base, times), construction.times);
    case "degree":
      return predictDegree(predict(construction.base, times), construction.factor);
    case "power":
      return predictPower(predict(construction.base, times), construction.exponent);
    case "bidirectional":
      return predictBidirectional(predict(construction.base, times));
  }
}
