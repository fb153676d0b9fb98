import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Engine } from "../../src/engine/types.ts";
import { lateSums } from "../../src/lower/late-sums.ts";
import { presetTopology } from "../../src/model/presets/preset.ts";
import { OP_REDUCE, type StepSchedule } from "../../src/model/steps/step-schedule.ts";
import type { TreeFlow } from "../../src/model/trees/tree-flow.ts";
import { stepsOfTrees } from "../../src/model/trees/tree-steps.ts";
import { synthesize } from "../../src/run/synthesize.ts";
import { plainEngine } from "../support/lowering-cases.ts";

let engine: Engine;
beforeAll(async () => {
  engine = await plainEngine();
});
afterAll(() => engine.close());

interface Row {
  readonly key: string;
  readonly from: string;
  readonly to: string;
  readonly sums: boolean;
  readonly start: number;
  readonly end: number;
}

/** Returns transfers by what they are; of trees each is there but once. */
function rowsOf({ chunk, route, routes, op, startPs, endPs }: StepSchedule): Map<string, Row> {
  const rows = Array.from(chunk, (c, i): Row => {
    const [source, target] = [routes.source[route[i]], routes.target[route[i]]];
    const ends = { from: `${c} at ${source}`, to: `${c} at ${target}` };
    const key = `${c} ${op[i]} ${source} ${target}`;
    return { key, ...ends, sums: op[i] === OP_REDUCE, start: startPs[i] as number, end: endPs[i] as number };
  });
  return new Map(rows.map((row) => [row.key, row]));
}

const NETWORKS = ["mesh:3x3", "ring:6", "dgx-a100:2", "grid:2x3x2", "K(4,4)"];

describe.each(NETWORKS)("on %s", (name) => {
  it.each(["reducescatter", "allreduce", "reduce"] as const)(
    "%s: every contribution as late as may be, all else as it was",
    async (collective) => {
      const topology = presetTopology(name);
      const request = { collective, sizeBytes: 2 ** 20, algorithm: "forestcoll", k: 1 } as const;
      const { schedule } = await synthesize(engine, topology, request, false);
      const steps = stepsOfTrees(schedule as TreeFlow, 1);
      const [before, after] = [rowsOf(steps), rowsOf(lateSums(steps))];
      expect([...after.keys()].sort()).toEqual([...before.keys()].sort());
      const last = Math.max(...steps.endPs);
      for (const row of before.values()) {
        const late = after.get(row.key) as Row;
        expect(late.end - late.start).toBe(row.end - row.start);
        if (!row.sums) {
          expect(late).toEqual(row);
          continue;
        }
        // what leaves the target of this chunk after it has come
        const next = [...before.values()].filter(({ from, start }) => from === row.to && start >= row.end);
        const until = next.map(({ key }) => (after.get(key) as Row).start);
        expect([row.key, late.end]).toEqual([row.key, Math.min(last, ...until)]);
      }
    },
  );

  it("all-gather: as it was", async () => {
    const request = { collective: "allgather", sizeBytes: 2 ** 20, algorithm: "forestcoll", k: 1 } as const;
    const { schedule } = await synthesize(engine, presetTopology(name), request, false);
    const steps = stepsOfTrees(schedule as TreeFlow, 1);
    expect(lateSums(steps)).toBe(steps);
  });
});
