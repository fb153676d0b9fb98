import { describe, expect, it } from "vitest";
import { random } from "../../../../src/base/random.ts";
import { expansionOf, tooLarge } from "../../../../src/web/views/steps/expansion.ts";
import { randomHops } from "../time/random-hops.ts";

describe("the time-expanded network", () => {
  it("has a column for each time at which a transfer starts or ends", () => {
    for (let seed = 1; seed < 8; seed++) {
      const hops = randomHops(random(seed), 5, 4);
      const { times, from, to } = expansionOf(hops);
      expect(times).toEqual([...new Set([0, ...hops.startPs, ...hops.endPs])].sort((a, b) => a - b));
      for (let hop = 0; hop < hops.chunk.length; hop++) {
        expect(times[from[hop]]).toBe(hops.startPs[hop]);
        expect(times[to[hop]]).toBe(hops.endPs[hop]);
      }
    }
  });

  it("is refused with what to do where it is too large", () => {
    expect(tooLarge({ npuCount: 5 }, randomHops(random(1), 5, 4))).toBe(null);
    expect(tooLarge({ npuCount: 33 }, randomHops(random(1), 33, 1))).toMatch(
      /32 or fewer; this network has 33.*smaller network/,
    );
    expect(tooLarge({ npuCount: 20 }, randomHops(random(1), 20, 60))).toMatch(/600 or fewer.*fewer chunks/);
    const apart = randomHops(random(1), 4, 20);
    const spread = {
      ...apart,
      startPs: apart.startPs.map((_, i) => 3 * i),
      endPs: apart.endPs.map((_, i) => 3 * i + 1),
    };
    expect(apart.chunk.length).toBeGreaterThan(32);
    expect(tooLarge({ npuCount: 4 }, spread)).toMatch(/64 or fewer.*equal links/);
  });
});
