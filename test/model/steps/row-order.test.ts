import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { inRowOrder } from "../../../src/model/steps/step-schedule.ts";

/** Returns columns whose ends tell rows apart. */
function columnsOf(rows: readonly (readonly [start: number, route: number, chunk: number, op: number])[]) {
  return {
    startPs: Float64Array.from(rows, ([start]) => start),
    route: Int32Array.from(rows, ([, route]) => route),
    chunk: Int32Array.from(rows, ([, , chunk]) => chunk),
    op: Uint8Array.from(rows, ([, , , op]) => op),
    endPs: Float64Array.from(rows, (_, i) => 1000 + i),
  };
}

describe("rows in order", () => {
  const few = fc.nat(3);
  const id = fc.oneof(few, fc.constantFrom(2 ** 31 - 1, 2 ** 31 - 2));

  it("sorts by (start, route, chunk) and keeps rows that tie as they were, also where ids are great", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(few, id, id, fc.nat(1)), { maxLength: 40 }), fc.boolean(), (given, ascending) => {
        const rows = ascending ? given.toSorted((a, b) => a[0] - b[0]) : given;
        const order = [...rows.keys()].sort((a, b) => {
          const [x, y] = [rows[a], rows[b]] as const;
          return x[0] - y[0] || x[1] - y[1] || x[2] - y[2] || a - b;
        });
        const expected = columnsOf(order.map((i) => rows[i]));
        expected.endPs.set(order.map((i) => 1000 + i));
        expect(inRowOrder(columnsOf(rows))).toEqual(expected);
      }),
    );
  });

  it("leaves rows in order where they are", () => {
    const rows = columnsOf([
      [0, 1, 0, 0],
      [0, 1, 2, 1],
      [5, 0, 0, 0],
    ]);
    const before = structuredClone(rows);
    expect(inRowOrder(rows)).toBe(rows);
    expect(rows).toEqual(before);
  });
});
