import { describe, expect, it } from "vitest";
import { readAddress } from "../../../src/web/state/address.ts";
import { EXAMPLES } from "../../../src/web/state/examples.ts";
import { FIRST_EXAMPLE } from "../../../src/web/state/words.ts";

describe("the examples of the page", () => {
  it("are ten, of which a first visit shows one", () => {
    expect(EXAMPLES.length).toBe(10);
    expect(new Set(EXAMPLES.map(({ address }) => address)).size).toBe(10);
    expect(EXAMPLES.filter(({ address }) => address === FIRST_EXAMPLE).length).toBe(1);
  });

  it.each(EXAMPLES)("$title: an address that can be used, and says what it shows", ({ address }) => {
    const read = readAddress(address);
    expect(read.complaints).toEqual([]);
    expect(read.topology).not.toBeNull();
    expect(read.view).not.toBeNull();
    expect(read.run).toBe(read.view !== "training");
  });
});
