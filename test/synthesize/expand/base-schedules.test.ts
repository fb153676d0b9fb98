import { describe, expect, it } from "vitest";
import { lineGraph, power, transpose } from "../../../src/model/direct/expansions.ts";
import { format } from "../../../src/model/rational.ts";
import { baseSchedule } from "../../../src/synthesize/expand/base-schedules.ts";
import { lineSchedule } from "../../../src/synthesize/expand/line.ts";
import { powerSchedule } from "../../../src/synthesize/expand/power.ts";
import { inOrder, played } from "../../support/comm-play.ts";

/** Table A.3: T_L / alpha; T_B is (N - 1) / N. */
const ROWS = [
  ["Diamond", [], 8, 3],
  ["DBJMod", [2, 3], 8, 4],
  ["DBJMod", [2, 4], 16, 5],
  ["DBJMod", [3, 2], 9, 3],
  ["DBJMod", [4, 2], 16, 3],
] as const;

const CASES = ROWS.flatMap((row) => [[...row, false] as const, [...row, true] as const]);

describe("schedules of the base graphs that are no breadth-first broadcasts (table A.3)", () => {
  it.each(CASES)(
    "%s(%s): %i nodes, %i steps, bandwidth-optimal; transposed: %s",
    (family, parameters, nodes, steps, transposed) => {
      const schedule = baseSchedule(family, parameters, transposed);
      if (schedule === null) throw new Error(`no schedule for ${family}(${parameters})`);
      const judged = played(schedule);
      expect(judged.complaint).toBeNull();
      expect(judged.repeated).toBe(0);
      expect(inOrder(schedule)).toBe(true);
      expect([judged.steps, format(judged.bandwidth)]).toEqual([steps, `${nodes - 1}/${nodes}`]);
    },
  );

  it("are for the transpose as it is numbered everywhere", () => {
    for (const [family, parameters] of ROWS) {
      const forward = baseSchedule(family, parameters, false);
      const back = baseSchedule(family, parameters, true);
      expect(back?.graph).toEqual(forward && transpose(forward.graph));
    }
  });

  it("are none for other families and parameters", () => {
    for (const [family, parameters] of [
      ["Diamond", [2]],
      ["DBJMod", []],
      ["DBJMod", [2, 5]],
      ["DBJ", [2, 3]],
    ] as const) {
      expect(baseSchedule(family, parameters, false)).toBeNull();
    }
  });

  it("grow into rows of table A.1: Diamond^2 in 6 steps, L(Diamond^2) in 7", () => {
    const base = baseSchedule("Diamond", [], false);
    if (base === null) throw new Error("no Diamond");
    const squared = powerSchedule(base, 2, power(base.graph, 2));
    const { complaint, steps, bandwidth } = played(squared);
    expect([complaint, steps, format(bandwidth)]).toEqual([null, 6, "63/64"]);
    const line = played(lineSchedule(squared, lineGraph(squared.graph)));
    expect([line.complaint, line.steps, format(line.bandwidth)]).toEqual([null, 7, "1"]);
  });
});
