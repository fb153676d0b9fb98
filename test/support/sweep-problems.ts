import * as fc from "fast-check";
import { random } from "../../src/base/random.ts";
import type { SweepProblem } from "../../src/engine/contract/kernels.ts";
import { flowSolver } from "../../src/model/graph/flow.ts";
import type { LinkRow } from "./rate-problems.ts";

/** Problems of the sweep kernel, and their answer from the model's own maximum flow. */

/** Returns the flows into every node over links, or into the given sinks. */
export const sweepOf = (
  supply: readonly number[],
  links: readonly LinkRow[],
  sinks: readonly number[] = [...supply.keys()],
): SweepProblem => ({
  nodeCount: supply.length,
  linkSource: Int32Array.from(links, ([source]) => source),
  linkTarget: Int32Array.from(links, ([, target]) => target),
  capacity: Float64Array.from(links, ([, , capacity]) => capacity),
  supply: Float64Array.from(supply),
  sinks: Int32Array.from(sinks),
});

/** Random problems, small ones by default; sinks stand anywhere, some twice. */
export const sweepProblems = (mostNodes = 9): fc.Arbitrary<SweepProblem> =>
  fc
    .record({
      seed: fc.nat({ max: 2 ** 31 }),
      nodes: fc.integer({ min: 1, max: mostNodes }),
      density: fc.nat({ max: 5 }),
      most: fc.constantFrom(2, 10, 2 ** 32),
      fed: fc.constantFrom(1, 2, 4),
      scale: fc.constantFrom(1, 3, 1000),
    })
    .map(({ seed, nodes, density, most, fed, scale }) => {
      const generator = random(seed, 97);
      const links = Array.from({ length: nodes === 1 ? 0 : density * nodes }, () => {
        const source = generator.below(nodes);
        const target = (source + 1 + generator.below(nodes - 1)) % nodes;
        return [source, target, scale * generator.below(most)] as const;
      });
      const supply = Array.from({ length: nodes }, () =>
        generator.below(fed) === 0 ? scale * generator.below(most) : 0,
      );
      const sinks = Array.from({ length: generator.below(2 * nodes) }, () => generator.below(nodes));
      return sweepOf(supply, links, sinks);
    });

/** Returns the flows by src/model/graph/flow.ts, with the source as one more node. */
export function sweptByOracle({ nodeCount, linkSource, linkTarget, capacity, supply, sinks }: SweepProblem) {
  const fed = Array.from(supply.keys());
  const solve = flowSolver({
    nodes: nodeCount + 1,
    tail: Int32Array.from([...linkSource, ...fed.map(() => nodeCount)]),
    head: Int32Array.from([...linkTarget, ...fed]),
  });
  return Float64Array.from(sinks, (sink) => solve(Float64Array.from([...capacity, ...supply]), nodeCount, sink).value);
}
