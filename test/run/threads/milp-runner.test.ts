import { existsSync } from "node:fs";
import { afterEach, describe, expect, it } from "vitest";
import { CancelledError } from "../../../src/base/errors.ts";
import type { MilpProgress, MilpSolution } from "../../../src/engine/contract/programs.ts";
import { openEngine } from "../../../src/engine/engine.ts";
import { isStarted, newBoard } from "../../../src/engine/milp/board.ts";
import { bytesForMilp, loadInstance, sizeOfMilp } from "../../../src/engine/milp/instance.ts";
import { runMilpJob, solveMilp } from "../../../src/engine/milp/job.ts";
import { isPoint } from "../../../src/engine/milp/outcome.ts";
import type { Pool } from "../../../src/engine/pool/pool.ts";
import type { Engine } from "../../../src/engine/types.ts";
import { milpRunner } from "../../../src/run/threads/milp-runner.ts";
import { denseRelaxation, knapsacks, milpOf } from "../../support/milp-problems.ts";
import { quick, triesAll } from "../../support/runs.ts";

const compiled = existsSync(new URL("../../../dist/run/threads/worker.js", import.meta.url));
const opened: Engine[] = [];
afterEach(async () => {
  for (const one of opened.splice(0)) await one.close();
});

async function engineOf(threads: number): Promise<Engine> {
  const engine = await openEngine({ threads });
  opened.push(engine);
  return engine;
}

/** Returns an engine whose pool is another one. */
const withPool = async (pool: Partial<Pool>): Promise<Engine> => {
  const engine = await engineOf(0);
  return { ...engine, pool: () => ({ ...engine.pool(), ...pool }) };
};

const bits = ({ ms: _, ...solution }: MilpSolution) => solution;
const easy = knapsacks(25, 5, 1);
const hard = knapsacks(90, 25, 2);
const medium = knapsacks(50, 8, 4);
const infeasible = milpOf(
  [1, 1],
  [
    [0, [1, 1], 2],
    [1, [2, 0], 1],
  ],
);

describe.runIf(compiled).each(quick([0, 1, 2], (threads) => threads < 2))("milpRunner with %i threads", (threads) => {
  it("solves to the same bits as on this thread, several at once", async () => {
    const runner = milpRunner(await engineOf(threads), undefined);
    const expected = bits(solveMilp(await loadInstance(), easy));
    const found = await Promise.all([1, 2, 3].map(() => runner.solve(easy)));
    for (const solution of found) expect(bits(solution)).toEqual(expected);
    expect(expected.status).toBe("optimal");
  });

  it("says that a program has no point", async () => {
    const runner = milpRunner(await engineOf(threads), undefined);
    const { status, primal, bound } = await runner.solve(infeasible);
    expect([status, primal.length, bound]).toEqual(["infeasible", 0, Number.NEGATIVE_INFINITY]);
  });

  it("stops in time with the best point so far", async () => {
    const runner = milpRunner(await engineOf(threads), undefined);
    // on a machine that is busy with others the start is all that there is
    const start = new Float64Array(hard.objective.length);
    const { status, primal, objective, bound } = await runner.solve({ ...hard, start }, { timeLimitMs: 500 });
    expect(status).toBe("limit");
    expect(isPoint(hard, primal)).toBe(true);
    expect(bound).toBeGreaterThan(objective);
  });

  it("tells progress", async () => {
    const runner = milpRunner(await engineOf(threads), undefined);
    const told: MilpProgress[] = [];
    await runner.solve(triesAll ? hard : medium, { nodeLimit: 300, onProgress: (progress) => told.push(progress) });
    expect(told.length).toBeGreaterThan(1);
    expect(told.at(-1)?.bound).toBeLessThanOrEqual(told[0]?.bound as number);
    for (const { ms } of told) expect(ms).toBeGreaterThan(0);
  });

  it("does not begin once cancelled", async () => {
    const runner = milpRunner(await engineOf(threads), AbortSignal.abort());
    await expect(runner.solve(easy)).rejects.toThrow(CancelledError);
  });

  it("is cancelled before its turn comes, and works on", async () => {
    const engine = await engineOf(threads);
    const controller = new AbortController();
    const runner = milpRunner(engine, controller.signal);
    const both = Promise.allSettled([runner.solve(easy), runner.solve(easy)]);
    controller.abort();
    for (const end of await both) expect(end).toMatchObject({ reason: expect.any(CancelledError) });
    expect(await milpRunner(engine, undefined).solve(easy)).toMatchObject({ status: "optimal" });
  });

  it("refuses what would not fit, keeping the start", async () => {
    const runner = milpRunner({ ...(await engineOf(threads)), freeMemory: () => 1000 }, undefined);
    expect(runner.maxBytes).toBe(1000);
    expect(await runner.solve(easy)).toMatchObject({ status: "memory", bound: Number.POSITIVE_INFINITY, ms: 0 });
    const start = new Float64Array(25);
    expect(await runner.solve({ ...easy, start })).toMatchObject({ status: "memory", objective: 0, primal: start });
  });
});

describe.runIf(compiled)("milpRunner with a thread", () => {
  it("cancels a search that runs, and the pool works on", async () => {
    const engine = await engineOf(1);
    const controller = new AbortController();
    const running = milpRunner(engine, controller.signal).solve(hard, { onProgress: () => controller.abort() });
    await expect(running).rejects.toThrow(CancelledError);
    expect(await milpRunner(engine, undefined).solve(easy)).toMatchObject({ status: "optimal" });
  });

  it("cancels a relaxation that takes long, in which the solver listens to nobody", async () => {
    const engine = await engineOf(1);
    const controller = new AbortController();
    const running = milpRunner(engine, controller.signal).solve(denseRelaxation(900));
    setTimeout(() => controller.abort(), 1500);
    await expect(running).rejects.toThrow(CancelledError);
    expect(await milpRunner(engine, undefined).solve(easy)).toMatchObject({ status: "optimal" });
  });

  it("ends a relaxation that exceeds its time, with the start as the best point", async () => {
    const runner = milpRunner(await engineOf(1), undefined);
    const long = denseRelaxation(900);
    const start = new Float64Array(long.objective.length);
    const { status, objective, bound } = await runner.solve({ ...long, start }, { timeLimitMs: 500 });
    expect(status).toBe("limit");
    expect(objective).toBeGreaterThanOrEqual(0);
    expect(bound).toBeGreaterThanOrEqual(objective);
    expect(await runner.solve(easy)).toMatchObject({ status: "optimal" });
  });

  it("ends a thread at once, and the next one works", async () => {
    const pool = (await engineOf(1)).pool();
    const end = new AbortController();
    const board = newBoard(hard.objective.length);
    const job = { problem: hard, options: {} } as const;
    const running = pool.milp(job, { board }, end.signal);
    const begun = setInterval(() => isStarted(board) && end.abort(), 10);
    expect(await running).toBeNull();
    clearInterval(begun);
    expect(await pool.milp(job, { board }, end.signal)).toBeNull();
    const again = await pool.milp({ ...job, problem: easy }, { board: newBoard(easy.objective.length) });
    expect(again).toMatchObject({ status: "optimal" });
  });

  it("leaves the calling thread free while it solves", async () => {
    const runner = milpRunner(await engineOf(1), undefined);
    let turns = 0;
    const timer = setInterval(() => turns++, 10);
    await runner.solve(hard, { timeLimitMs: 1000 });
    clearInterval(timer);
    expect(turns).toBeGreaterThan(5);
  });
});

describe("milpRunner where a thread is lost", () => {
  it("says that memory ran out, with what was found until then", async () => {
    const engine = await withPool({
      milp: async (job, watch) => {
        await runMilpJob({ ...job, options: { ...job.options, nodeLimit: 1 } } as typeof job, watch);
        return null;
      },
    });
    const { status, primal, objective } = await milpRunner(engine, undefined).solve(easy);
    expect(status).toBe("memory");
    expect(isPoint(easy, primal)).toBe(true);
    expect(objective).toBeGreaterThan(0);
  });

  it("says that time ran out where a solver did not stop by itself", async () => {
    const engine = await withPool({
      milp: async (job, watch, end) => {
        await runMilpJob({ ...job, options: { ...job.options, nodeLimit: 1 } } as typeof job, watch);
        await new Promise((resolve) => end?.addEventListener("abort", resolve));
        return null;
      },
    });
    const { status, primal } = await milpRunner(engine, undefined).solve(easy, { timeLimitMs: 100 });
    expect(status).toBe("limit");
    expect(isPoint(easy, primal)).toBe(true);
  });

  it("does not believe a board that shows no point", async () => {
    const engine = await withPool({
      milp: async (_, { board }) => {
        board.points[0].fill(1);
        board.control[3] = 1;
        return null;
      },
    });
    const { status, primal } = await milpRunner(engine, undefined).solve(easy);
    expect([status, primal.length]).toEqual(["memory", 0]);
  });
});

describe("bytesForMilp", () => {
  it("grows with every size", () => {
    const { columns, rows, entries } = sizeOfMilp(hard);
    expect([columns, rows, entries]).toEqual([90, 25, 90 * 25]);
    const some = bytesForMilp({ columns, rows, entries });
    expect(bytesForMilp({ columns: columns + 1, rows, entries })).toBeGreaterThan(some);
    expect(bytesForMilp({ columns, rows: rows + 1, entries })).toBeGreaterThan(some);
    expect(bytesForMilp({ columns, rows, entries: entries + 1 })).toBeGreaterThan(some);
  });
});

describe("a board", () => {
  it("holds as many numbers as asked for, in two places", () => {
    expect(newBoard(3).points.map(({ length }) => length)).toEqual([3, 3]);
  });
});
