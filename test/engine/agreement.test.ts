import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { InfeasibleError } from "../../src/errors.ts";
import { availableKernels } from "../support/backends.ts";
import { allGather, matchProblems, mesh, networkOf, relayProblems, type Sharing } from "../support/networks.ts";
import { placeProblems } from "../support/place-problems.ts";
import { spreadOf } from "../support/spread-problems.ts";

const all = await availableKernels();
const names = all.map(({ backend }) => backend).join(", ");
const torus = (width: number, height: number) => {
  const at = (x: number, y: number): number => ((x + width) % width) + width * ((y + height) % height);
  const steps = [
    [1, 0],
    [-1, 0],
    [0, 1],
    [0, -1],
  ] as const;
  const routes = Array.from({ length: width * height }, (_, v) =>
    steps.map(([dx, dy]) => ({ source: v, target: at((v % width) + dx, Math.floor(v / width) + dy), slotPs: 1000 })),
  );
  return networkOf(width * height, routes.flat());
};
const SHARINGS: readonly Sharing[] = ["none", "ports", "mixed", "arbitrary"];

/** Returns what a call gave in comparable form: the columns, or the sentence and witness of an infeasible problem. */
function outcome(call: () => unknown): unknown {
  try {
    return call();
  } catch (error) {
    if (error instanceof InfeasibleError) return { message: error.message, witness: error.witness };
    throw error;
  }
}

describe(`the backends ${names} give the same bits`, () => {
  it("for random match problems", () => {
    fc.assert(
      fc.property(matchProblems(SHARINGS), (problem) => {
        const [first, ...others] = all.map((kernels) => outcome(() => kernels.match(problem)));
        for (const other of others) expect(other).toEqual(first);
      }),
      { numRuns: 600 },
    );
  });

  it("for random problems in slots, with one to three threads", () => {
    fc.assert(
      fc.property(matchProblems(["none"]), (problem) => {
        const [first, ...others] = all.flatMap((kernels) =>
          [1, 2, 3].map((threads) => outcome(() => kernels.spread(spreadOf(problem, 300, threads)))),
        );
        for (const other of others) expect(other).toEqual(first);
      }),
      { numRuns: 200 },
    );
  });

  it.each([0, 1, 2, 3, 4])("for a mesh and a torus in slots, choice %i, with one to three threads", (choice) => {
    for (const network of [mesh(13, 11), torus(8, 8)]) {
      const problem = allGather(network, 1, { choice, window: 8, lateLimit: 20, seed: 5 });
      const [first, ...others] = all.flatMap((kernels) =>
        [1, 2, 3].map((threads) => kernels.spread(spreadOf(problem, 300, threads))),
      );
      for (const other of others) expect(other).toEqual(first);
    }
  });

  it("for random relay problems", () => {
    fc.assert(
      fc.property(relayProblems(SHARINGS), (problem) => {
        const [first, ...others] = all.map((kernels) => outcome(() => kernels.relay(problem)));
        for (const other of others) expect(other).toEqual(first);
      }),
      { numRuns: 400 },
    );
  });

  it("for random place problems", () => {
    fc.assert(
      fc.property(placeProblems(SHARINGS, 200), (problem) => {
        const [first, ...others] = all.map((kernels) => kernels.place(problem));
        for (const other of others) expect(other).toEqual(first);
      }),
      { numRuns: 400 },
    );
  });

  it.each([
    ["a mesh of one speed, oldest chunk first", allGather(mesh(12, 12))],
    ["a mesh of two speeds", allGather(mesh(12, 9, 1000, 1500), 2, { novelty: 1, overtaking: 1, seed: 7 })],
    ["the neighbour rule", allGather(mesh(10, 10), 1, { choice: 1, window: 8, lateLimit: 1000, seed: 3 })],
    ["what is two steps away", allGather(mesh(9, 7), 2, { choice: 4, window: 999, lateLimit: 1000, seed: 3 })],
  ])("for %s", (_, problem) => {
    const [first, ...others] = all.map((kernels) => kernels.match(problem));
    for (const other of others) expect(other).toEqual(first);
  });
});
