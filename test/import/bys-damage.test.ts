import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { InputError } from "../../src/base/errors.ts";
import { looksLikeBys } from "../../src/import/schedules/bys.ts";
import { FRAME_BYTES } from "../../src/model/files/bys-format.ts";
import { presetTopology } from "../../src/model/presets/preset.ts";
import type { Schedule } from "../../src/model/slots/slot-schedule.ts";
import { frameAt, joined, put, put32, putTime, readAll, resealed, text, twice } from "../support/bys-files.ts";
import { greedySlots, ringSlots } from "../support/greedy-slots.ts";
import { ringSchedule } from "../support/ring-schedule.ts";
import { runs, seen, triesAll } from "../support/runs.ts";
import { isRefused, sentenceOf } from "./support.ts";

const AS_TEXT = "s.bys is damaged: its first bytes are those of a transfer as text";

describe("readBys refuses", () => {
  const steps = joined(ringSchedule());
  const logs = joined(greedySlots(presetTopology("mesh:2x2"), "allreduce", 2, 1));
  const compact = joined(ringSlots(presetTopology("ring:4"), "allgather"));
  const files = [steps, logs, compact];
  const frame = frameAt(steps, 0);

  it.each<[string, Uint8Array, string]>([
    ["nothing", new Uint8Array(0), "expected a .bys schedule file for s.bys but received nothing"],
    [
      "JSON",
      new TextEncoder().encode('{ "format": "banyan-schedule" }'),
      'expected a .bys schedule file for s.bys but received "another kind of file"',
    ],
    [
      "line ends changed",
      Uint8Array.from([...steps].flatMap((byte) => (byte === 0x0a ? [0x0d, 0x0a] : [byte]))),
      AS_TEXT,
    ],
    ["seven bits", steps.map((byte) => byte & 127), AS_TEXT],
    ["another encoding", new TextEncoder().encode(new TextDecoder("latin1").decode(steps)), AS_TEXT],
    [
      "another version",
      put(steps, 8, 2),
      "expected version 1, the only one this program reads, for s.bys: version but received 2",
    ],
    ["a prefix", steps.slice(0, 11), "s.bys is damaged: it ends after 11 bytes"],
    ["part of a header", steps.slice(0, 99), "s.bys is damaged: it ends within its header, after 99 bytes"],
    [
      "a huge header",
      put32(steps, 12, 0xffffffff),
      `s.bys is damaged: it ends within its header, after ${steps.length} bytes`,
    ],
    ["a changed header", put(steps, 50, 0), "the header of s.bys is damaged: its checksum does not match"],
    [
      "no end block",
      steps.slice(0, -56),
      `s.bys is damaged: it ends after ${steps.length - 56} bytes, before its end block`,
    ],
    [
      "part of a block",
      steps.slice(0, frame + 40),
      `s.bys is damaged: it ends after ${frame + 40} bytes, within block 0 of it (rows 0 to 5)`,
    ],
    ["bytes after the end", Uint8Array.from([...steps, 0]), "s.bys is damaged: 1 bytes follow its end block"],
    [
      "a changed frame",
      put(steps, frame + 16, 7),
      "block 0 of s.bys is damaged: the checksum of its frame does not match",
    ],
    [
      "a changed row",
      put(steps, frame + 40, 7),
      "block 0 of s.bys (rows 0 to 5) is damaged: its checksum does not match",
    ],
    [
      "a changed end",
      put(steps, steps.length - 1, steps[steps.length - 1] ^ 1),
      "block 1 of s.bys is damaged: its checksum does not match",
    ],
    ["a block twice", twice(logs), "block 1 of s.bys is damaged: it is block 0"],
  ])("%s", (_, bytes, sentence) => expect(sentenceOf(() => readAll(bytes))).toBe(sentence));

  // Files of a writer that is wrong or means harm: all checksums are right.
  const row = (at: number) => frame + FRAME_BYTES + at;
  const log = (at: number) => frameAt(logs, 0) + FRAME_BYTES + at;
  it.each<[string, Uint8Array, string]>([
    [
      "no format",
      text(steps, "banyan-schedule", "banyan-topology"),
      'expected "banyan-schedule" for s.bys: format but received "banyan-topology"',
    ],
    [
      "rows",
      text(steps, '"count": 6', '"count": 9'),
      "expected 6, the rows of the blocks, for s.bys: transfers.count but received 9",
    ],
    [
      "a frame's rows",
      put(steps, frame + 16, 5),
      "expected 104 bytes for its rows for block 0 of s.bys but received 120",
    ],
    ["a frame's first row", put(steps, frame + 8, 1), "expected what follows 0 for block 0 of s.bys but received 1"],
    ["a frame's type", put(steps, frame, 81), 'expected type ROWS for block 0 of s.bys but received "QOWS"'],
    ["no rows", put(steps, frame + 16, 0), "expected at least one row or NPU for block 0 of s.bys but received 0"],
    [
      "a huge block",
      put32(steps, frame + 20, 2 ** 31),
      "expected at most 67108864 bytes for block 0 of s.bys but received 2147483648",
    ],
    ["chunk", put(steps, row(96), 3), "expected an integer in 0 .. 2 for s.bys: transfers.chunk[0] but received 3"],
    ["route", put(steps, row(105), 3), "expected an integer in 0 .. 2 for s.bys: transfers.route[1] but received 3"],
    ["operation", put(steps, row(114), 2), "expected an integer in 0 .. 1 for s.bys: transfers.op[2] but received 2"],
    [
      "start",
      putTime(steps, row(0), 0.5),
      "expected an integer of 0 or more for s.bys: transfers.startPs[0] but received 0.5",
    ],
    [
      "end",
      putTime(steps, row(48), Number.NaN),
      "expected an integer of 0 or more for s.bys: transfers.endPs[0] but received NaN",
    ],
    [
      "end before start",
      putTime(steps, row(48 + 40), 7),
      "expected a time at or after startPs (1000000000) for s.bys: transfers.endPs[5] but received 7",
    ],
    ["no slots", text(logs, '"slots":', '"slits":'), "expected an object for s.bys: transfers but received nothing"],
    [
      "slot's length",
      text(logs, /"slotPs": \d+/, '"slotPs": 0'),
      "expected an integer in 1 .. 1125899906842623 for s.bys: slots.slotPs but received 0",
    ],
    [
      "passes",
      text(logs, /"passes": \[.*\]/, '"passes": []'),
      "expected 1 to 16 passes for s.bys: slots.passes but received 0",
    ],
    [
      "a pass",
      text(logs, '"reduces": true', '"reduces": null'),
      "expected true or false for s.bys: slots.passes[0].reduces but received null",
    ],
    [
      "origin",
      text(logs, '"origin": [0,', '"origin": [4,'),
      "expected an integer in 0 .. 3 for s.bys: slots.origin[0] but received 4",
    ],
    [
      "origins",
      text(logs, '"origin": [0,', '"origin": ['),
      "expected 8 NPUs, one a chunk, for s.bys: slots.origin but received 7",
    ],
    [
      "symmetry",
      text(logs, '"symmetry": null', '"symmetry": [2, 2, 1]'),
      "expected 1 arrival logs for the blocks of s.bys but received 4",
    ],
    [
      "symmetry's size",
      text(compact, '"symmetry": [4]', '"symmetry": [5]'),
      "expected an integer in 1 .. 4 for s.bys: slots.symmetry[0] but received 5",
    ],
    [
      "no symmetry",
      text(compact, '"symmetry": [4]', '"symmetry": [3]'),
      "expected sizes under whose translations ring:4 does not change for s.bys: slots.symmetry but received [3]",
    ],
    [
      "symmetric origin",
      text(compact, '"origin": [0,1,', '"origin": [1,0,'),
      'expected 1 chunks at each NPU in their order, as a symmetry needs, for s.bys: slots.origin but received "others"',
    ],
    ["no log", put(logs, frameAt(logs, 0) + 16, 3), "expected 4 arrival logs for the blocks of s.bys but received 3"],
    [
      "chunk of a log",
      put(logs, log(16 + 9), 8),
      "expected chunks below 8 for block 0 of s.bys (NPUs 0 to 3), NPU 1 but received 8",
    ],
    [
      "ports of a log",
      put(logs, log(8), 77),
      "expected ports of at most 4 bytes for block 0 of s.bys (NPUs 0 to 3), NPU 2 but received 77",
    ],
    [
      "a port",
      put(logs, log(48), 4),
      "expected ports below 2 for block 0 of s.bys (NPUs 0 to 3), NPU 0 but received 2",
    ],
    ["arrivals", put(logs, log(48), 0), "expected 6 arrivals for block 0 of s.bys (NPUs 0 to 3), NPU 0 but received 4"],
  ])("a wrong %s", (_, bytes, sentence) => expect(sentenceOf(() => readAll(resealed(bytes)))).toBe(sentence));

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
