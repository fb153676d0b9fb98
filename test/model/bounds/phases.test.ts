import * as fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import type { LpSolver } from "../../../src/engine/contract/programs.ts";
import { openHighs } from "../../../src/engine/milp/highs.ts";
import { phasesBound } from "../../../src/model/bounds/limit.ts";
import { collective } from "../../../src/model/collective/collective.ts";
import type { LineAlgorithm, NetworkDimension } from "../../../src/model/dimensions/dimensions.ts";
import { toNumber } from "../../../src/model/numbers/rational.ts";
import { everyone } from "../../support/everyone.ts";
import { runs } from "../../support/runs.ts";

const KINDS = ["allreduce", "reducescatter", "allgather"] as const;
type Kind = (typeof KINDS)[number];

const SIZE = 2 ** 30;

const dimensionOf = (size: number, gbps: number): NetworkDimension => ({
  kind: "switch",
  size,
  bytesPerSecond: gbps * 1e9,
  stepPs: 0,
  inNetwork: true,
});

const boundOfDimensions = (kind: Kind, dimensions: readonly NetworkDimension[], algorithms: readonly LineAlgorithm[]) =>
  phasesBound({
    collective: collective({
      kind,
      groups: [everyone(dimensions.reduce((all, { size }) => all * size, 1))],
      sizeBytes: SIZE,
      chunksPerNpu: 3,
      rootRank: 0,
    }),
    dimensions,
    algorithms,
  });

function orders(count: number): number[][] {
  if (count === 0) return [[]];
  return orders(count - 1).flatMap((order) =>
    Array.from({ length: count }, (_, at) => [...order.slice(0, at), count - 1, ...order.slice(at)]),
  );
}

/** Returns picoseconds of the least greatest load over the dimensions, if data may take all orders in any shares. */
function leastByLp(solver: LpSolver, kind: Kind, dimensions: readonly NetworkDimension[]): number {
  const passes = kind === "allreduce" ? 2 : 1;
  const all = orders(dimensions.length);
  const units = all.map((order) => {
    let held = passes;
    const time = dimensions.map(() => 0);
    for (const d of order) {
      const { size, bytesPerSecond } = dimensions[d] as NetworkDimension;
      time[d] = (SIZE * held * (size - 1)) / size / bytesPerSecond;
      held /= size;
    }
    return time;
  });
  const columns = all.length + 1;
  const rows = dimensions.length + 1;
  const column = Array.from({ length: rows * columns }, (_, i) => i % columns);
  const value = column.map((j, i) => {
    const row = Math.floor(i / columns);
    if (row === dimensions.length) return j < all.length ? 1 : 0;
    return j < all.length ? (units[j]?.[row] as number) * 1000 : -1;
  });
  const infinite = Number.POSITIVE_INFINITY;
  const solution = solver.solve({
    objective: Float64Array.from({ length: columns }, (_, j) => (j === all.length ? -1 : 0)),
    lower: new Float64Array(columns),
    upper: new Float64Array(columns).fill(infinite),
    rows: {
      lower: Float64Array.from({ length: rows }, (_, row) => (row === dimensions.length ? 1 : -infinite)),
      upper: Float64Array.from({ length: rows }, (_, row) => (row === dimensions.length ? 1 : 0)),
      offset: Int32Array.from({ length: rows + 1 }, (_, row) => row * columns),
      column: Int32Array.from(column),
      value: Float64Array.from(value),
    },
  });
  if (solution.status !== "optimal") throw new Error(`the linear program is ${solution.status}`);
  return (-solution.objective / 1000) * 1e12;
}

describe("the bound of phases", () => {
  let solver: LpSolver;
  beforeAll(async () => {
    solver = await openHighs();
  });

  const network = fc.array(
    fc.record({ size: fc.integer({ min: 2, max: 9 }), gbps: fc.integer({ min: 1, max: 400 }) }),
    {
      minLength: 1,
      maxLength: 4,
    },
  );

  it("is what the best mixture of orders takes (linear program over all orders)", () => {
    fc.assert(
      fc.property(fc.constantFrom(...KINDS), network, (kind, rows) => {
        const dimensions = rows.map(({ size, gbps }) => dimensionOf(size, gbps));
        const { ps } = boundOfDimensions(
          kind,
          dimensions,
          dimensions.map(() => "direct" as const),
        );
        expect(toNumber(ps) / leastByLp(solver, kind, dimensions)).toBeCloseTo(1, 6);
      }),
      { numRuns: runs(150), seed: 5 },
    );
  });

  it("is 2 (N - 1) / N of the size through all bandwidth where dimensions are alike", () => {
    const dimensions = [dimensionOf(4, 100), dimensionOf(4, 100)];
    const { ps, witness } = boundOfDimensions("allreduce", dimensions, ["direct", "direct"]);
    expect(toNumber(ps)).toBe((((2 * SIZE * 15) / 16) * 1e12) / 200e9);
    expect(witness).toEqual({
      kind: "work",
      demand: "2.0133 GB that each NPU sends over dimensions 0, 1",
      dimensions: [0, 1],
      totalGBps: 200,
    });
  });

  it("is that of the slowest dimension where it is slow enough", () => {
    const dimensions = [dimensionOf(4, 1000), dimensionOf(8, 1)];
    const { ps, witness } = boundOfDimensions("allgather", dimensions, ["direct", "direct"]);
    expect(toNumber(ps)).toBe((((7 * SIZE) / 32) * 1e12) / 1e9);
    expect(witness).toMatchObject({ demand: "234.88 MB that each NPU sends over dimension 1" });
  });

  it("counts one way through switches that sum", () => {
    const one = [dimensionOf(8, 450)];
    const [by, offloaded] = [
      boundOfDimensions("allreduce", one, ["direct"]),
      boundOfDimensions("allreduce", one, ["offload"]),
    ];
    expect(toNumber(by.ps)).toBe(2 * toNumber(offloaded.ps));
  });

  it("looks at prefixes of many dimensions, slowest first", () => {
    const dimensions = Array.from({ length: 14 }, (_, d) => dimensionOf(2, 14 - d));
    const { ps } = boundOfDimensions(
      "reducescatter",
      dimensions,
      dimensions.map(() => "direct" as const),
    );
    const all = (((SIZE * (2 ** 14 - 1)) / 2 ** 14) * 1e12) / (105 * 1e9);
    expect(toNumber(ps)).toBeGreaterThanOrEqual(all * (1 - 1e-12));
  });
});
