import { describe, expect, it } from "vitest";
import type { LineAlgorithm } from "../../../src/model/dimensions/dimensions.ts";
import { lineStepCount, lineSteps, partsOf, topologyAware } from "../../../src/model/phases/phase-times.ts";

const SIZES = [2, 3, 4, 5, 7, 8, 16];
const CASES: readonly (readonly [LineAlgorithm, number, 1 | 2])[] = SIZES.flatMap((size) => [
  ["ring", size, 1] as const,
  ...(size > 2 ? [["ring", size, 2] as const] : []),
  ["line", size, 1] as const,
  ["direct", size, 1] as const,
  ...(Math.log2(size) % 1 === 0 ? [["halving-doubling", size, 1] as const] : []),
]);

/** What positions have of each block and part: the contributions, as bits. */
type State = Map<string, number>;

describe("lineSteps", () => {
  it.each(CASES)(
    "%s on %i, %i part(s): every block's owner ends with each contribution once",
    (algorithm, size, parts) => {
      const { steps, firstRow, from, to, block, part } = lineSteps(algorithm, size, parts);
      const key = (position: number, of: number, p: number): string => `${position} ${of} ${p}`;
      let state: State = new Map();
      for (let i = 0; i < size; i++) {
        for (let b = 0; b < size; b++) for (let p = 0; p < parts; p++) state.set(key(i, b, p), 1 << i);
      }
      for (let now = 0; now < steps; now++) {
        const after = new Map(state);
        for (let row = firstRow[now]; row < firstRow[now + 1]; row++) {
          const sent = state.get(key(from[row], block[row], part[row])) as number;
          const target = key(to[row], block[row], part[row]);
          const has = after.get(target) as number;
          expect(has & sent).toBe(0);
          after.set(target, has | sent);
        }
        state = after;
      }
      for (let b = 0; b < size; b++) {
        for (let p = 0; p < parts; p++) expect(state.get(key(b, b, p))).toBe(2 ** size - 1);
      }
      expect(steps).toBe(lineStepCount(algorithm, size));
      expect(from.length).toBe(size * (size - 1) * parts);
    },
  );

  it.each(CASES)("%s on %i, %i part(s): each step has rows, and each row a step", (algorithm, size, parts) => {
    const { steps, firstRow, from } = lineSteps(algorithm, size, parts);
    expect([firstRow.length, firstRow[0], firstRow[steps]]).toEqual([steps + 1, 0, from.length]);
    for (let now = 0; now < steps; now++) expect(firstRow[now + 1]).toBeGreaterThan(firstRow[now]);
  });

  it.each(CASES)(
    "%s on %i, %i part(s): the links it uses carry (P-1)/P of what the line holds, or of a part",
    (algorithm, size, parts) => {
      const { from, to, block, part } = lineSteps(algorithm, size, parts);
      const loads = new Map<string, number>();
      for (let row = 0; row < from.length; row++) {
        const ends = `${from[row]}>${to[row]}`;
        loads.set(ends, (loads.get(ends) ?? 0) + 1);
        if (algorithm === "line") expect(Math.abs(from[row] - to[row])).toBe(1);
        if (algorithm === "ring") expect((to[row] - from[row] + size) % size).toBe(part[row] === 0 ? 1 : size - 1);
        if (algorithm === "direct") expect(to[row]).toBe(block[row]);
      }
      if (algorithm === "ring") expect([...loads.values()]).toEqual(new Array(parts * size).fill(size - 1));
      if (algorithm === "line") expect(Math.max(...loads.values())).toBe(size - 1);
      if (algorithm === "direct") expect(Math.max(...loads.values())).toBe(1);
    },
  );

  it("has no steps where a switch sums, nor halving on a line of 6", () => {
    expect(() => lineSteps("offload", 4)).toThrow("no steps");
    expect(() => lineSteps("halving-doubling", 6)).toThrow("a line of 6");
  });
});

describe("topologyAware", () => {
  const dimension = { size: 8, bytesPerSecond: 1, stepPs: 0, inNetwork: true } as const;

  it("takes table 1's algorithms, a sweep on a line, a ring through a switch of another size than 2^k", () => {
    expect(topologyAware({ ...dimension, kind: "ring" }, false)).toBe("ring");
    expect(topologyAware({ ...dimension, kind: "fc" }, true)).toBe("direct");
    expect(topologyAware({ ...dimension, kind: "line" }, false)).toBe("line");
    expect(topologyAware({ ...dimension, kind: "switch" }, false)).toBe("halving-doubling");
    expect(topologyAware({ ...dimension, kind: "switch", size: 6 }, false)).toBe("ring");
  });

  it("lets switches sum that can, when asked", () => {
    expect(topologyAware({ ...dimension, kind: "switch" }, true)).toBe("offload");
    expect(topologyAware({ ...dimension, kind: "switch", inNetwork: false }, true)).toBe("halving-doubling");
  });

  it("uses a ring both ways, but not through a switch", () => {
    expect(partsOf({ ...dimension, kind: "ring" }, "ring")).toBe(2);
    expect(partsOf({ ...dimension, kind: "switch" }, "ring")).toBe(1);
    expect(partsOf({ ...dimension, kind: "ring", size: 2 }, "ring")).toBe(1);
  });
});
