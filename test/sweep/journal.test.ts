import { appendFileSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { contentHash } from "../../src/model/sweep/task.ts";
import { type Entry, openJournal } from "../../src/sweep/journal.ts";

const folder = mkdtempSync(join(tmpdir(), "banyan-journal-"));
afterAll(() => rmSync(folder, { recursive: true }));
let files = 0;
const fresh = (): string => join(folder, `${files++}.jsonl`);

const entry = (i: number, more: Partial<Entry> = {}): Entry => ({
  task: contentHash(String(i)),
  cells: { seed: String(i), name: 'für \u2028 "7"' },
  status: "done",
  why: null,
  rows: [{ us: i }],
  schedule: null,
  measured: { seconds: 0.5, peakMiB: 3, attempts: 1, worker: "here:1" },
  ...more,
});

describe("journal", () => {
  it("has what was written before, however it grows", () => {
    const path = fresh();
    const first = openJournal(path);
    for (let i = 0; i < 5000; i += 100) first.append(Array.from({ length: 100 }, (_, k) => entry(i + k)));
    first.close();
    const again = openJournal(path);
    expect(again.count).toBe(5000);
    for (const i of [0, 1, 777, 4999]) expect(again.entry(entry(i).task)).toEqual(entry(i));
    expect(again.status(contentHash("other"))).toBeNull();
    expect(again.entry(contentHash("other"))).toBeNull();
    again.close();
  });

  it("loses only the line that was being written, wherever it was cut", () => {
    const whole = fresh();
    const journal = openJournal(whole);
    journal.append([entry(1), entry(2)]);
    journal.close();
    const text = readFileSync(whole);
    const firstEnd = text.indexOf(10) + 1;
    for (let cut = firstEnd; cut < text.length; cut += 7) {
      const path = fresh();
      writeFileSync(path, text);
      truncateSync(path, cut);
      const torn = openJournal(path);
      expect([torn.count, torn.status(entry(2).task)]).toEqual([1, null]);
      torn.append([entry(2)]);
      torn.close();
      expect(readFileSync(path)).toEqual(text);
    }
  });

  it("counts a task's last line", () => {
    const path = fresh();
    const journal = openJournal(path);
    journal.append([entry(1, { status: "crashed", why: "it fell" }), entry(2)]);
    expect(journal.status(entry(1).task)).toBe("crashed");
    journal.append([entry(1)]);
    expect([journal.count, journal.status(entry(1).task)]).toEqual([2, "done"]);
    journal.close();
    const again = openJournal(path);
    expect([again.count, again.entry(entry(1).task)?.status]).toEqual([2, "done"]);
    again.close();
  });

  it("has lines longer than a block of reading", () => {
    const path = fresh();
    const journal = openJournal(path);
    const long = entry(1, { rows: Array.from({ length: 40_000 }, (_, us) => ({ us, name: "abcdefghij".repeat(4) })) });
    journal.append([entry(0), long, entry(2)]);
    journal.close();
    const again = openJournal(path);
    expect(again.entry(long.task)).toEqual(long);
    expect(again.entry(entry(2).task)).toEqual(entry(2));
    again.close();
  });

  it("says what no sweep wrote", () => {
    const path = fresh();
    const journal = openJournal(path);
    journal.append([entry(1)]);
    journal.close();
    appendFileSync(path, '{"something": 1}\n');
    expect(() => openJournal(path)).toThrow(/has something at byte \d+ that no sweep wrote/);
  });
});
