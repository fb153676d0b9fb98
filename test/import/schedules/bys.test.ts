import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { DamagedFileError } from "../../../src/base/errors.ts";
import { random } from "../../../src/base/random.ts";
import { type ByteSource, bytesSource, readBys, readBysTopology } from "../../../src/import/schedules/bys.ts";
import { collective } from "../../../src/model/collective/collective.ts";
import { LOGS, PREFIX_BYTES } from "../../../src/model/files/bys-format.ts";
import { presetTopology } from "../../../src/model/presets/preset.ts";
import { expandSlots, type SlotSchedule } from "../../../src/model/slots/slot-schedule.ts";
import type { StepSchedule } from "../../../src/model/steps/step-schedule.ts";
import { topologyHash } from "../../../src/model/topology/topology.ts";
import { anySchedule } from "../../support/any-schedule.ts";
import { blocksOf, contents, joined, read, resealed, text } from "../../support/bys-files.ts";
import { everyone } from "../../support/everyone.ts";
import { FOLDED_NETWORKS, foldedSlots, keptFolded } from "../../support/folded-slots.ts";
import { greedySlots, ringSlots } from "../../support/greedy-slots.ts";
import { damaged, refusalFrom, unexpected } from "../../support/refusals.ts";
import { expectSameTransfers, longRingSchedule, ringSchedule } from "../../support/ring-schedule.ts";
import { runs } from "../../support/runs.ts";
import { ROOTLESS } from "../../support/slot-passes.ts";

describe("readBys", () => {
  it("gives back any step schedule", () => {
    fc.assert(
      fc.property(anySchedule(), (schedule) => {
        expect(read(joined(schedule, { seed: 1 }))).toEqual(schedule);
      }),
      { numRuns: runs(200) },
    );
  });

  it("gives back rows over several blocks", () => {
    const long = longRingSchedule(2 ** 19 + 3);
    expectSameTransfers(read(joined(long)) as StepSchedule, long);
  });

  it.each(ROOTLESS)("gives back the arrival logs of an %s", (kind) => {
    for (const [name, chunks] of [
      ["mesh:3x4", 1],
      ["fc:11", 2],
      ["mesh:2x2", 65],
      ["ring:3", 100],
    ] as const) {
      const schedule = greedySlots(presetTopology(name), kind, chunks, 5);
      const again = read(joined(schedule)) as SlotSchedule;
      expect(contents(again)).toEqual(contents(schedule));
      expect(expandSlots(again)).toEqual(expandSlots(schedule));
    }
  });

  it.each(ROOTLESS)("keeps one log of an %s that translations leave as it is", (kind) => {
    const schedule = ringSlots(presetTopology("ring:9"), kind);
    const bytes = joined(schedule);
    const again = read(bytes) as SlotSchedule;
    expect(again.symmetry).toEqual([9]);
    expect(contents(again)).toEqual(contents(schedule));
    const plain = joined({ ...schedule, symmetry: null });
    expect(plain.length - bytes.length).toBeGreaterThanOrEqual(8 * 9);
    expect(contents(read(plain) as SlotSchedule)).toEqual({ ...(contents(schedule) as object), symmetry: null });
  });

  it("sorts rows that are out of order", () => {
    const ring = ringSchedule();
    const turned = { ...ring };
    for (const name of ["chunk", "route", "startPs", "endPs", "op"] as const) {
      Object.assign(turned, { [name]: ring[name].slice().reverse() });
    }
    expect(read(joined(turned))).toEqual(ring);
  });

  it("accepts the network that it is for and refuses another, as for JSON", () => {
    const bytes = joined(ringSchedule());
    const { topology } = ringSchedule();
    expect(read(bytes, { topology })).toEqual(ringSchedule());
    expect(readBysTopology(bytesSource(bytes), "s.bys")).toEqual(topology);
    const line = presetTopology("mesh:2");
    expect(refusalFrom(() => read(bytes, { topology: line }))).toEqual(
      unexpected(
        "s.bys",
        `one for another topology, ring3 (hash ${topologyHash(topology)})`,
        line.name,
        topologyHash(line),
      ),
    );
  });
});

describe("arrival logs are read when they are asked for", () => {
  const schedule = largeLogs();
  const bytes = joined(schedule);

  function counted(): { source: ByteSource; reads: () => number } {
    const { size, read } = bytesSource(bytes);
    let reads = 0;
    const source = {
      size,
      read: (offset: number, length: number) => {
        if (length > 1e6) reads++;
        return read(offset, length);
      },
    };
    return { source, reads: () => reads };
  }

  it("reads no block before, each once where all fit, and again where not", () => {
    const { source, reads } = counted();
    const blocks = blocksOf(bytes).filter(({ type }) => type === LOGS);
    expect(blocks.length).toBeGreaterThan(2);
    const ample = readBys(source, "s.bys") as SlotSchedule;
    expect(reads()).toBe(0);
    for (let round = 0; round < 2; round++) for (const { first } of blocks) ample.row(first);
    expect(reads()).toBe(blocks.length);
    const scarce = readBys(source, "s.bys", { cacheBytes: 1 }) as SlotSchedule;
    const kept = scarce.row(0);
    const before = kept.chunk.slice();
    for (let round = 0; round < 2; round++) for (const { first } of blocks) scarce.row(first);
    // the first block was there already in the first round
    expect(reads()).toBe(3 * blocks.length);
    expect(kept.chunk).toEqual(before);
  });

  it("lets go of the block that was used longest ago", () => {
    const { source, reads } = counted();
    const [a, b, c] = blocksOf(bytes).filter(({ type }) => type === LOGS);
    const two = readBys(source, "s.bys", { cacheBytes: a.length + b.length }) as SlotSchedule;
    for (const { first } of [a, b, a, c, a]) two.row(first);
    expect(reads()).toBe(3);
    two.row(b.first);
    expect(reads()).toBe(4);
  });

  it("names the damaged block when it is asked for, every time", () => {
    const [, second] = blocksOf(bytes).filter(({ type }) => type === LOGS);
    const broken = bytes.slice();
    broken[second.offset + 1234] ^= 4;
    const found = read(broken) as SlotSchedule;
    expect(found.row(0)).toEqual(schedule.row(0));
    const last = second.first + second.count - 1;
    for (const npu of [second.first, last]) {
      expect(refusalFrom(() => found.row(npu))).toEqual(damaged("block 1 of s.bys (logs 305 to 609)"));
    }
  });

  it("says when the file has become shorter", () => {
    const { size, read } = bytesSource(bytes);
    let end = size;
    const source = { size, read: (at: number, length: number) => read(at, Math.max(0, Math.min(length, end - at))) };
    const found = readBys(source, "s.bys") as SlotSchedule;
    end = PREFIX_BYTES + 200_000;
    expect(() => found.row(0)).toThrow(DamagedFileError);
  });
});

/** Returns logs whose content does not matter: 1,100 NPUs in a ring, 20 chunks each, 60 MB. */
function largeLogs(): SlotSchedule {
  const { topology, routes } = ringSlots(presetTopology("ring:1100"), "allgather");
  const { below } = random(7);
  const content = Uint16Array.from({ length: 22_000 }, () => below(22_000));
  return {
    ...ringSlots(presetTopology("ring:4"), "allgather"),
    topology,
    routes,
    collective: collective({
      kind: "allgather",
      groups: [Int32Array.from({ length: 1100 }, (_, npu) => npu)],
      sizeBytes: 1e6,
      chunksPerNpu: 20,
      rootRank: 0,
    }),
    origin: Int32Array.from({ length: 22_000 }, (_, c) => Math.floor(c / 20)),
    slots: 10_990,
    symmetry: null,
    row: (npu) => ({ chunk: content.map((chunk) => (chunk ^ npu) % 22_000), ports: new Uint8Array(10_990).fill(3) }),
  };
}

describe("logs that stand for their orbits", () => {
  const made = foldedSlots(presetTopology("mesh:4x4"), "allgather", 2, 3);
  const schedule = keptFolded(made);

  it.each(ROOTLESS)("are all that is kept of an %s", (kind) => {
    for (const network of FOLDED_NETWORKS) {
      const one = keptFolded(foldedSlots(network(), kind, 2, 1));
      const bytes = joined(one);
      const again = read(bytes) as SlotSchedule;
      expect(again.symmetry).toEqual(one.symmetry);
      expect(expandSlots(again)).toEqual(expandSlots(one));
      expect(bytes.length).toBeLessThan(joined({ ...one, symmetry: null }).length);
      expect(joined(again)).toEqual(bytes);
    }
  });

  const [first = [], second = []] = made.generators.map((map) => [...map]);
  it.each<[string, unknown, string]>([
    ["a word", "all", 'slots.symmetry is "all"; it must be null, a list of sizes, or maps'],
    ["no maps", {}, "slots.symmetry.maps is missing"],
    ["a short map", { maps: [first.slice(1)] }, "slots.symmetry.maps[0] has 15"],
    ["an NPU that there is not", { maps: [first, [...second.slice(1), 16]] }, "slots.symmetry.maps[1]"],
    ["an NPU twice", { maps: [[...first.slice(1), first[1]]] }, "slots.symmetry.maps[0] has some twice"],
    ["too many maps", { maps: Array(9).fill(first) }, "slots.symmetry.maps"],
    [
      "too large a group",
      { maps: [everyone(16).map((v) => (v + 1) % 16), everyone(16).with(0, 1).with(1, 0)].map((map) => [...map]) },
      "slots.symmetry.maps",
    ],
    ["a map of other networks", { maps: [[...everyone(16).with(0, 1).with(1, 0)]] }, "arrival logs"],
  ])("are refused with %s", (_, symmetry, message) => {
    const changed = text(
      joined(schedule),
      /"symmetry": \{ "maps": .*\},?\n/,
      `"symmetry": ${JSON.stringify(symmetry)},\n`,
    );
    expect(() => read(resealed(changed))).toThrow(message);
  });
});
