import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { InputError } from "../../src/base/errors.ts";
import { looksLikeBys } from "../../src/import/schedules/bys.ts";
import { FRAME_BYTES } from "../../src/model/files/bys-format.ts";
import { presetTopology } from "../../src/model/presets/preset.ts";
import type { Schedule } from "../../src/model/slots/slot-schedule.ts";
import { frameAt, joined, put, put32, putTime, readAll, resealed, text, twice } from "../support/bys-files.ts";
import { greedySlots, ringSlots } from "../support/greedy-slots.ts";
import { damaged, missing, outOfRange, type Refusal, refusalFrom, unexpected } from "../support/refusals.ts";
import { ringSchedule } from "../support/ring-schedule.ts";
import { runs, seen, triesAll } from "../support/runs.ts";
import { isRefused } from "./support.ts";

const AS_TEXT = damaged("s.bys");

describe("readBys refuses", () => {
  const steps = joined(ringSchedule());
  const logs = joined(greedySlots(presetTopology("mesh:2x2"), "allreduce", 2, 1));
  const compact = joined(ringSlots(presetTopology("ring:4"), "allgather"));
  const files = [steps, logs, compact];
  const frame = frameAt(steps, 0);

  it.each<[string, Uint8Array, Refusal]>([
    ["nothing", new Uint8Array(0), missing("s.bys")],
    ["JSON", new TextEncoder().encode('{ "format": "banyan-schedule" }'), unexpected("s.bys", "another kind of file")],
    [
      "line ends changed",
      Uint8Array.from([...steps].flatMap((byte) => (byte === 0x0a ? [0x0d, 0x0a] : [byte]))),
      AS_TEXT,
    ],
    ["seven bits", steps.map((byte) => byte & 127), AS_TEXT],
    ["another encoding", new TextEncoder().encode(new TextDecoder("latin1").decode(steps)), AS_TEXT],
    ["another version", put(steps, 8, 2), unexpected("s.bys: version", 2)],
    ["a prefix", steps.slice(0, 11), damaged("s.bys", 11)],
    ["part of a header", steps.slice(0, 99), damaged("s.bys", 99)],
    ["a huge header", put32(steps, 12, 0xffffffff), damaged("s.bys", steps.length)],
    ["a changed header", put(steps, 50, 0), damaged("the header of s.bys")],
    ["no end block", steps.slice(0, -56), damaged("s.bys", 1208)],
    ["part of a block", steps.slice(0, frame + 40), damaged("s.bys", 1096, 0, 0, 5)],
    ["bytes after the end", Uint8Array.from([...steps, 0]), damaged("s.bys", 1)],
    ["a changed frame", put(steps, frame + 16, 7), damaged("block 0 of s.bys")],
    ["a changed row", put(steps, frame + 40, 7), damaged("block 0 of s.bys (rows 0 to 5)")],
    ["a changed end", put(steps, steps.length - 1, steps[steps.length - 1] ^ 1), damaged("block 1 of s.bys")],
    ["a block twice", twice(logs), damaged("block 1 of s.bys", 0)],
  ])("%s", (_, bytes, sentence) => expect(refusalFrom(() => readAll(bytes))).toEqual(sentence));

  // Files of a writer that is wrong or means harm: all checksums are right.
  const row = (at: number) => frame + FRAME_BYTES + at;
  const log = (at: number) => frameAt(logs, 0) + FRAME_BYTES + at;
  it.each<[string, Uint8Array, Refusal]>([
    ["no format", text(steps, "banyan-schedule", "banyan-topology"), unexpected("s.bys: format", "banyan-topology")],
    ["rows", text(steps, '"count": 6', '"count": 9'), unexpected("s.bys: transfers.count", 9, 6)],
    ["a frame's rows", put(steps, frame + 16, 5), unexpected("block 0 of s.bys", 120, 104)],
    ["a frame's first row", put(steps, frame + 8, 1), unexpected("block 0 of s.bys", 1)],
    ["a frame's type", put(steps, frame, 81), unexpected("block 0 of s.bys", "QOWS")],
    ["no rows", put(steps, frame + 16, 0), outOfRange("block 0 of s.bys", 0)],
    ["a huge block", put32(steps, frame + 20, 2 ** 31), outOfRange("block 0 of s.bys", 2147483648, 67108864)],
    ["chunk", put(steps, row(96), 3), unexpected("s.bys: transfers.chunk[0]", 3, 2)],
    ["route", put(steps, row(105), 3), unexpected("s.bys: transfers.route[1]", 3, 2)],
    ["operation", put(steps, row(114), 2), unexpected("s.bys: transfers.op[2]", 2)],
    ["start", putTime(steps, row(0), 0.5), unexpected("s.bys: transfers.startPs[0]", 0.5)],
    ["end", putTime(steps, row(48), Number.NaN), unexpected("s.bys: transfers.endPs[0]", NaN)],
    ["end before start", putTime(steps, row(48 + 40), 7), unexpected("s.bys: transfers.endPs[5]", 7, 1000000000)],
    ["no slots", text(logs, '"slots":', '"slits":'), missing("s.bys: transfers")],
    [
      "slot's length",
      text(logs, /"slotPs": \d+/, '"slotPs": 0'),
      unexpected("s.bys: slots.slotPs", 0, 1125899906842623),
    ],
    ["passes", text(logs, /"passes": \[.*\]/, '"passes": []'), unexpected("s.bys: slots.passes", 0, 16)],
    ["a pass", text(logs, '"reduces": true', '"reduces": null'), unexpected("s.bys: slots.passes[0].reduces", null)],
    ["origin", text(logs, '"origin": [0,', '"origin": [4,'), unexpected("s.bys: slots.origin[0]", 4, 3)],
    ["origins", text(logs, '"origin": [0,', '"origin": ['), unexpected("s.bys: slots.origin", 7, 8)],
    ["symmetry", text(logs, '"symmetry": null', '"symmetry": [2, 2, 1]'), unexpected("the blocks of s.bys", 4)],
    [
      "symmetry's size",
      text(compact, '"symmetry": [4]', '"symmetry": [5]'),
      unexpected("s.bys: slots.symmetry[0]", 5, 4),
    ],
    ["no symmetry", text(compact, '"symmetry": [4]', '"symmetry": [3]'), unexpected("s.bys: slots.symmetry", [3])],
    [
      "symmetric origin",
      text(compact, '"origin": [0,1,', '"origin": [1,0,'),
      unexpected("s.bys: slots.origin", "others"),
    ],
    ["no log", put(logs, frameAt(logs, 0) + 16, 3), unexpected("the blocks of s.bys", 3, 4)],
    ["chunk of a log", put(logs, log(16 + 9), 8), unexpected("block 0 of s.bys (logs 0 to 3), NPU 1", 8, 8)],
    ["ports of a log", put(logs, log(8), 77), unexpected("block 0 of s.bys (logs 0 to 3), NPU 2", 77, 4)],
    ["a port", put(logs, log(48), 4), unexpected("block 0 of s.bys (logs 0 to 3), NPU 0", 2, 2)],
    ["arrivals", put(logs, log(48), 0), unexpected("block 0 of s.bys (logs 0 to 3), NPU 0", 4, 6)],
  ])("a wrong %s", (_, bytes, sentence) => expect(refusalFrom(() => readAll(resealed(bytes)))).toEqual(sentence));

  it("every file with one bit turned over, and every part of a file", () => {
    for (const bytes of files) {
      const broken = bytes.slice();
      for (let bit = 0; bit < bytes.length * 8; bit += triesAll ? 1 : 7) {
        broken[bit >> 3] ^= 1 << (bit & 7);
        expect(() => readAll(broken)).toThrow(InputError);
        broken[bit >> 3] ^= 1 << (bit & 7);
      }
      for (let length = 0; length < bytes.length; length++) {
        expect(() => readAll(bytes.subarray(0, length))).toThrow(InputError);
      }
    }
  });

  it("any mutation with an InputError, also where all checksums are right, or answers with a schedule in range", () => {
    const change = fc.record({ at: fc.nat(), length: fc.nat(4), put: fc.uint8Array({ maxLength: 4 }) });
    let refused = 0;
    fc.assert(
      fc.property(
        fc.constantFrom(...files),
        fc.array(change, { minLength: 1, maxLength: 3 }),
        fc.boolean(),
        (bytes, changes, same) => {
          let mutant = Array.from(bytes);
          for (const { at, length, put } of changes) {
            // half of the changes lie in the blocks, which are the smaller part
            const from = at % 2 === 0 ? at % mutant.length : Math.max(0, mutant.length - 1 - (at % 260));
            mutant = [...mutant.slice(0, from), ...put, ...mutant.slice(from + (same ? put.length : length))];
          }
          if (isRefused(() => expectInRange(readAll(resealed(Uint8Array.from(mutant))) as Schedule))) refused++;
        },
      ),
      { numRuns: runs(5000) },
    );
    expect(refused).toBeGreaterThan(seen(3000));
  });

  it("what only begins like a .bys file is told from other files", () => {
    expect(files.every(looksLikeBys)).toBe(true);
    expect(looksLikeBys(new TextEncoder().encode("{}"))).toBe(false);
    expect(looksLikeBys(new TextEncoder().encode("BYS,from,to"))).toBe(false);
    expect(looksLikeBys(new Uint8Array(0))).toBe(false);
  });
});

function expectInRange(schedule: Schedule): void {
  const chunks = schedule.collective.chunkCount;
  if (!("slotPs" in schedule)) {
    expect(schedule.chunk.every((chunk) => chunk < chunks)).toBe(true);
    expect(schedule.route.every((route) => route < schedule.routes.source.length)).toBe(true);
    return;
  }
  const { rows } = schedule as unknown as { rows: { chunk: Uint8Array }[] };
  expect(rows.length).toBe(schedule.topology.npuCount);
  for (const { chunk } of rows) {
    expect(chunk.length).toBe(chunks);
    expect(chunk.every((c) => c < chunks)).toBe(true);
  }
}
