import { describe, expect, it } from "vitest";
import { finiteField, primePower } from "../../../src/model/direct/families/distance-regular.ts";

describe("finite fields", () => {
  it.each([2, 3, 4, 5, 7, 8, 9, 16, 25, 27])("GF(%i) has the axioms of a field", (q) => {
    const f = finiteField(q);
    if (f === null) throw new Error("a field");
    const { add, subtract, multiply, inverse } = f;
    for (let a = 0; a < q; a++) {
      expect([add(a, 0), multiply(a, 1), multiply(a, 0), subtract(a, a)]).toEqual([a, a, 0, 0]);
      if (a > 0) expect(multiply(a, inverse[a])).toBe(1);
      for (let b = 0; b < q; b++) {
        expect(add(a, b)).toBe(add(b, a));
        expect(multiply(a, b)).toBe(multiply(b, a));
        expect(add(subtract(a, b), b)).toBe(a);
        for (let c = 0; c < q; c++) {
          if (add(add(a, b), c) !== add(a, add(b, c))) expect([a, b, c]).toBe("associative sums");
          if (multiply(multiply(a, b), c) !== multiply(a, multiply(b, c)))
            expect([a, b, c]).toBe("associative products");
          if (multiply(a, add(b, c)) !== add(multiply(a, b), multiply(a, c))) expect([a, b, c]).toBe("distributive");
        }
      }
    }
  });

  it("there are none of other numbers of elements", () => {
    for (const q of [0, 1, 6, 10, 12, 15, 36]) expect([primePower(q), finiteField(q)]).toEqual([null, null]);
    expect(primePower(1024)).toEqual({ prime: 2, exponent: 10 });
    expect(primePower(997)).toEqual({ prime: 997, exponent: 1 });
  });
});
