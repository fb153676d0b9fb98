import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { add, rational, toNumber } from "../../../src/model/numbers/rational.ts";
import { PHASE_ALL_GATHER, type PhaseSchedule } from "../../../src/model/phases/phase-schedule.ts";
import { phaseTransfers, stepsOfPhases } from "../../../src/model/phases/phase-steps.ts";
import { transferCount } from "../../../src/model/steps/step-schedule.ts";
import { simulatePhases } from "../../../src/simulate/phases/phases.ts";
import { simulateSchedule } from "../../../src/simulate/steps/replay.ts";
import { blueconnect, themis } from "../../../src/synthesize/themis/themis.ts";
import { verifySchedule } from "../../../src/verify/steps/schedule.ts";
import { anyPhaseRequest, PHASE_COLLECTIVES, phaseRequest } from "../../support/phase-problems.ts";
import { unexpected } from "../../support/refusals.ts";
import { runs } from "../../support/runs.ts";

const NETWORKS = [
  "switch:8",
  "ring:7",
  "line:5",
  "fc:6",
  "switch:6",
  "switch:4*switch:4",
  "ring:4*switch:4",
  "fc:4*ring:4*switch:2",
  "mesh:3x4",
  "torus:4x4",
  "dgx-a100:2",
  "dgx-h100:2",
  "hypercube:4",
];

/** Returns the time of the steps in the network, of the phases dimension by dimension, and the transfers. */
function bothLevels(schedule: PhaseSchedule): { steps: number; phases: number; transfers: number } {
  const steps = stepsOfPhases(schedule);
  expect(verifySchedule(steps).violations).toEqual([]);
  expect(phaseTransfers(schedule)).toBe(transferCount(steps));
  return { steps: simulateSchedule(steps).ps, phases: simulatePhases(schedule).ps, transfers: transferCount(steps) };
}

describe("stepsOfPhases", () => {
  describe.each(PHASE_COLLECTIVES)("%s", (kind) => {
    it.each(NETWORKS)("on %s: valid, and as fast as dimension by dimension", (preset) => {
      for (const [sizeBytes, chunks] of [
        [2 ** 20, 1],
        [2 ** 20, 4],
        [2 ** 30, 4],
      ]) {
        for (const maker of [themis, blueconnect]) {
          const { schedule } = maker.makePhases(phaseRequest(preset, kind, sizeBytes, chunks));
          const { steps, phases, transfers } = bothLevels(schedule);
          expect(steps).toBeLessThanOrEqual(1.005 * phases + transfers);
        }
      }
    });
  });

  it("takes the time of the phases to the picosecond where no message can overtake the step of another", () => {
    for (const preset of ["ring:7@7GB/s,3us", "fc:6@3GB/s,1us", "switch:2@10GB/s,2us", "switch:5@9GB/s,0us"]) {
      for (const kind of PHASE_COLLECTIVES) {
        const { schedule } = themis.makePhases(phaseRequest(preset, kind, 210_000_000, 1));
        const { steps, phases } = bothLevels(schedule);
        expect(Math.abs(steps - phases)).toBeLessThanOrEqual(14);
      }
    }
  });

  it("is valid on any product; one chunk takes at most the time of its phases, several at most a tenth more", () => {
    fc.assert(
      fc.property(anyPhaseRequest, (request) => {
        const { schedule } = themis.makePhases(request);
        fc.pre(phaseTransfers(schedule) < 40_000);
        const { steps, phases, transfers } = bothLevels(schedule);
        expect(steps).toBeLessThanOrEqual((request.collective.chunksPerNpu === 1 ? 1 : 1.1) * phases + transfers);
        // no dimension sends faster than its bandwidth; links of a line that are idle while scattering are not while gathering
        for (const [d, { bytesSent }] of simulatePhases(schedule).dimensions.entries()) {
          const { kind, bytesPerSecond } = schedule.dimensions[d];
          if (kind === "line" && request.collective.kind === "allreduce") continue;
          expect(steps).toBeGreaterThanOrEqual((toNumber(bytesSent) / bytesPerSecond) * 1e12 * (1 - 1e-12));
        }
      }),
      { numRuns: runs(60) },
    );
  });

  it("cuts chunks in two where a ring is used both ways, and only there", () => {
    const chunks = (preset: string): number =>
      stepsOfPhases(themis.makePhases(phaseRequest(preset, "allreduce", 1000, 3)).schedule).collective.chunksPerNpu;
    expect(chunks("ring:4*switch:2")).toBe(6);
    expect(chunks("switch:3*fc:3")).toBe(3);
  });

  it("stays on the links of the phase's dimension where another switch joins the same NPUs", () => {
    const { schedule } = themis.makePhases(phaseRequest("dgx-a100:2", "allreduce", 2 ** 30, 1));
    const { topology } = schedule;
    const ib = topology.nodeNames.indexOf("ib");
    const { routes, route } = stepsOfPhases(schedule);
    for (const r of route) {
      const [from, to] = [routes.source[r], routes.target[r]];
      const through = topology.linkTarget[routes.links[routes.linkOffset[r]]];
      expect(through === ib).toBe(Math.floor(from / 8) !== Math.floor(to / 8));
    }
  });

  it("has no steps where a switch sums", () => {
    const { schedule } = themis.makePhases(phaseRequest("dgx-h100:2", "allreduce", 2 ** 20, 2, { offload: true }));
    expect(phaseTransfers(schedule)).toBe(Number.POSITIVE_INFINITY);
    expect(() => stepsOfPhases(schedule)).toThrow(unexpected("the phases", "offload"));
  });

  it("refuses phases that gather what is whole, and those of another network", () => {
    const { schedule } = themis.makePhases(phaseRequest("torus:4x4", "allreduce", 2 ** 20, 2));
    const gathering = { ...schedule, op: schedule.op.map(() => PHASE_ALL_GATHER) };
    expect(() => stepsOfPhases(gathering)).toThrow(unexpected("phase 0 (steps need a valid schedule)", "chunk 0"));
    const { topology } = phaseRequest("ring:16", "allreduce", 1, 1);
    expect(() => stepsOfPhases({ ...schedule, topology })).toThrow(unexpected("the phases", "ring:16"));
  });

  it("sends all in all what the phases send", () => {
    const { schedule } = themis.makePhases(phaseRequest("ring:4*fc:3", "allreduce", 12_000, 5));
    const steps = stepsOfPhases(schedule);
    const sent = simulatePhases(schedule).dimensions.map(({ bytesSent }) => bytesSent);
    const { chunkBytes } = steps.collective;
    const perNpu = rational(chunkBytes.num * BigInt(transferCount(steps)), chunkBytes.den * 12n);
    expect(perNpu).toEqual(sent.reduce(add));
  });
});
