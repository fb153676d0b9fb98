import { describe, expect, it } from "vitest";
import { scheduleToJson } from "../../../src/export/schedules/schedule-json.ts";
import { collective, type NamedCollective } from "../../../src/model/collective/collective.ts";
import { presetTopology } from "../../../src/model/presets/preset.ts";
import { expandSlots, slotTransferCount } from "../../../src/model/slots/slot-schedule.ts";
import {
  aboutBytes,
  bysBytesOf,
  type Estimate,
  estimateOf,
  jsonBytesOf,
  leastTransfers,
  meanHops,
  refuseWithoutMemory,
} from "../../../src/model/steps/estimate.ts";
import { without } from "../../../src/model/topology/modify.ts";
import { joined } from "../../support/bys-files.ts";
import { everyone } from "../../support/everyone.ts";
import { foldedSlots, keptFolded } from "../../support/folded-slots.ts";
import { greedySlots, ringSlots } from "../../support/greedy-slots.ts";
import { refusalFrom, unexpected } from "../../support/refusals.ts";

const GB = 1e9;

/** Returns the estimate of a collective among all NPUs of a preset, or of what is left of it. */
function estimate(preset: string, kind: NamedCollective, chunks = 1, gone: readonly string[] = []): Estimate {
  const topology = without(presetTopology(preset), gone);
  const npus = everyone(topology.npuCount);
  return estimateOf(topology, collective({ kind, groups: [npus], sizeBytes: 1e9, chunksPerNpu: chunks, rootRank: 0 }));
}

describe("estimates before the work", () => {
  it("of 40,000 NPUs: two bytes and some bits a transfer, in memory and in a file", () => {
    const { transfers, memoryBytes, bysBytes, jsonBytes } = estimate("mesh:200x200", "allgather", 1, ["0-1"]);
    expect(transfers).toBe(40_000 * 39_999);
    expect(bysBytes).toBeGreaterThan(3.6 * GB);
    expect(bysBytes).toBeLessThan(4.1 * GB);
    expect(memoryBytes).toBeGreaterThan(3.6 * GB);
    expect(memoryBytes).toBeLessThan(4.5 * GB);
    expect(jsonBytes).toBeGreaterThan(50 * GB);
  });

  it("count one log of each orbit where the network maps onto itself", () => {
    const { transfers, memoryBytes, bysBytes } = estimate("mesh:200x200", "allreduce");
    expect(transfers).toBe(2 * 40_000 * 39_999);
    // of 8 maps; the file was 499 MB
    expect(bysBytes).toBeGreaterThan(0.45 * GB);
    expect(bysBytes).toBeLessThan(0.52 * GB);
    expect(memoryBytes).toBeLessThan(0.55 * GB);
    const topology = presetTopology("mesh:200x200");
    const whole = collective({
      kind: "allgather",
      groups: [everyone(40_000)],
      sizeBytes: 1e9,
      chunksPerNpu: 1,
      rootRank: 0,
    });
    expect(estimateOf(topology, whole, false).memoryBytes).toBeGreaterThan(3.6 * GB);
  });

  it("are small where one log stands for all", () => {
    const { transfers, memoryBytes, bysBytes } = estimate("torus:200x200", "allreduce");
    expect(transfers).toBe(2 * 40_000 * 39_999);
    expect(bysBytes).toBeLessThan(0.1 * GB);
    expect(memoryBytes).toBeLessThan(0.1 * GB);
  });

  it("count transfers one by one where links differ, through switches and for other collectives", () => {
    for (const [preset, kind, least] of [
      ["mesh:40x40@50,75GB/s", "allgather", 1600 * 1599],
      ["switch:100", "allgather", 9900],
      ["mesh:40x40", "alltoall", 1600 * 1600],
      ["mesh:40x40", "broadcast", 1599],
    ] as const) {
      const { transfers, memoryBytes, bysBytes } = estimate(preset, kind);
      expect(transfers).toBe(least);
      expect(memoryBytes).toBeGreaterThan(40 * least);
      expect(bysBytes).toBeGreaterThan(20 * least);
    }
  });

  it("are not above what greedy schedules have, transfer by transfer", () => {
    for (const kind of ["allgather", "reducescatter", "allreduce"] as const) {
      const schedule = greedySlots(presetTopology("mesh:4x5"), kind, 3, 1);
      expect(leastTransfers(schedule.collective)).toBe(slotTransferCount(schedule));
      const { bysBytes } = estimateOf(schedule.topology, schedule.collective);
      expect(bysBytes).toBeLessThan(1.3 * joined(schedule).length);
    }
  });
});

describe("sizes of the files of a schedule", () => {
  it.each([
    ["mesh:6x6", 4],
    ["fc:12", 1],
    ["mesh:5x5x3", 1],
  ] as const)("of %s are met within a third", (preset, chunks) => {
    const slots = greedySlots(presetTopology(preset), "allgather", chunks, 3);
    const steps = expandSlots(slots);
    for (const [estimated, actual] of [
      [bysBytesOf(slots), joined(slots).length],
      [bysBytesOf(steps), joined(steps).length],
      [jsonBytesOf(slots), scheduleToJson(steps).length],
      [jsonBytesOf(steps), scheduleToJson(steps).length],
    ] as const) {
      expect(estimated / actual).toBeGreaterThan(0.75);
      expect(estimated / actual).toBeLessThan(1.34);
    }
  });

  it("count one log where it stands for all", () => {
    const ring = ringSlots(presetTopology("ring:64"), "allgather");
    expect(bysBytesOf({ ...ring, symmetry: null }) - bysBytesOf(ring)).toBe(63 * (64 + 32));
  });

  it("count the logs that stand for their orbits", () => {
    const mesh = keptFolded(foldedSlots(presetTopology("mesh:5x5"), "allgather", 3, 1));
    const saved = bysBytesOf({ ...mesh, symmetry: null }) - bysBytesOf(mesh);
    expect(saved).toBeGreaterThan((25 - 6) * 75);
    expect(saved).toBeLessThan((25 - 6) * (75 + mesh.slots + 1));
  });
});

describe("refuseWithoutMemory", () => {
  const needs = estimate("mesh:200x200", "allgather", 1, ["0-1"]);

  it("says what is needed and what there is", () => {
    expect(refusalFrom(() => refuseWithoutMemory(needs, 1.25 * 2 ** 30, "the topology"))).toEqual(
      unexpected("the topology", "one of about 1.6e+9 transfers, 3.6 GiB"),
    );
  });

  it("lets pass what fits, and all where nobody knows", () => {
    refuseWithoutMemory(needs, 8 * 2 ** 30, "x");
    refuseWithoutMemory(needs, null, "x");
  });
});

describe("aboutBytes", () => {
  it.each([
    [0, "0 B"],
    [1023, "1023 B"],
    [3.99e9, "3.7 GiB"],
    [150e6, "143 MiB"],
    [2 ** 50, "1024 TiB"],
  ])("of %d is %s", (bytes, text) => expect(aboutBytes(bytes)).toBe(text));
});

describe("meanHops", () => {
  it.each([
    ["switch:64", 2],
    ["ring:64", (64 * 64) / 4 / 63],
    ["torus:32x32", (32 / 4 + 32 / 4) * (1024 / 1023)],
    ["K(4,4)", (4 + 2 * 3) / 7],
  ])("of %s is %d", (name, hops) => {
    expect(meanHops(presetTopology(name))).toBeCloseTo(hops, 9);
  });

  it("of a grid, whose NPUs differ, is near the mean of all", () => {
    expect(meanHops(presetTopology("mesh:40x40"))).toBeGreaterThan(0.95 * (80 / 3));
    expect(meanHops(presetTopology("mesh:40x40"))).toBeLessThan(1.05 * (80 / 3));
  });
});
