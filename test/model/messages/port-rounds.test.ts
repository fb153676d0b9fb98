import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { portRounds } from "../../../src/model/messages/port-rounds.ts";
import { runs } from "../../support/runs.ts";

describe("portRounds", () => {
  it("lets every port send and receive one message a round, in as many rounds as the busiest port has messages", () => {
    const messages = fc.array(fc.tuple(fc.integer({ min: 0, max: 5 }), fc.integer({ min: 6, max: 11 })), {
      maxLength: 60,
    });
    fc.assert(
      fc.property(messages, (pairs) => {
        const from = Int32Array.from(pairs, ([source]) => source);
        const to = Int32Array.from(pairs, ([, target]) => target);
        const rounds = portRounds(from, to, 12) as Int32Array;
        const most = Math.max(
          0,
          ...Array.from({ length: 12 }, (_, port) => [...from, ...to].filter((p) => p === port).length),
        );
        expect(Math.max(-1, ...rounds)).toBeLessThan(Math.max(most, 1));
        const used = pairs.flatMap(([source, target], e) => [`${source}:${rounds[e]}`, `${target}:${rounds[e]}`]);
        expect(new Set(used).size).toBe(used.length);
      }),
      { numRuns: runs(300), seed: 8 },
    );
  });

  it("is left out where its table would be too large", () => {
    const from = new Int32Array(10_000);
    expect(
      portRounds(
        from,
        from.map(() => 1),
        6000,
      ),
    ).toBeNull();
  });
});
