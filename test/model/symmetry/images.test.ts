import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { imagesByName } from "../../../src/model/symmetry/network-maps.ts";

describe("imagesByName", () => {
  it("takes the k-th of a name to the k-th with its image", () => {
    expect([...(imagesByName(["a", "b", "a"], ["b", "a", "a"]) ?? [])]).toEqual([1, 0, 2]);
  });

  it("is null where images are too many of a name, or of none", () => {
    expect(imagesByName(["a", "b"], ["a", "a"])).toBeNull();
    expect(imagesByName([1], [2])).toBeNull();
  });

  it("is one to one, and keeps names, where the images are the names in another order", () => {
    const namesAndOrder = fc
      .array(fc.integer({ min: 0, max: 3 }))
      .chain((names) => fc.tuple(fc.constant(names), fc.shuffledSubarray(names, { minLength: names.length })));
    fc.assert(
      fc.property(namesAndOrder, ([names, order]) => {
        const images = imagesByName(names, order) as Int32Array;
        expect(Array.from(images, (image) => names[image])).toEqual(order);
        expect(new Set(images).size).toBe(names.length);
      }),
    );
  });
});
