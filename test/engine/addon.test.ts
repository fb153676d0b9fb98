import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { describe, expect, it } from "vitest";
import type { Addon } from "../../src/engine/kernels/load.ts";
import { fuzzAddon } from "../support/addon-fuzz.ts";
import { kernelsOrReason } from "../support/backends.ts";

const { kernels, reason } = await kernelsOrReason("native");
const file =
  process.env["BANYAN_ADDON"] ?? fileURLToPath(new URL("../../native/build/Release/banyan.node", import.meta.url));

describe.runIf(kernels !== undefined)(
  `the add-on, called with what no caller should${reason && ` (${reason})`}`,
  () => {
    const addon = createRequire(import.meta.url)(file) as Addon;
    const ints = (...values: number[]): Int32Array => Int32Array.from(values);
    const doubles = (...values: number[]): Float64Array => Float64Array.from(values);
    const noUses = [ints(), ints(), ints()];

    it("refuses a negative count of NPUs, which was read behind before it was checked", () => {
      for (const npus of [-1, -2, -(2 ** 31)]) {
        const policy = [1, 0, 1, 0, 1, null, 1];
        const logs = [doubles(), new Uint16Array(0), doubles(), new Uint8Array(0), ints(), 0, null, doubles(0, 0, 0)];
        expect(() => addon.spread(npus, 0, ints(), ints(), ints(), ints(), null, null, ...policy, ...logs)).toThrow(
          "expected a count of at most 2^31 - 1 for npuCount",
        );
      }
    });

    it("takes a length that comes to -1 for no length, not for any", () => {
      const [settings, columns] = [
        [0, 0, 0, 1, 0, 0, null],
        [ints(9, 9), doubles(9, 9), doubles(9, 9, 9)],
      ];
      const problem = [0, 0, ints(), ints(), doubles(), doubles()];
      const call = () =>
        addon.pack(...problem, ...settings, ...columns, ints(9), new Uint8Array(0), doubles(0, 0, 0, 0));
      expect(call).toThrow("lengths that are no less than 0");
    });

    it("refuses maps that are not there, or lead two NPUs to one", () => {
      const network = [2, ints(0, 1), ints(1, 0), doubles(5, 5), ints(0, 0, 0), ...noUses];
      const holdings = [2, ints(0, 1, 2), ints(0, 1), null, null, 1, 0, 1, 0, 0, 0];
      const outputs = (): unknown[] => [ints(9, 9), ints(9, 9), doubles(9, 9), doubles(0, 0, 0)];
      expect(addon.match(...network, ...holdings, 2, null, null, ...outputs())).toBe(1);
      expect(addon.match(...network, ...holdings, 2, ints(0, 1, 1, 1), null, ...outputs())).toBe(1);
      expect(addon.match(...network, ...holdings, 2, ints(0, 1, 1, 0), null, ...outputs())).toBe(0);
    });

    it("refuses more chunks and holdings than a log has entries, for which its memory was too small", () => {
      const network = [1, ints(), ints(), doubles(), ints(0), ...noUses];
      const holdings = [2 ** 31 - 2, ints(0, 4), ints(0, 0, 0, 0), null, null, 1, 0, 1, 0, 0, 0];
      expect(addon.match(...network, ...holdings, 0, null, null, ints(), ints(), doubles(), doubles(0, 0, 0))).toBe(1);
    });

    it("does not rely on slots that are to be zeros", () => {
      const maps = ints(0, 1, 1, 0);
      const slots = ints(2 ** 31 - 1, 2 ** 31 - 1);
      const problem = [2, 0, ints(0, 1), ints(1, 0), ints(0, 0, 0), ints(), null, null, 1, 0, 1, 0, 1, null, 1];
      const logs = [doubles(0, 0, 0), new Uint16Array(0), doubles(0, 1, 2), new Uint8Array(2), slots];
      expect(addon.spread(...problem, ...logs, 2, maps, doubles(0, 0, 0))).toBe(0);
      expect(slots).toEqual(ints(0, 0));
    });

    it("refuses an order that names a target twice, for which a chunk was sent twice", () => {
      const network = [3, ints(0, 0, 0, 0), ints(1, 1, 1, 2), doubles(5, 5, 5, 5), ints(0, 0, 0, 0, 0), ...noUses];
      const chunks = [ints(0, 0), ints(1, 2), doubles(0, 1, 1, 1, 0, 1, 1, 1, 0)];
      const outputs = (): unknown[] => [ints(0, 0), ints(0, 0), doubles(0, 0), doubles(0, 0, 0)];
      expect(addon.relay(...network, ...chunks, ints(1, 1, 1, 1, 0, 2, 0, 1, 2), 1, null, ...outputs())).toBe(1);
      expect(addon.relay(...network, ...chunks, ints(0, 1, 2, 1, 0, 2, 0, 1, 2), 1, null, ...outputs())).toBe(0);
    });

    it("refuses outputs that overlap what is read or written besides, but not inputs that are one array", () => {
      const both = new ArrayBuffer(16);
      const links = ints(0, 1);
      const capacity = doubles(5, 5);
      const sweep = (sinks: Int32Array, flow: Float64Array): number =>
        addon.sweep(2, links, ints(1, 0), capacity, capacity, sinks, null, flow);
      expect(sweep(ints(0, 1), new Float64Array(2))).toBe(0);
      expect(() => sweep(new Int32Array(both, 0, 1), new Float64Array(both, 0, 1))).toThrow("overlaps for flow");
      const shared = new SharedArrayBuffer(16);
      expect(() => sweep(new Int32Array(shared, 4, 1), new Float64Array(shared, 0, 1))).toThrow("overlaps for flow");
      expect(sweep(new Int32Array(shared, 8, 1), new Float64Array(shared, 0, 1))).toBe(0);
      expect(new Float64Array(shared)[0]).toBe(10);
    });

    it("assigns 6,000 chunks to as many parallel routes, which took time by their cube and a deep stack", async () => {
      const routes = 6000;
      const code = `
      const routes = ${routes};
      const [zeros, ones] = [new Int32Array(routes), new Int32Array(routes).fill(1)];
      const none = new Int32Array(0);
      const network = [2, zeros, ones, new Float64Array(routes).fill(5), new Int32Array(routes + 1), none, none, none];
      const relay = [zeros, ones, Float64Array.of(0, 1, 1, 0), Int32Array.of(0, 1, 0, 1), 1, null];
      const out = [zeros.slice(), zeros.slice(), new Float64Array(routes), new Float64Array(3)];
      const { parentPort } = require("node:worker_threads");
      parentPort.postMessage([require(${JSON.stringify(file)}).relay(...network, ...relay, ...out), out[3][0]]);`;
      const worker = new Worker(code, { eval: true });
      const answer = await new Promise((resolve, reject) => worker.on("message", resolve).on("error", reject));
      expect(answer).toEqual([0, routes]);
    }, 60_000);

    it("ends a call of hours soon after its worker is ended", async () => {
      const code = `
      const [links, targets] = [Int32Array.of(0, 1), Int32Array.of(1, 0)];
      const problem = [2, 2, links, targets, Float64Array.of(5, 5), Float64Array.of(1, 1), 1, 1, 0, 1, 2 ** 31 - 1, 0, null];
      const trees = [new Int32Array(9), new Float64Array(9), new Float64Array(10), new Int32Array(99), new Uint8Array(2)];
      const { pack } = require(${JSON.stringify(file)});
      require("node:worker_threads").parentPort.postMessage("begins");
      pack(...problem, ...trees, new Float64Array(4));`;
      const worker = new Worker(code, { eval: true });
      await new Promise((resolve) => worker.once("message", resolve));
      await new Promise((resolve) => setTimeout(resolve, 100));
      expect(await worker.terminate()).toBe(1);
    }, 60_000);

    it("survives workers that are ended while they make wrong calls", async () => {
      const code = `
      const { sweep } = require(${JSON.stringify(file)});
      for (;;) try { sweep(-1); } catch {}`;
      for (let i = 0; i < 5; i++) {
        const worker = new Worker(code, { eval: true });
        await new Promise((resolve) => worker.once("online", resolve));
        await new Promise((resolve) => setTimeout(resolve, 20 * i));
        expect(await worker.terminate()).toBe(1);
      }
    }, 60_000);

    it("gives a status or a TypeError to 4,000 hostile calls, and the same answers to good ones among them", () => {
      const { rows, faults } = fuzzAddon(addon, { count: 4000, seed: 2 });
      expect(faults).toEqual([]);
      expect(rows.size).toBe(13);
      for (const [name, { done, otherStatus, refused }] of rows) {
        expect(Math.min(done, otherStatus, refused), name).toBeGreaterThan(10);
      }
    }, 60_000);
  },
);
