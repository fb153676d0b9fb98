import { fileURLToPath } from "node:url";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bundle, chromiumPath, launchChromium, serve } from "../../support/chromium.ts";
import { solveHere } from "./highs-page.ts";

describe.runIf(chromiumPath !== undefined)("HiGHS in Chromium", () => {
  let browser: Browser;
  let server: { url: string; close: () => void };

  beforeAll(async () => {
    server = await serve(await bundle(fileURLToPath(new URL("highs-page.ts", import.meta.url))));
    browser = await launchChromium();
  });

  afterAll(async () => {
    await browser?.close();
    server?.close();
  });

  it.each(["mesh:4x3@80,35GiB/s,1us", "dgx-a100:2"])(
    "solves the all-reduce of %s to the same bits as here",
    async (name) => {
      const page = await browser.newPage();
      const errors: string[] = [];
      page.on("pageerror", (error) => errors.push(error.message));
      await page.goto(server.url);
      await page.waitForFunction("globalThis.solveHere !== undefined", undefined, { timeout: 30_000 });
      const result = await page.evaluate(`solveHere(${JSON.stringify(name)})`);
      expect(errors).toEqual([]);
      expect(result).toEqual(await solveHere(name));
    },
    60_000,
  );
});
