import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { synthesize } from "../../src/index.ts";
import { stepsOf } from "../../src/model/steps/schedule.ts";
import type { SynthesizeRequest } from "../../src/run/verbs.ts";
import { bundle, chromiumPath, launchChromium, serve } from "../support/chromium.ts";

const there = (path: string): boolean => existsSync(new URL(`../../${path}`, import.meta.url));
const missing = [
  [chromiumPath !== undefined, "no Chromium on PATH"],
  [there("wasm/build/banyan.wasm"), "no WebAssembly module"],
  [there("dist/index.browser.js"), "dist/ is not compiled"],
] as const;
const why = missing.flatMap(([ready, reason]) => (ready ? [] : [reason])).join(", ");

describe.runIf(why === "")(`the package in Chromium${why && ` (skipped: ${why})`}`, () => {
  let browser: Browser;
  let server: { url: string; close: () => void };

  beforeAll(async () => {
    server = await serve(await bundle(fileURLToPath(new URL("page.ts", import.meta.url))));
    browser = await launchChromium();
  });

  afterAll(async () => {
    await browser?.close();
    server?.close();
  });

  it.each<SynthesizeRequest>([
    { topology: "mesh:5x4@50GB/s,0.5us", collective: "allgather", sizeBytes: 2 ** 20, algorithm: "tacos" },
    { topology: "ring:2*switch:4@50,25GB/s", collective: "allreduce", sizeBytes: 2 ** 24, algorithm: "tacos" },
    { topology: "mesh:3x3", collective: "alltoall", sizeBytes: 2 ** 20, algorithm: "tacos" },
    { topology: "mesh:2x4", collective: "allgather", sizeBytes: 2 ** 20, algorithm: "tacos-ilp" },
  ])(
    "synthesizes $collective on $topology with WebAssembly, the same schedule as here",
    async (request) => {
      const page = await browser.newPage();
      const errors: string[] = [];
      page.on("pageerror", (error) => errors.push(error.message));
      await page.goto(server.url);
      await page.waitForFunction("globalThis.synthesizeHere !== undefined", undefined, { timeout: 30_000 });
      const result = await page.evaluate(`synthesizeHere(${JSON.stringify(request)})`);
      const { report, schedule } = await synthesize(request);
      const { chunk, route, startPs, endPs } = stepsOf(schedule);
      const columns = [chunk, route, startPs, endPs].map((column) => Array.from(column));
      const { time, details } = report;
      expect(errors).toEqual([]);
      expect(result).toEqual({ backend: "wasm", verified: true, time, details, columns });
    },
    60_000,
  );
});
