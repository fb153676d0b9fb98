import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import type { MilpRunner } from "../../../src/engine/contract/programs.ts";
import { boundOf } from "../../../src/model/bounds/bounds.ts";
import { COLLECTIVE_KINDS, type NamedCollective } from "../../../src/model/collective/collective.ts";
import { ceil } from "../../../src/model/numbers/rational.ts";
import { presetTopology } from "../../../src/model/presets/preset.ts";
import { routeTimes } from "../../../src/model/routes/routes.ts";
import { routesOf } from "../../../src/model/routes/routing.ts";
import { makespanPs } from "../../../src/model/steps/step-schedule.ts";
import { deadlineIn } from "../../../src/synthesize/deadline.ts";
import { scheduleOf } from "../../../src/synthesize/ilp/found-rows.ts";
import { byTermination, byWindows } from "../../../src/synthesize/ilp/partial.ts";
import { type Stages, stagesOf } from "../../../src/synthesize/ilp/stages.ts";
import { verifySchedule } from "../../../src/verify/steps/schedule.ts";
import { milpHere } from "../../support/milp-here.ts";
import { runs } from "../../support/runs.ts";
import { wholeCollective } from "../../support/synthesis.ts";

let milp: MilpRunner;
beforeAll(async () => {
  milp = await milpHere();
});

function problem(network: string, kind: NamedCollective, chunks: number, root = 0) {
  const topology = presetTopology(network);
  const collective = wholeCollective(topology, kind, 2 ** 20, chunks, root % topology.npuCount);
  const routes = routesOf(topology, "ports");
  const durations = [routeTimes(topology, routes, collective.chunkBytes).slotPs];
  const times = routeTimes(topology, routes, collective.chunkBytes);
  const lowPs = Number(ceil(boundOf(topology, collective, routes, times).ps));
  return { given: { topology, collective, routes, durations, slotPs: null }, lowPs };
}

/** A solver that never finds anything, as one that is stopped at once. */
const stopped: Stages = {
  list: [],
  leftMs: () => 0,
  timedOut: () => true,
  solve: async () => null,
  build: async (_, make) => make(() => true),
  repeat: async () => null,
};

describe.each(COLLECTIVE_KINDS)("%s in parts", (kind) => {
  const networks = fc.constantFrom("mesh:2x3", "ring:5", "switch:4", "ring:2*fc:3@200,100GB/s");
  const cases = fc.tuple(networks, fc.integer({ min: 1, max: 2 }), fc.nat(5));

  it("is right and not below its bound by time clustering", async () => {
    const property = fc.asyncProperty(cases, async ([network, chunks, root]) => {
      const { given, lowPs } = problem(network, kind, chunks, root);
      const moves = await byWindows(given, 2 * lowPs, stagesOf(milp, deadlineIn(20_000)));
      const { topology, collective, routes, durations } = given;
      const schedule = scheduleOf(topology, collective, routes, durations[0], moves ?? []);
      expect(verifySchedule(schedule).violations).toEqual([]);
      expect(makespanPs(schedule)).toBeGreaterThanOrEqual(lowPs);
    });
    await fc.assert(property, { numRuns: runs(5), seed: 3 });
  });

  it("is completed on shortest ways where the solver finds nothing", async () => {
    const property = fc.asyncProperty(cases, async ([network, chunks, root]) => {
      const { given, lowPs } = problem(network, kind, chunks, root);
      const { topology, collective, routes, durations } = given;
      const moves = await byWindows(given, 2 * lowPs, stopped);
      const schedule = scheduleOf(topology, collective, routes, durations[0], moves ?? []);
      expect(verifySchedule(schedule).violations).toEqual([]);
      expect(makespanPs(schedule)).toBeGreaterThanOrEqual(lowPs);
    });
    await fc.assert(property, { numRuns: runs(10), seed: 4 });
  });
});

describe("early termination", () => {
  const kinds = ["allgather", "reduce", "gather", "scatter"] as const;
  // exact times, and slots that no duration is a multiple of
  it.each(kinds.flatMap((kind) => [[kind, null] as const, [kind, 0.7] as const]))(
    "completes %s from the most deliveries, in slots of %s transfers",
    async (kind, part) => {
      const { given: exact, lowPs } = problem("mesh:2x3", kind, 1);
      const given = { ...exact, slotPs: part === null ? null : Math.round(part * exact.durations[0][0]) };
      const moves = await byTermination(given, 2 * lowPs, stagesOf(milp, deadlineIn(20_000)));
      const { topology, collective, routes, durations } = given;
      const schedule = scheduleOf(topology, collective, routes, durations[0], moves ?? []);
      expect(verifySchedule(schedule).violations).toEqual([]);
      expect(makespanPs(schedule)).toBeGreaterThanOrEqual(lowPs);
    },
  );
});
