import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Kernels } from "../../src/engine/kernels/kernels.ts";
import { InfeasibleError } from "../../src/errors.ts";
import { availableKernels } from "../support/backends.ts";
import { allGather, matchProblems, mesh, relayProblems, type Sharing } from "../support/networks.ts";
import { placeProblems } from "../support/place-problems.ts";

const all = await availableKernels();
const names = all.map(({ backend }) => backend).join(", ");
const SHARINGS: readonly Sharing[] = ["none", "ports", "mixed", "arbitrary"];

/** Returns what a call gave in comparable form: the columns, or the sentence and witness of an infeasible problem. */
function outcome(call: () => ReturnType<Kernels["relay"]>): unknown {
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
  ])("for %s", (_, problem) => {
    const [first, ...others] = all.map((kernels) => kernels.match(problem));
    for (const other of others) expect(other).toEqual(first);
  });
});
