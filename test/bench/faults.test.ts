import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { withFaults } from "../../bench/faults.mjs";
import { cancelAll } from "../../bench/faults-cancel.mjs";
import { faultLibrary } from "../../bench/faults-page.mjs";
import { serveWithFaults } from "../../bench/faults-serve.mjs";
import { closeEngines } from "../../bench/faults-threads.mjs";
import { random } from "../../src/base/random.ts";
import { jsKernels } from "../../src/engine/kernels/js/kernels.ts";
import { runTask } from "../../src/engine/pool/pool.ts";
import { kernelsOrReason } from "../support/backends.ts";
import { compile } from "../support/cli.ts";
import { allGather, mesh } from "../support/networks.ts";

/** A small share of bench/faults.mjs. */

const { file: library, why } = faultLibrary();
const native = await kernelsOrReason("native");
const reason = why ?? native.reason;
const root = mkdtempSync(join(tmpdir(), "banyan-faults-"));
beforeAll(compile, 120_000);
afterAll(() => rmSync(root, { recursive: true, force: true }));
const draws = random(1, 23);
const draw = (): number => draws.below(1e6) / 1e6;

describe.skipIf(reason !== "")(`faults of the system${reason && ` (skipped: ${reason})`}`, () => {
  it("in memory and threads end a kernel call with an error or the same answer; nothing stays allocated", async () => {
    const { rows, faults } = await withFaults(library, root, "faults-kernels.mjs", ["1"]);
    expect(faults).toEqual([]);
    expect(rows.map(({ name }: { name: string }) => name).sort()).toEqual(
      Object.keys(jsKernels)
        .filter((name) => name !== "backend")
        .sort(),
    );
    for (const { name, memory } of rows) expect(memory, name).toBeGreaterThan(4);
    for (const name of ["spread", "balance"])
      expect(rows.find((row: { name: string }) => row.name === name)?.threads, name).toBeGreaterThan(0);
  });

  it("in files leave the old file or the new one, one sentence, and nothing beside them", async () => {
    const only = "synth over json|export to an empty folder|an old cache|verify bys";
    const { rows, faults } = await withFaults(library, root, "faults-here.mjs", ["files", root, only, "0.1", "1"]);
    expect(faults).toEqual([]);
    expect(rows.length).toBe(4);
    for (const { name, runs } of rows) expect(runs, name).toBeGreaterThan(9);
  });

  it("in files that are served end in an answer, never in wrong bytes or a lasting fault", async () => {
    const faults: string[] = [];
    const onFault = (what: string): unknown => faults.push(what);
    const served = mkdtempSync(join(root, "serve-"));
    const { met, code } = await serveWithFaults({ library, root: served, share: 0.2, onFault });
    expect([faults, code]).toEqual([[], 0]);
    expect(met).toBeGreaterThan(8);
  });
});

it("work that is cancelled ends with CancelledError or the right answer, search too", async () => {
  const faults: string[] = [];
  const onFault = (what: string): unknown => faults.push(what);
  const rows = await cancelAll({ times: 4, threads: 0, names: /^(?:mcf|search|themis)$/, draw, onFault });
  expect(faults).toEqual([]);
  expect(rows.length).toBe(3);
});

it("an engine that is closed at work rejects with CancelledError", async () => {
  const faults: string[] = [];
  const counts = await closeEngines({ times: 1, draw, onFault: (what: string) => faults.push(what) });
  expect(faults).toEqual([]);
  expect(counts.answered + counts.rejected).toBe(1);
});

describe("columns that cannot be allocated", () => {
  afterEach(() => vi.unstubAllGlobals());

  it("are a kernel's want of memory, wherever they are, and the next call gives the same", () => {
    const problem = allGather(mesh(3, 3, 1000, 1500), 2, { novelty: 1, overtaking: 1 });
    const task = { kind: "match", problem } as const;
    const expected = runTask(jsKernels, task);
    let left = Number.POSITIVE_INFINITY;
    for (const name of ["Int32Array", "Float64Array", "Uint8Array", "Uint32Array"] as const) {
      const real = globalThis[name];
      const construct = (target: object, args: unknown[], made: object): object => {
        if (left-- === 0) throw new RangeError("Array buffer allocation failed");
        return Reflect.construct(target as new () => object, args, made as new () => object);
      };
      vi.stubGlobal(name, new Proxy(real, { construct } as ProxyHandler<typeof real>));
    }
    let failed = 0;
    for (let n = 0; ; n++) {
      left = n;
      try {
        runTask(jsKernels, task);
        break;
      } catch (error) {
        failed++;
        expect(error).toMatchObject({ name: "InternalError", outOfMemory: true });
      } finally {
        left = Number.POSITIVE_INFINITY;
      }
      expect(runTask(jsKernels, task)).toEqual(expected);
    }
    expect(failed).toBeGreaterThan(10);
  });
});
