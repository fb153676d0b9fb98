import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Random, random } from "../../src/base/random.ts";
import type { PackProblem } from "../../src/engine/contract/kernels.ts";
import { availableKernels } from "../support/backends.ts";
import { pick, shuffle } from "../support/draws.ts";
import { packOf, packOfPreset, packProblems } from "../support/pack-problems.ts";
import type { LinkRow } from "../support/rate-problems.ts";
import { runs } from "../support/runs.ts";

const all = await availableKernels();
const names = all.map(({ backend }) => backend).join(", ");

function expectAgreement(problem: PackProblem): void {
  const [first, ...others] = all.map((kernels) => kernels.pack(problem));
  for (const other of others) expect(other).toEqual(first);
}

/** Adds a tree that spans the NPUs, over paths through any of the switches in any order. */
function addTree(copies: number[], switches: number, times: number, links: LinkRow[], generator: Random): void {
  const order = [...copies.keys()];
  shuffle(order, generator);
  copies[order[0]] += times;
  for (let i = 1; i < order.length; i++) {
    const stops = Array.from({ length: switches }, (_, s) => copies.length + s);
    shuffle(stops, generator);
    const path = [order[generator.below(i)], ...stops.slice(generator.below(switches + 1)), order[i]];
    for (let j = 1; j < path.length; j++) links.push([path[j - 1], path[j], times]);
  }
}

/** Networks of up to 12 switches that trees use up, and such with a little more or less on some links: switches are not balanced then. */
const tangles = fc
  .record({
    seed: fc.nat({ max: 2 ** 31 }),
    npus: fc.integer({ min: 2, max: 6 }),
    switches: fc.nat({ max: 12 }),
    trees: fc.integer({ min: 1, max: 12 }),
    most: fc.constantFrom(1, 4, 1000),
    changed: fc.constantFrom(0, 0, 3, 10),
    repairs: fc.constantFrom(0, 0, 7),
    prices: fc.constantFrom([0, 0], [1000, 0], [250, 1000]),
  })
  .map(({ seed, npus, switches, trees, most, changed, repairs, prices: [depthPrice, loadPrice] }) => {
    const generator = random(seed, 103);
    const copies = new Array<number>(npus).fill(0);
    const links: LinkRow[] = [];
    for (let i = 0; i < trees; i++) addTree(copies, switches, 1 + generator.below(most), links, generator);
    for (let i = 0; i < changed; i++) {
      const at = generator.below(links.length);
      const [source, target, capacity] = links[at];
      links[at] = [source, target, Math.max(0, capacity + pick([-1, 1, 2], generator))];
    }
    return packOf(copies, switches, links, { depthPrice, loadPrice, repairs, seed });
  });

/** Returns the problem with all amounts multiplied by the greatest factor that keeps their sum exact. */
function scaledUp(problem: PackProblem): PackProblem {
  const sum = [...problem.capacity, ...problem.copies].reduce((a, b) => a + b, 1);
  const factor = Math.floor(Number.MAX_SAFE_INTEGER / sum);
  return {
    ...problem,
    capacity: problem.capacity.map((amount) => factor * amount),
    copies: problem.copies.map((amount) => factor * amount),
  };
}

describe(`the backends ${names} pack the same trees, with the same sweeps and rollbacks`, () => {
  it("in random networks of many switches, balanced or not", () => {
    fc.assert(fc.property(tangles, expectAgreement), { numRuns: runs(100) });
  });

  it("in random networks of amounts up to 2^53 - 1", () => {
    fc.assert(
      fc.property(packProblems(9), (problem) => expectAgreement(scaledUp(problem))),
      { numRuns: runs(100) },
    );
  });

  it("in random networks with too little room for trees, links or repairs", () => {
    fc.assert(
      fc.property(packProblems(7), fc.nat({ max: 30 }), fc.nat({ max: 300 }), (problem, maxTrees, maxLinks) => {
        expectAgreement({ ...problem, maxTrees, repairs: 6 });
        expectAgreement({ ...problem, maxLinks, repairs: 6 });
      }),
      { numRuns: runs(100) },
    );
  });

  it.each([
    ["dgx-a100:16", 25],
    ["mi250:4", 25],
    ["torus:5x4x3", 25],
    ["torus:7x7", 800], // more cuts than the pool keeps
  ] as const)("on %s, repaired %i times", (preset, repairs) => {
    expectAgreement(packOfPreset(preset, all[0], { repairs, scheduled: preset !== "torus:7x7" }));
  });
});
