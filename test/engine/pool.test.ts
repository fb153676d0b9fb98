import { existsSync } from "node:fs";
import { afterEach, describe, expect, it } from "vitest";
import { CancelledError, DamagedFileError, InfeasibleError, InputError, InternalError } from "../../src/base/errors.ts";
import { openEngine } from "../../src/engine/engine.ts";
import { jsKernels } from "../../src/engine/kernels/js/kernels.ts";
import { inlinePool } from "../../src/engine/pool/inline.ts";
import { cancel, cancelOn, newCancelFlag, type Pool, parallelSweep } from "../../src/engine/pool/pool.ts";
import { fromFailure, toFailure } from "../../src/engine/pool/request.ts";
import { presetTopology } from "../../src/model/presets/preset.ts";
import { availableKernels } from "../support/backends.ts";
import { balanceProblem, torusArcs } from "../support/balance-problems.ts";
import { allGather, mesh, networkOf, relayOf } from "../support/networks.ts";
import { placeOf } from "../support/place-problems.ts";
import { rateOfTopology } from "../support/rate-problems.ts";

const compiled = existsSync(new URL("../../dist/run/threads/worker.js", import.meta.url));
const BACKENDS_HERE = (await availableKernels()).map(({ backend }) => backend);
const opened: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of opened.splice(0)) await one.close();
});

async function threadPool(threads = 2): Promise<Pool> {
  const engine = await openEngine({ threads });
  opened.push(engine);
  return engine.pool();
}

const problem = allGather(mesh(6, 5, 1000, 1500), 2, { novelty: 1, overtaking: 1 });

// Worker threads run the compiled worker; `npm test` compiles it first.
describe.runIf(compiled)("worker threads", () => {
  it("give the same transfers as this thread, whatever their number", async () => {
    const expected = jsKernels.match(problem);
    for (const threads of [0, 1, 2]) {
      const pool = await threadPool(threads);
      const shared = pool.share(problem);
      const results = await Promise.all([1, 2, 3].map(() => pool.run({ kind: "match", problem: shared })));
      for (const result of results) expect(result).toEqual(expected);
    }
  });

  it("may answer after they were given up: nothing is thrown at the program", async () => {
    for (let round = 0; round < 12; round++) {
      const engine = await openEngine({ threads: 2 });
      const pool = engine.pool();
      const tasks = Array.from({ length: 4 }, async () => {
        const flag = newCancelFlag();
        const end = pool.run({ kind: "match", problem }, flag).catch((error: unknown) => error);
        cancel(flag);
        return end;
      });
      await Promise.race(tasks);
      await engine.close();
      for (const end of await Promise.all(tasks)) expect(end).toBeInstanceOf(CancelledError);
    }
    await expect((await threadPool()).close()).resolves.toBeUndefined();
  });

  it("run relay tasks and say when the room was too small", async () => {
    const pool = await threadPool();
    const relay = relayOf(mesh(3, 3), [[0, 8]]);
    expect(await pool.run({ kind: "relay", problem: relay })).toEqual(jsKernels.relay(relay));
    expect(await pool.run({ kind: "relay", problem: { ...relay, maxTransfers: 1 } })).toBeNull();
  });

  it("run place tasks", async () => {
    const pool = await threadPool();
    const rows = [{ route: 0, key: 2, successors: [1] }, { route: 1 }, { route: 0, key: 1 }];
    const place = placeOf(mesh(2, 1), rows);
    expect(await pool.run({ kind: "place", problem: place })).toEqual(jsKernels.place(place));
    expect(await pool.run({ kind: "place", problem: pool.share(place) })).toEqual(jsKernels.place(place));
  });

  it("run rate tasks", async () => {
    const pool = await threadPool();
    const rate = rateOfTopology(presetTopology("dgx-a100:3"));
    expect(await pool.run({ kind: "rate", problem: pool.share(rate) })).toEqual(jsKernels.rate(rate));
  });

  it("run balance tasks and say when the room was too small", async () => {
    const pool = await threadPool();
    const balance = balanceProblem(42, torusArcs(7, 6), { parts: 2, wantsShares: 1, maxSteps: 6 });
    const shared = pool.share({ ...balance, threads: 2 });
    expect(await pool.run({ kind: "balance", problem: shared })).toEqual(jsKernels.balance(balance));
    expect(await pool.run({ kind: "balance", problem: { ...shared, maxSteps: 5 } })).toBeNull();
  });

  it("sweep sinks with any number of threads, the same flows", async () => {
    const { nodeCount, linkSource, linkTarget, capacity } = rateOfTopology(presetTopology("mi250:4"));
    const supply = Float64Array.from({ length: nodeCount }, (_, v) => (v < 64 ? 1e9 * (1 + (v % 3)) : 0));
    const sweep = { nodeCount, linkSource, linkTarget, capacity, supply, sinks: Int32Array.from(supply.keys()) };
    const expected = jsKernels.sweep(sweep);
    for (const threads of [0, 1, 2, 3]) expect(await parallelSweep(await threadPool(threads), sweep)).toEqual(expected);
    const pool = await threadPool(2);
    expect(await parallelSweep(pool, { ...sweep, sinks: new Int32Array() })).toEqual(new Float64Array());
    await expect(parallelSweep(pool, sweep, Int32Array.of(1))).rejects.toThrow(CancelledError);
  });

  it.each(BACKENDS_HERE)("use the backend of the engine (%s)", async (backend) => {
    const engine = await openEngine({ backend, threads: 1 });
    opened.push(engine);
    expect(engine.backend).toBe(backend);
    expect(await engine.pool().run({ kind: "match", problem })).toEqual(jsKernels.match(problem));
  });

  it("hand on errors with their class and witness", async () => {
    const pool = await threadPool(1);
    const cut = allGather(networkOf(2, [{ source: 0, target: 1, slotPs: 1 }]));
    const failing = pool.run({ kind: "match", problem: cut });
    await expect(failing).rejects.toThrow(InfeasibleError);
    await expect(failing).rejects.toMatchObject({ exitCode: 3, witness: { npu: 0, chunk: 1 } });
    const bad = pool.run({ kind: "match", problem: { ...problem, heldChunk: Int32Array.of(-1) } });
    await expect(bad).rejects.toThrow(InternalError);
  });

  it("stop after the cancel flag is set and work on afterwards", async () => {
    const pool = await threadPool(1);
    const big = pool.share(allGather(mesh(32, 32), 4, { choice: 1, window: 64, lateLimit: 1 << 20 }));
    const flag = newCancelFlag();
    const running = pool.run({ kind: "match", problem: big }, flag);
    setTimeout(() => cancel(flag), 150);
    await expect(running).rejects.toThrow(CancelledError);
    expect((await pool.run({ kind: "match", problem })).chunk.length).toBe(30 * 60 - 60);
  });

  it("start ahead of their first task, and end before it comes", async () => {
    for (const threads of [0, 1, 2]) {
      const pool = await threadPool(threads);
      pool.prepare();
      pool.prepare();
      expect(await pool.run({ kind: "match", problem })).toEqual(jsKernels.match(problem));
      const unused = await openEngine({ threads });
      unused.pool().prepare();
      await unused.close();
    }
  });

  it("refuse work that they do not know", async () => {
    const pool = await threadPool(1);
    await expect(pool.work({ name: "sing", run: () => ({}) }, null)).rejects.toThrow(InternalError);
  });

  it("do not start a task whose flag is already set", async () => {
    const pool = await threadPool(1);
    await expect(pool.run({ kind: "match", problem }, Int32Array.of(1))).rejects.toThrow(CancelledError);
  });
});

describe("the pool on this thread", () => {
  it("runs tasks in turn and lets timers in between", async () => {
    const pool = inlinePool(jsKernels);
    const { flag } = cancelOn(AbortSignal.timeout(0));
    const results = await Promise.allSettled(
      Array.from({ length: 50 }, () => pool.run({ kind: "match", problem }, flag)),
    );
    expect(results.at(-1)).toMatchObject({ status: "rejected", reason: expect.any(CancelledError) });
  });

  it("copies nothing", () => {
    expect(inlinePool(jsKernels).share(problem)).toBe(problem);
  });
});

describe("openEngine", () => {
  it.each([-1, 1.5, Number.NaN])("refuses %s threads", async (threads) => {
    await expect(openEngine({ threads })).rejects.toThrow(InputError);
  });

  it("closes without ever having started a pool", async () => {
    await (await openEngine()).close();
  });
});

describe("cancelOn", () => {
  it("sets the flag of a signal that was aborted before", () => {
    expect(cancelOn(AbortSignal.abort()).flag[0]).toBe(1);
  });

  it("listens no longer once disposed", () => {
    const controller = new AbortController();
    const { flag, dispose } = cancelOn(controller.signal);
    dispose();
    controller.abort();
    expect(flag[0]).toBe(0);
  });
});

describe("errors between threads", () => {
  it.each([
    new InputError("--size", "a size", "x"),
    new InfeasibleError("no way", { npu: 3 }),
    new CancelledError(),
    new InternalError("oops"),
    new DamagedFileError("a.bys", "it is cut short"),
  ])("keep class, sentence and fields: $name", (error) => {
    const failure = structuredClone(toFailure(error));
    if (failure === undefined) throw new Error("not recognised");
    const again = fromFailure(failure);
    expect(again).toBeInstanceOf(error.constructor);
    expect({ ...again, message: again.message }).toEqual({ ...error, message: error.message });
  });

  it("leave foreign errors alone", () => {
    expect(toFailure(new RangeError("x"))).toBeUndefined();
  });
});
