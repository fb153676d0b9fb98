import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { jsKernels } from "../../src/engine/kernels/js/kernels.ts";
import type { MatchProblem } from "../../src/engine/kernels/kernels.ts";
import { bundle, chromiumPath, launchChromium, serve } from "../support/chromium.ts";
import { allGather, mesh } from "../support/networks.ts";

const hasWasm = existsSync(new URL("../../wasm/build/banyan.wasm", import.meta.url));
const why =
  chromiumPath === undefined ? " (skipped: no Chromium on PATH)" : hasWasm ? "" : " (skipped: no WebAssembly module)";

/** A problem as JSON that names the columns' kinds. */
const asJson = (problem: MatchProblem): string =>
  JSON.stringify(problem, (_, value) =>
    ArrayBuffer.isView(value)
      ? { column: value instanceof Float64Array ? "f64" : "i32", values: [...(value as Int32Array)] }
      : value,
  );

describe.runIf(why === "")(`the browser build in Chromium${why}`, () => {
  let browser: Browser;
  let server: { url: string; close: () => void };

  beforeAll(async () => {
    const files = await bundle(fileURLToPath(new URL("page.ts", import.meta.url)));
    server = await serve(files);
    browser = await launchChromium();
  }, 60_000);

  afterAll(async () => {
    await browser?.close();
    server?.close();
  });

  it("runs the kernels on WebAssembly with the same result as here", async () => {
    const problem = allGather(mesh(5, 4, 1000, 1500), 2, { novelty: 1, overtaking: 1 });
    const expected = jsKernels.match(problem);
    const page = await browser.newPage();
    const errors: string[] = [];
    page.on("pageerror", (error) => errors.push(error.message));
    await page.goto(server.url);
    await page.waitForFunction("globalThis.runProblem !== undefined", undefined, { timeout: 10_000 });
    const result = await page.evaluate(`runProblem(${JSON.stringify(asJson(problem))})`);
    expect(errors).toEqual([]);
    expect(result).toEqual({
      backend: "wasm",
      chunk: [...expected.chunk],
      route: [...expected.route],
      startPs: [...expected.startPs],
    });
  }, 60_000);
});
