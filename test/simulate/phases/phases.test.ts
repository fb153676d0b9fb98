import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { rational, toNumber } from "../../../src/model/numbers/rational.ts";
import {
  PHASE_ALL_GATHER,
  PHASE_REDUCE_SCATTER,
  type PhaseSchedule,
} from "../../../src/model/phases/phase-schedule.ts";
import { simulatePhases } from "../../../src/simulate/phases/phases.ts";
import { blueconnect, themis } from "../../../src/synthesize/themis/themis.ts";
import { anyPhaseRequest, phaseRequest } from "../../support/phase-problems.ts";
import { refused, unexpected } from "../../support/refusals.ts";

describe("simulatePhases", () => {
  it("replays two chunks over two dimensions as worked out by hand", () => {
    // 4 x 2 NPUs, 100 and 25 GB/s, 1 and 3 us through a switch; chunks of 4 MB
    const preset = "switch:4*switch:2@100,25GB/s,0.5,1.5us";
    const { schedule } = blueconnect.makePhases(phaseRequest(preset, "allreduce", 8_000_000, 2));
    const { ps, startPs, endPs, utilisation, dimensions } = simulatePhases(schedule);
    // dimension 0: 3 MB in 30 us + 2 us; dimension 1: 0.5 MB in 20 us + 3 us
    const rows = [...startPs].map((start, i) => [
      schedule.dimension[i],
      schedule.chunk[i],
      start / 1e6,
      endPs[i] / 1e6,
    ]);
    expect(rows).toEqual([
      [0, 0, 0, 32],
      [0, 1, 30, 62],
      [1, 0, 32, 55],
      [1, 0, 55, 78],
      [1, 1, 75, 98],
      [0, 0, 78, 110],
      [1, 1, 98, 121],
      [0, 1, 121, 153],
    ]);
    expect(ps).toBe(153_000_000);
    expect(dimensions.map(({ bytesSent }) => bytesSent)).toEqual([rational(12_000_000), rational(2_000_000)]);
    expect(dimensions.map((one) => toNumber(one.utilisation))).toEqual([120 / 153, 80 / 153]);
    expect(utilisation).toEqual(rational(14_000_000 * 1e6, 125_000 * 153_000_000));
  });

  it("gives the times with which schedules are made, and never uses more than there is", () => {
    fc.assert(
      fc.property(anyPhaseRequest, (request) => {
        for (const maker of [themis, blueconnect]) {
          const { schedule } = maker.makePhases(request);
          const { ps, startPs, endPs, utilisation, dimensions } = simulatePhases(schedule);
          expect(startPs).toEqual(schedule.startPs);
          expect(endPs).toEqual(schedule.endPs);
          expect(ps).toBe(Math.max(...endPs));
          for (const one of [...dimensions, { utilisation }]) {
            expect(toNumber(one.utilisation)).toBeGreaterThan(0);
            expect(one.utilisation.num <= one.utilisation.den).toBe(true);
          }
        }
      }),
    );
  });

  it("keeps the order of phases and drops their times", () => {
    const { schedule } = themis.makePhases(phaseRequest("ring:4*switch:4", "allreduce", 1e6, 8));
    const late: PhaseSchedule = {
      ...schedule,
      startPs: schedule.startPs.map((ps) => 3 * ps + 7),
      endPs: schedule.endPs.map((ps) => 3 * ps + 9),
    };
    expect(simulatePhases(late)).toEqual(simulatePhases(schedule));
  });

  it("lets a reduce-scatter and an all-gather run at once where switches sum", () => {
    const request = phaseRequest("dgx-h100", "allreduce", 8_000_000, 2, { offload: true });
    const { schedule } = blueconnect.makePhases(request);
    const { startPs, endPs, utilisation } = simulatePhases(schedule);
    // 4 MB x 9/8 at 450 GB/s: 10 us; 1 us to the switch and on
    expect([...startPs]).toEqual([0, 10e6, 11e6, 21e6]);
    expect([...endPs]).toEqual([11e6, 21e6, 22e6, 32e6]);
    expect(utilisation).toEqual(rational(9_000_000, 450_000 * 32));
  });

  it("of no phases takes no time", () => {
    const { schedule } = themis.makePhases(phaseRequest("ring:4", "allgather", 1000, 1));
    const none = new Uint8Array(0);
    const empty = { chunk: none, dimension: none, op: none, startPs: new Float64Array(0), endPs: new Float64Array(0) };
    expect(simulatePhases({ ...schedule, ...empty })).toMatchObject({ ps: 0, utilisation: rational(0) });
  });

  it.each([
    ["gathered", PHASE_ALL_GATHER, 0],
    ["scattered", PHASE_REDUCE_SCATTER, 1],
  ])("refuses a chunk that cannot be %s", (_, op, phase) => {
    const { schedule } = themis.makePhases(phaseRequest("ring:5", "allreduce", 1000, 1));
    expect(() => simulatePhases({ ...schedule, op: schedule.op.map(() => op) })).toThrow(
      unexpected(`phase ${phase} (simulate needs a valid schedule)`, "chunk 0", 5),
    );
  });

  it("refuses times beyond 2^53 ps", () => {
    const { schedule } = themis.makePhases(phaseRequest("ring:5@1GB/s", "allreduce", 1e14, 1));
    expect(() => simulatePhases(schedule)).toThrow(refused("too-long", "the simulated time", 80000000004000000, 2.5));
  });
});
