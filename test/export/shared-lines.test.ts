import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { dashesOf, type Place, sidewaysOf, stretches } from "../../src/export/pictures/svg-comparison.ts";

/** Lines over the same abscissas; few heights, so that many run over each other. */
const lines = fc
  .integer({ min: 2, max: 5 })
  .chain((columns) =>
    fc.array(fc.array(fc.integer({ min: 0, max: 3 }), { minLength: columns, maxLength: columns }), {
      minLength: 1,
      maxLength: 6,
    }),
  )
  .map((heights) => heights.map((line) => line.map((y, i): Place => ({ x: 100 * i, y: 20 * y }))));

describe("lines that run over each other", () => {
  it("keep their corners, and where several run exactly one has each turn", () => {
    fc.assert(
      fc.property(lines, (given) => {
        const drawn = stretches(given);
        for (const [i, ofLine] of drawn.entries()) {
          const corners = ofLine.flatMap((stretch, k) => stretch.corners.slice(k === 0 ? 0 : 1));
          expect(corners).toEqual(given[i]);
        }
        const columns = (given[0] as Place[]).length;
        for (let i = 0; i + 1 < columns; i++) {
          const there = drawn.map((ofLine) => ofLine.find(({ corners }) => (corners.at(-1) as Place).x > 100 * i));
          const together = new Map<string, number[]>();
          for (const [line, stretch] of there.entries()) {
            const [from, to] = [given[line]?.[i], given[line]?.[i + 1]];
            const key = `${from?.y} ${to?.y}`;
            together.set(key, [...(together.get(key) ?? []), stretch?.turn as number]);
            expect(stretch?.turns).toBe(given.filter((one) => one[i]?.y === from?.y && one[i + 1]?.y === to?.y).length);
          }
          for (const turns of together.values()) expect(turns).toEqual([...turns.keys()]);
        }
      }),
    );
  });

  it("are dashed only where they share their way", () => {
    const corners = [
      { x: 0, y: 0 },
      { x: 1, y: 1 },
    ];
    expect(dashesOf({ corners, turn: 0, turns: 1 })).toBe("");
    expect(dashesOf({ corners, turn: 1, turns: 3 })).toContain('stroke-dasharray="9 18" stroke-dashoffset="-9"');
  });

  it("have points side by side, none at the place of another, all within the room", () => {
    fc.assert(
      fc.property(lines, (given) => {
        const moved = sidewaysOf(given, { near: 5, apart: 8, room: 40 });
        const places = given.flatMap((line, i) => line.map(({ x, y }, j) => `${x + (moved[i]?.[j] as number)} ${y}`));
        expect(new Set(places).size).toBe(places.length);
        for (const by of moved.flat()) expect(Math.abs(by)).toBeLessThanOrEqual(20);
      }),
    );
  });
});
