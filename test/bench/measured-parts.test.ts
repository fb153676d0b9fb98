import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fitParts as fitWith, partedUs } from "../../bench/measured-parts.mjs";
import { nonNegativeLeastSquares, ownLength } from "../../src/model/numbers/least-squares.ts";

interface PartedPoint {
  readonly us: number;
  readonly ways: readonly Float64Array[];
}

const fitParts = (
  points: readonly PartedPoint[],
  labels: Float64Array,
): { readonly figures: Float64Array; readonly told: readonly boolean[] } =>
  fitWith({ nonNegativeLeastSquares, ownLength }, points, labels);

const amount = fc.double({ min: 0, max: 1e3, noNaN: true });
const figure = fc.double({ min: 1e-2, max: 1e2, noNaN: true });

/** Points of one way each, with as many figures as `figures` has and what they take. */
const pointsOf = (amounts: readonly (readonly number[])[], figures: Float64Array): PartedPoint[] =>
  amounts
    .map((own) => ({ ways: [Float64Array.from(own)] }))
    .map((point) => ({ ...point, us: partedUs(point, figures) }))
    .filter(({ us }) => us > 1e-6);

describe("calls as sums of parts", () => {
  it("are fitted to what they take where one set of figures makes them all", () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(amount, amount, amount), { minLength: 6, maxLength: 30 }),
        fc.tuple(figure, figure, figure),
        (amounts, planted) => {
          const figures = Float64Array.from(planted);
          const points = pointsOf(amounts, figures);
          fc.pre(points.length > 3);
          const fit = fitParts(points, new Float64Array(3).fill(1));
          for (const point of points) expect(partedUs(point, fit.figures) / point.us).toBeCloseTo(1, 5);
          expect(fit.figures.every((value) => value >= 0)).toBe(true);
        },
      ),
      { numRuns: 200 },
    );
  });

  it("find protocols that each size took: a quick one for short calls, a fast one for long", () => {
    const truth = Float64Array.of(5, 2, 1);
    const sizes = Array.from({ length: 24 }, (_, i) => 2 ** i);
    // hops at 1 and at 4 us a figure, bytes at half the speed and at all of it
    const ways = (bytes: number) => [Float64Array.of(1, 1, bytes / 500), Float64Array.of(1, 4, bytes / 1000)];
    const points = sizes.map((bytes) => ({ us: partedUs({ ways: ways(bytes) }, truth), ways: ways(bytes) }));
    const { figures, told } = fitParts(points, Float64Array.of(0, 1, 1));
    expect(told).toEqual([true, true, true]);
    truth.forEach((value, j) => {
      expect((figures[j] as number) / value).toBeCloseTo(1, 4);
    });
  });

  it("are not drawn away by one call in ten that took three times as long", () => {
    const truth = Float64Array.of(3, 0.5);
    const points = Array.from({ length: 40 }, (_, i) => {
      const way = Float64Array.of(1, 2 ** (i % 20));
      return { ways: [way], us: partedUs({ ways: [way] }, truth) * (i % 10 === 3 ? 3 : 1) };
    });
    const { figures } = fitParts(points, Float64Array.of(1, 1));
    expect((figures[0] as number) / 3).toBeCloseTo(1, 1);
    expect((figures[1] as number) / 0.5).toBeCloseTo(1, 1);
  });

  it("leave figures that no call pays as they were, and say which are told", () => {
    const way = Float64Array.of(1, 0, 2);
    const other = Float64Array.of(2, 0, 4);
    const { figures, told } = fitParts(
      [
        { us: 3, ways: [way] },
        { us: 6, ways: [other] },
      ],
      Float64Array.of(1, 7, 1),
    );
    expect(figures[1]).toBe(7);
    expect(told).toEqual([false, false, false]);
    expect(partedUs({ ways: [way] }, figures)).toBeCloseTo(3, 9);
  });
});
