import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { growingInt32, growingUint8 } from "../../../src/model/numbers/column.ts";
import { runs } from "../../support/runs.ts";

describe("a growing column", () => {
  it("holds what was pushed, whatever its length", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }), { maxLength: 3000 }), (values) => {
        const column = growingInt32();
        values.forEach((value, at) => {
          expect(column.push(value)).toBe(at);
        });
        expect(column.length).toBe(values.length);
        expect([...column.whole()]).toEqual(values);
        expect([...column.whole(7)]).toEqual([...values, 7]);
      }),
      { numRuns: runs(50) },
    );
  });

  it("keeps its type, and goes on after it was read", () => {
    const bytes = growingUint8();
    bytes.push(255);
    expect(bytes.whole()).toEqual(Uint8Array.of(255));
    bytes.push(1);
    expect(bytes.whole(9)).toEqual(Uint8Array.of(255, 1, 9));
  });
});
