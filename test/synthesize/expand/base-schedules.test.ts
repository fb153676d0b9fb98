import { describe, expect, it } from "vitest";
import { commTimes } from "../../../src/model/comm/schedule.ts";
import { lineGraph, power, transpose } from "../../../src/model/direct/digraph.ts";
import { format } from "../../../src/model/numbers/rational.ts";
import { baseSchedule } from "../../../src/synthesize/expand/bases.ts";
import { lineSchedule, powerSchedule } from "../../../src/synthesize/expand/gather.ts";
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

  /** Rows of tables A.1 and 3.4: exponent, times the line graph is taken, T_L / alpha, T_B. */
  const GROWN = [
    ["Diamond", [], 2, 0, 6, "63/64"],
    ["Diamond", [], 2, 1, 7, "1"],
    ["Diamond", [], 2, 2, 8, "257/256"],
    ["DBJMod", [2, 4], 2, 0, 10, "255/256"],
    ["DBJMod", [2, 4], 2, 1, 11, "1"],
    ["DBJMod", [4, 2], 1, 1, 4, "1"],
    ["DBJMod", [4, 2], 1, 2, 5, "65/64"],
  ] as const;

  it.each(GROWN)(
    "%s(%s)^%i, line graph %i times: T_L %i, T_B %s",
    (family, parameters, exponent, times, steps, bandwidth) => {
      const base = baseSchedule(family, parameters, false);
      if (base === null) throw new Error(`no schedule for ${family}(${parameters})`);
      let grown = powerSchedule(base, exponent, power(base.graph, exponent));
      for (let i = 0; i < times; i++) grown = lineSchedule(grown, lineGraph(grown.graph));
      const found = commTimes(grown);
      expect([found.steps, format(found.bandwidth)]).toEqual([steps, bandwidth]);
      if (grown.graph.nodes <= 64) expect(played(grown).complaint).toBeNull();
    },
  );
});
