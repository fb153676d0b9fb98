import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { presetTopology } from "../../src/model/presets/preset.ts";
import {
  type ArrivalLog,
  expandSlots,
  type SlotSchedule,
  slotMakespanPs,
  slotTransferCount,
} from "../../src/model/slots/slot-schedule.ts";
import { topologyBuilder } from "../../src/model/topology/topology-builder.ts";
import { simulate } from "../../src/simulate/simulate.ts";
import { type Streams, windowFor } from "../../src/simulate/slots/replay.ts";
import { simulateSlots } from "../../src/simulate/slots/simulation.ts";
import { simulateSchedule } from "../../src/simulate/steps/replay.ts";
import { anyCayley } from "../support/cayley.ts";
import { greedySlots, ringSlots } from "../support/greedy-slots.ts";
import { missing, outOfRange, type Refusal, refusalFrom, unexpected } from "../support/refusals.ts";
import { runs } from "../support/runs.ts";
import { ROOTLESS, SLOT_KINDS } from "../support/slot-passes.ts";
import { anyManner, anyNetwork, busyAllReduce, someSlots, someSymmetricSlots } from "./any-slots.ts";

/** A schedule on a random network, and a window of time that holds so many transfers of its fastest link. */
const anySlots = (mostNpus: number): fc.Arbitrary<{ schedule: SlotSchedule; starts: number | undefined }> =>
  anyManner
    .chain((manner) =>
      fc.record({
        topology: anyNetwork(manner, mostNpus),
        kind: fc.constantFrom(...SLOT_KINDS),
        chunks: fc.integer({ min: 1, max: 3 }),
        manner: fc.constant(manner),
        starts: fc.constantFrom(undefined, 1, 2, 3, 8),
      }),
    )
    .map(({ topology, kind, chunks, manner, starts }) => ({
      schedule: someSlots(topology, kind, chunks, manner),
      starts,
    }));

const window = (starts: number | undefined) => (starts === undefined ? {} : { starts });

describe("replay of slot schedules", () => {
  it("is that of the schedule transfer by transfer, however long its windows are", () => {
    fc.assert(
      fc.property(anySlots(12), ({ schedule, starts }) => {
        expect(simulateSlots(schedule, window(starts))).toEqual(simulateSchedule(expandSlots(schedule)));
      }),
      { seed: 1, numRuns: runs(250) },
    );
  });

  it("keeps the times of contributions while others follow them closely", () => {
    fc.assert(
      fc.property(busyAllReduce, fc.constantFrom(1, 2, 3, 4), (schedule, starts) => {
        expect(simulateSlots(schedule, { starts })).toEqual(simulateSchedule(expandSlots(schedule)));
      }),
      { seed: 5, numRuns: runs(100) },
    );
  });

  it("is the same for both ways of switching, and never later than planned", () => {
    fc.assert(
      fc.property(anySlots(10), ({ schedule, starts }) => {
        const stored = simulateSlots(schedule, { switching: "store-and-forward", ...window(starts) });
        expect(stored).toEqual(simulateSchedule(expandSlots(schedule), { switching: "store-and-forward" }));
        expect(stored.ps).toBeLessThanOrEqual(slotMakespanPs(schedule));
      }),
      { seed: 2, numRuns: runs(60) },
    );
  });

  it.each(ROOTLESS)("counts the contributions of many neighbours: %s on a star of 40", (kind) => {
    const builder = topologyBuilder("star");
    for (let v = 0; v < 41; v++) builder.addNpu(`${v}`);
    for (let v = 1; v < 41; v++) builder.addDuplex(0, v, 1e9, 500 * v);
    const schedule = greedySlots(builder.build(), kind, 1, 1);
    expect(simulateSlots(schedule)).toEqual(simulateSchedule(expandSlots(schedule)));
  });

  it("tells how many transfers have started, all of them at last", () => {
    const schedule = greedySlots(presetTopology("mesh:4x4"), "allreduce", 2, 1);
    const told: number[] = [];
    const total = slotTransferCount(schedule);
    simulateSlots(schedule, {
      starts: 2,
      onProgress: (done, all) => {
        told.push(done);
        expect(all).toBe(total);
      },
    });
    expect(told.length).toBeGreaterThan(10);
    expect(told).toEqual([...told].sort((a, b) => a - b));
    expect(told.at(-1)).toBe(total);
  });

  it("expands schedules whose routes are not links", () => {
    const schedule = greedySlots(presetTopology("switch:5"), "allgather", 2, 1);
    expect(schedule.routes.links.length).toBeGreaterThan(schedule.routes.source.length);
    expect(simulateSlots(schedule)).toEqual(simulateSchedule(expandSlots(schedule)));
  });

  it("takes either kind of schedule, and gives slot schedules a timeline by expanding them", () => {
    const schedule = greedySlots(presetTopology("ring:5"), "allgather", 1, 1);
    const steps = expandSlots(schedule);
    expect(simulate(schedule)).toEqual(simulateSchedule(steps));
    expect(simulate(steps)).toEqual(simulateSchedule(steps));
    expect(simulate(schedule, { timeline: true })).toEqual(simulateSchedule(steps, { timeline: true }));
  });
});

describe("replay of symmetric slot schedules", () => {
  const symmetric = (shuffled: boolean) =>
    fc
      .record({
        cayley: anyCayley(30),
        kind: fc.constantFrom(...ROOTLESS),
        chunks: fc.integer({ min: 1, max: 3 }),
        manner: anyManner,
      })
      .map(({ cayley, kind, chunks, manner }) => someSymmetricSlots(cayley, kind, chunks, manner, shuffled))
      .filter((schedule) => schedule !== null);

  it("is that of all rows, and asks for the first only", () => {
    fc.assert(
      fc.property(symmetric(false), (schedule) => {
        const row = (npu: number): ArrivalLog => {
          if (npu !== 0) throw new Error(`asked for row ${npu}`);
          return schedule.row(0);
        };
        const alone = simulateSlots({ ...schedule, row });
        expect(alone).toEqual(simulateSlots({ ...schedule, symmetry: null }));
        expect(alone).toEqual(simulateSchedule(expandSlots(schedule)));
      }),
      { seed: 3, numRuns: runs(100) },
    );
  });

  it("is that of all rows where one link differs", () => {
    fc.assert(
      fc.property(symmetric(false), fc.nat(), (schedule, which) => {
        const { topology } = schedule;
        const linkBytesPerSecond = topology.linkBytesPerSecond.slice();
        linkBytesPerSecond[which % linkBytesPerSecond.length] *= 2;
        const changed = { ...schedule, topology: { ...topology, linkBytesPerSecond } };
        expect(simulateSlots(changed)).toEqual(simulateSchedule(expandSlots(changed)));
      }),
      { seed: 4, numRuns: runs(40) },
    );
  });

  it("is that of all rows where parallel links are not mirrored alike everywhere", () => {
    fc.assert(
      fc.property(symmetric(true), (schedule) => {
        expect(simulateSlots(schedule)).toEqual(simulateSchedule(expandSlots(schedule)));
      }),
      { seed: 6, numRuns: runs(100) },
    );
  });

  it("takes 100 slots for a ring of 200", () => {
    const n = 200;
    const ring = topologyBuilder("ring");
    for (let v = 0; v < n; v++) ring.addNpu(`${v}`);
    for (let v = 0; v < n; v++) ring.addDuplex(v, (v + 1) % n, 1e9, 0);
    const { ps, linkBusyPs } = simulateSlots(ringSlots(ring.build(), "allgather"));
    expect(ps).toBe(100 * 5_000_000);
    expect(linkBusyPs[0]).toBe(ps);
    expect(linkBusyPs[1]).toBe(ps - 5_000_000);
  });
});

describe("slot schedules that cannot be replayed", () => {
  const ring = greedySlots(presetTopology("ring:4"), "allgather", 1, 1);
  const refusal = (schedule: SlotSchedule) => refusalFrom(() => simulateSlots(schedule));
  /** The ring with another log for NPU 1; [0, 1, 2, 3] come from 0, 2, 2 in turn. */
  const withLog = (chunk: readonly number[], ports: readonly number[], schedule = ring): SlotSchedule => ({
    ...schedule,
    row: (npu) => (npu === 1 ? { chunk: Uint8Array.from(chunk), ports: Uint8Array.from(ports) } : schedule.row(npu)),
  });

  const arrivals = "the arrivals at NPU 1 (simulate needs a valid schedule)";
  it.each<[string, readonly number[], readonly number[], Refusal]>([
    ["too short", [1, 0, 2], [3], unexpected(arrivals, 3, 4)],
    ["a chunk twice", [1, 0, 2, 2], [3, 2], unexpected(arrivals, 2, 4)],
    ["no such chunk", [1, 0, 2, 9], [3, 2], unexpected(arrivals, 9, 4)],
    ["its own chunk later", [0, 1, 2, 3], [3, 2], unexpected(arrivals, 0)],
    ["too few arrivals", [1, 0, 2, 3], [3], unexpected(arrivals, 2, 3)],
    ["too many arrivals", [1, 0, 2, 3], [3, 3], unexpected(arrivals, 4, 3)],
    ["no such port", [1, 0, 2, 3], [3, 4], unexpected(arrivals, Number.POSITIVE_INFINITY, 3)],
  ])("names the NPU of a log with %s", (_, chunk, ports, sentence) => {
    expect(refusal(withLog(chunk, ports))).toEqual(sentence);
  });

  it.each(ROOTLESS)("names a chunk that goes in a circle (%s)", (kind) => {
    const line = greedySlots(presetTopology("mesh:3"), kind, 1, 1);
    // 1 and 2 have chunk 0 from each other
    const logs = [
      { chunk: Uint8Array.of(0, 1, 2), ports: Uint8Array.of(1, 1) },
      { chunk: Uint8Array.of(1, 2, 0), ports: Uint8Array.of(2, 2) },
      { chunk: Uint8Array.of(2, 1, 0), ports: Uint8Array.of(1, 1) },
    ];
    const schedule = { ...line, row: (npu: number) => logs[npu] as ArrivalLog };
    expect(refusal(schedule)).toMatchObject({
      mistake: "missing",
      place: expect.stringMatching(/^transfer [01] over route [13] /),
    });
  });

  it("names a chunk that an NPU sends to all its neighbours although it comes from one", () => {
    const reduce = greedySlots(presetTopology("ring:4"), "reducescatter", 1, 1);
    const ports = [0, 1, 2, 3].map((v) => [...reduce.routes.source].filter((_, r) => reduce.routes.target[r] === v));
    const log = (v: number, arrivals: readonly (readonly [number, number])[]): ArrivalLog => ({
      chunk: Uint8Array.from([v, ...arrivals.map(([chunk]) => chunk)]),
      ports: Uint8Array.from(arrivals, ([, from]) => 1 << (ports[v] as number[]).indexOf(from)),
    });
    const logs = [
      log(0, [
        [1, 1],
        [3, 1],
        [2, 3],
      ]),
      log(1, [
        [0, 0],
        [2, 2],
        [3, 0],
      ]),
      log(2, [
        [1, 1],
        [3, 1],
        [0, 3],
      ]),
      log(3, [
        [2, 2],
        [0, 0],
        [1, 0],
      ]),
    ];
    expect(refusal({ ...reduce, row: (npu) => logs[npu] as ArrivalLog })).toEqual(
      missing("chunk 3 at NPU 1 (simulate needs a valid schedule)"),
    );
  });

  it("refuses to run backwards over routes without a way back", () => {
    // unwound to a ring in one direction
    expect(refusal(greedySlots(presetTopology("switch:5"), "allreduce", 1, 1))).toEqual(
      missing("the pass that runs backwards (simulate needs a valid schedule)"),
    );
  });

  it("refuses to expand very many transfers", () => {
    const schedule = greedySlots(presetTopology("switch:5"), "allgather", 1, 1);
    const large = { ...schedule, collective: { ...schedule.collective, chunkCount: 1e9 } };
    expect(refusal(large)).toEqual(unexpected("the simulation of more than 50000000 transfers in slots", 4000000000));
    expect(() => simulate(large, { timeline: true })).toThrow(
      unexpected("a timeline of more than 50000000 transfers in slots", 4000000000),
    );
  });

  it("refuses more chunks on their way than it has room for", () => {
    const streams = {
      serialPs: Float64Array.of(1, 1),
      travelPs: Float64Array.of(1e9, 1),
      count: Int32Array.of(2 ** 30, 1),
    } as Streams;
    expect(() => windowFor(streams, false)).toThrow(
      outOfRange("chunks on their way on one link", 1000000000, 67108862),
    );
  });

  it("refuses an unknown way of switching", () => {
    expect(() => simulateSlots(ring, { switching: "warp" as never })).toThrow(unexpected("options.switching", "warp"));
  });
});
