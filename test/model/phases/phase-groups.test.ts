import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { phasesToJson } from "../../../src/export/schedules/phases-json.ts";
import { judgeIndependently } from "../../../src/independent/independent.ts";
import { phasesBound } from "../../../src/model/bounds/limit.ts";
import { collective } from "../../../src/model/collective/collective.ts";
import type { PhaseSchedule } from "../../../src/model/phases/phase-schedule.ts";
import { phaseTransfers, stepsOfPhases } from "../../../src/model/phases/phase-steps.ts";
import { presetTopology } from "../../../src/model/presets/preset.ts";
import { transferCount } from "../../../src/model/steps/step-schedule.ts";
import { simulatePhases } from "../../../src/simulate/phases/phases.ts";
import { simulateSchedule } from "../../../src/simulate/steps/replay.ts";
import { blueconnect, themis } from "../../../src/synthesize/themis/themis.ts";
import { verifyPhases } from "../../../src/verify/phases/phases.ts";
import { verifySchedule } from "../../../src/verify/steps/schedule.ts";
import { groupsAlong } from "../../support/groups-along.ts";
import { PHASE_COLLECTIVES, phaseRequest } from "../../support/phase-problems.ts";
import { runs } from "../../support/runs.ts";

type Kind = (typeof PHASE_COLLECTIVES)[number];
interface Asked {
  readonly kind: Kind;
  readonly sizeBytes: number;
  readonly chunks: number;
}

const requestFor = (preset: string, groups: readonly number[][], { kind, sizeBytes, chunks }: Asked) => ({
  topology: presetTopology(preset),
  collective: collective({
    kind,
    groups: groups.map((members) => Int32Array.from(members)),
    sizeBytes,
    chunksPerNpu: chunks,
    rootRank: 0,
  }),
  policy: null,
  offload: false,
});

/** Holds a schedule against all judges: of phases, on their own and independent, and of the steps that they are. */
function expectRight(schedule: PhaseSchedule): void {
  expect(verifyPhases(schedule).violations).toEqual([]);
  expect(judgeIndependently(phasesToJson(schedule)).findings).toMatchObject([{ verdict: "checked" }]);
  const steps = stepsOfPhases(schedule);
  expect(transferCount(steps)).toBe(phaseTransfers(schedule));
  expect(verifySchedule(steps).violations).toEqual([]);
}

const columnsOf = ({ chunk, dimension, op, startPs, endPs }: PhaseSchedule) =>
  [chunk, dimension, op, startPs, endPs].map((column) => Array.from(column));

describe.each([
  ["switch:4*switch:4*switch:2", [4, 4, 2]],
  ["ring:4*fc:3*switch:2@100,50,25GB/s,0.5us", [4, 3, 2]],
] as const)("groups along some dimensions of %s", (preset, sizes) => {
  const factors = (preset.split("@")[0] as string).split("*");
  const rates = preset.includes("@") ? ["100", "50", "25"] : ["50", "50", "50"];
  const subsets = [[0], [1], [2], [0, 1], [0, 2], [1, 2], [2, 0], [0, 1, 2], [2, 1, 0]];

  it.each(subsets.map((subset) => [subset.join(), subset] as const))(
    "%s: as on a network of these alone",
    (_, subset) => {
      const alone = `${subset.map((d) => factors[d]).join("*")}@${subset.map((d) => rates[d]).join(",")}GB/s,0.5us`;
      const all = groupsAlong(sizes, subset);
      for (const kind of PHASE_COLLECTIVES) {
        for (const maker of [themis, blueconnect]) {
          const asked = { kind, sizeBytes: 3_000_000, chunks: 5 };
          const expected = maker.makePhases(phaseRequest(alone, kind, asked.sizeBytes, asked.chunks)).schedule;
          for (const groups of [all, all.slice(0, 1), all.slice(-2)]) {
            const { schedule } = maker.makePhases(requestFor(preset, groups, asked));
            expect(columnsOf(schedule)).toEqual(columnsOf(expected));
            expectRight(schedule);
            expect(simulatePhases(schedule).ps).toBe(simulatePhases(expected).ps);
            expect(phasesBound(schedule)).toEqual(phasesBound(expected));
            // groups share no link, so that their steps take as long as those of one
            expect(simulateSchedule(stepsOfPhases(schedule)).ps).toBe(simulateSchedule(stepsOfPhases(expected)).ps);
          }
        }
      }
    },
  );
});

describe("groups that are parts of dimensions", () => {
  it("have the times of dimensions of their size: any part of a switch or of a fully connected line", () => {
    fc.assert(
      fc.property(
        fc.constantFrom("fc", "switch"),
        fc.constantFrom(2, 3, 4, 8),
        fc.boolean(),
        fc.constantFrom(...PHASE_COLLECTIVES),
        fc.integer({ min: 1, max: 4 }),
        (kind, size, isStrided, collectiveKind, chunks) => {
          const many = Math.floor(16 / size);
          const groups = Array.from({ length: many }, (_, g) =>
            Array.from({ length: size }, (_, i) => (isStrided ? g + i * many : g * size + i)),
          );
          const asked = { kind: collectiveKind, sizeBytes: 1_000_000, chunks };
          const { schedule } = themis.makePhases(requestFor(`${kind}:16`, groups, asked));
          const { schedule: alone } = themis.makePhases(
            phaseRequest(`${kind}:${size}`, asked.kind, asked.sizeBytes, chunks),
          );
          expect(columnsOf(schedule)).toEqual(columnsOf(alone));
          expectRight(schedule);
        },
      ),
      { numRuns: runs(40) },
    );
  });

  it("over boxes and within them at once: tensor and data parallel groups of two boxes of 16", () => {
    const tensor = [0, 8, 16, 24].map((from) => Array.from({ length: 8 }, (_, i) => from + i));
    const data = Array.from({ length: 8 }, (_, i) => [i, i + 8, i + 16, i + 24]);
    for (const groups of [tensor, data]) {
      const asked = { kind: "allreduce", sizeBytes: 2 ** 20, chunks: 4 } as const;
      expectRight(themis.makePhases(requestFor("switch:16*switch:2", groups, asked)).schedule);
      expectRight(themis.makePhases(requestFor("fc:16*switch:2", groups, asked)).schedule);
    }
  });
});
