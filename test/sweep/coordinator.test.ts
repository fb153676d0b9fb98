import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import { CancelledError } from "../../src/base/errors.ts";
import { contentHash, type Job, type Outcome, type SweepTask } from "../../src/model/sweep/task.ts";
import { coordinate, type Placed } from "../../src/sweep/coordinator.ts";
import type { SweepEngine } from "../../src/sweep/engine.ts";
import { openJournal } from "../../src/sweep/journal.ts";

const folder = mkdtempSync(join(tmpdir(), "banyan-coordinator-"));
afterAll(() => rmSync(folder, { recursive: true }));
let files = 0;

const task: SweepTask = { verb: "bound", topology: "mesh:2x2", options: {}, inputs: {}, keep: false };
const placed = (i: number): Placed => ({
  job: { hash: contentHash(String(i)), task, budget: { timeMs: null, memoryBytes: null } },
  cells: { seed: i },
});
const outcome = (hash: string, status: Outcome["status"] = "done"): Outcome => ({
  ...{ hash, status, why: null, rows: [], schedule: null },
  measured: { seconds: 0, peakMiB: null, attempts: 1, worker: "here" },
});

/** An engine that gives tasks back in another order, some twice, as many at a time as it is told. */
function fakeEngine(window: number, batch: (round: number) => number, twice: (round: number) => boolean) {
  const held: Job[] = [];
  const settled = new Set<string>();
  let most = 0;
  let begun = 0;
  let round = 0;
  let late: Outcome[] = [];
  const engine: SweepEngine = {
    window,
    submit: async (jobs) => {
      held.push(...jobs);
      begun += jobs.length;
      most = Math.max(most, held.length);
    },
    ended: async () => {
      round++;
      const count = Math.max(1, Math.min(held.length, batch(round)));
      const taken = held.splice(round % 2 === 0 ? 0 : held.length - count, count).map(({ hash }) => outcome(hash));
      const again = late;
      late = twice(round) ? taken : [];
      // some twice at once
      return [...again, ...taken, ...(round % 5 === 0 ? taken : [])];
    },
    settled: async (hashes) => {
      for (const hash of hashes) settled.add(hash);
    },
    state: () => ({ workers: 1, pending: held.length }),
    cancel: async () => undefined,
    close: async () => undefined,
  };
  return { engine, settled, most: () => most, begun: () => begun };
}

const rest = { again: [], signal: new AbortController().signal, onProgress: () => undefined };

describe("coordinator", () => {
  it("records every task once, whatever the engine's order and repetitions, with no more than its window at hand", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 0, max: 30 }), { maxLength: 60 }),
        fc.integer({ min: 1, max: 9 }),
        fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 5 }),
        async (tasks, window, batches) => {
          const journal = openJournal(join(folder, `${files++}`));
          const fake = fakeEngine(
            window,
            (round) => batches[round % batches.length] as number,
            (round) => round % 3 === 0,
          );
          const { done } = await coordinate(tasks.map(placed), { ...rest, engine: fake.engine, journal });
          const unlike = new Set(tasks);
          expect(journal.count).toBe(unlike.size);
          for (const i of unlike) expect(journal.entry(placed(i).job.hash)?.cells).toEqual({ seed: i });
          expect(fake.most()).toBeLessThanOrEqual(window);
          for (const i of unlike) expect(fake.settled.has(placed(i).job.hash)).toBe(true);
          expect(done).toBeGreaterThanOrEqual(unlike.size);
          journal.close();
        },
      ),
      { numRuns: 50 },
    );
  });

  it("hands over nothing that has an outcome, but for those that are to be done again", async () => {
    const path = join(folder, `${files++}`);
    const journal = openJournal(path);
    const tasks = [0, 1, 2, 3].map(placed);
    for (const [i, status] of (["done", "crashed", "timeout"] as const).entries()) {
      const { hash, ...rest } = outcome((tasks[i] as Placed).job.hash, status);
      journal.append([{ task: hash, cells: {}, ...rest }]);
    }
    const first = fakeEngine(
      8,
      () => 1,
      () => false,
    );
    const progress = await coordinate(tasks, { ...rest, engine: first.engine, journal });
    expect([first.begun(), progress.before, progress.statuses]).toMatchObject([
      1,
      3,
      { done: 2, crashed: 1, timeout: 1 },
    ]);
    const second = fakeEngine(
      8,
      () => 1,
      () => false,
    );
    await coordinate(tasks, { ...rest, again: ["crashed"], engine: second.engine, journal });
    expect([second.begun(), journal.status((tasks[1] as Placed).job.hash)]).toEqual([1, "done"]);
    journal.close();
  });

  it("leaves what was recorded where it is cancelled", async () => {
    const journal = openJournal(join(folder, `${files++}`));
    const stop = new AbortController();
    const fake = fakeEngine(
      2,
      () => 1,
      () => false,
    );
    const onProgress = ({ done }: { readonly done: number }): void => {
      if (done === 3) stop.abort();
    };
    const work = coordinate(
      Array.from({ length: 10 }, (_, i) => placed(i)),
      {
        ...{ engine: fake.engine, journal, again: [], signal: stop.signal, onProgress },
      },
    );
    await expect(work).rejects.toThrow(CancelledError);
    expect(journal.count).toBe(3);
    expect(fake.settled.size).toBe(3);
    journal.close();
  });
});
