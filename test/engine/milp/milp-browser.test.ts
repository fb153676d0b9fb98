import { fileURLToPath } from "node:url";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bundle, chromiumPath, launchChromium, serve } from "../../support/chromium.ts";
import { solveProgramsHere } from "./milp-page.ts";

describe.runIf(chromiumPath !== undefined)("integer programs in Chromium", () => {
  let browser: Browser;
  let server: { url: string; close: () => void };

  beforeAll(async () => {
    server = await serve(await bundle(fileURLToPath(new URL("milp-page.ts", import.meta.url))));
    browser = await launchChromium();
  });

  afterAll(async () => {
    await browser?.close();
    server?.close();
  });

  it("are solved to the same bits as here, within their time", async () => {
    const page = await browser.newPage();
    const errors: string[] = [];
    page.on("pageerror", (error) => errors.push(error.message));
    await page.goto(server.url);
    await page.waitForFunction("globalThis.solveProgramsHere !== undefined", undefined, { timeout: 30_000 });
    const result = await page.evaluate("solveProgramsHere()");
    expect(errors).toEqual([]);
    expect(result).toEqual(await solveProgramsHere());
    expect(result).toMatchObject({
      solved: { status: "optimal" },
      limited: "limit",
      cancelled: "CancelledError",
    });
  });
});
