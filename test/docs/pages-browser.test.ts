import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { addressOf, buildDocs } from "../../scripts/build-docs.mjs";
import { SITE_PAGES } from "../../scripts/docs/pages.mjs";
import { siteListener } from "../../src/cli/serve/site.ts";
import { chromiumPath, launchChromium } from "../support/chromium.ts";

const axe = createRequire(import.meta.url).resolve("axe-core/axe.min.js");
const PAGES = SITE_PAGES.map((page: string) => addressOf(page));

describe.skipIf(chromiumPath === undefined)("the pages of the documentation", () => {
  const folder = mkdtempSync(join(tmpdir(), "banyan-pages-"));
  let browser: Browser;
  let server: Server;
  beforeAll(async () => {
    await buildDocs(folder);
    browser = await launchChromium();
    server = createServer(siteListener({ folder, docs: folder, offered: null, localOnly: true })).listen(
      0,
      "127.0.0.1",
    );
  });
  afterAll(async () => {
    await browser.close();
    server.close();
    rmSync(folder, { recursive: true });
  });

  /** Returns a page that fails the test where it says anything on its console or loads what is not there. */
  async function opened(width: number, colorScheme: "light" | "dark"): Promise<{ page: Page; said: string[] }> {
    const context = await browser.newContext({ viewport: { width, height: 800 }, colorScheme });
    const page = await context.newPage();
    const said: string[] = [];
    page.on("console", (message) => said.push(message.text()));
    page.on("pageerror", (error) => said.push(String(error)));
    // what a page has not loaded yet when the next is opened is no failure
    page.on("requestfailed", (request) => {
      if (request.failure()?.errorText !== "net::ERR_ABORTED") said.push(request.url());
    });
    return { page, said };
  }

  it.each([
    [390, "light", "fit"],
    [390, "dark", "have enough contrast"],
    [1024, "light", "pass axe"],
    [1600, "dark", "fit"],
  ] as const)(
    "in a window of %d px, %s, %s",
    async (width, scheme, what) => {
      const { page, said } = await opened(width, scheme);
      const refused: unknown[] = [];
      for (const address of PAGES) {
        await page.goto(pathToFileURL(join(folder, address)).href);
        const tooWide = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
        expect([address, tooWide]).toEqual([address, 0]);
        if (what === "fit") continue;
        await page.addScriptTag({ path: axe });
        // the scheme changes colours only
        const rules = what === "pass axe" ? {} : { runOnly: ["color-contrast"] };
        const run = (options: object) =>
          // biome-ignore lint/suspicious/noExplicitAny: axe puts itself there
          (globalThis as any).axe.run({ ...options, preload: false, resultTypes: ["violations"] });
        const { violations } = await page.evaluate(run, rules);
        refused.push(
          ...violations.map(({ id, nodes }: { id: string; nodes: { html: string }[] }) => [
            address,
            id,
            nodes[0]?.html,
          ]),
        );
      }
      expect([refused, said]).toEqual([[], []]);
      await page.context().close();
    },
    600_000,
  );

  it.each(["a file", "banyan serve"])("find what is asked for, by keyboard, from %s", async (from) => {
    const { page, said } = await opened(1024, "light");
    const { port } = server.address() as AddressInfo;
    await page.goto(
      from === "a file" ? pathToFileURL(join(folder, "index.html")).href : `http://127.0.0.1:${port}/docs/`,
    );
    await page.keyboard.press("/");
    await page.keyboard.type("--repair");
    await page.waitForSelector(".found li[aria-selected=true]");
    await page.keyboard.press("Enter");
    await page.waitForURL(/reference\/options\.html#repair$/);
    await page.click(".scheme");
    expect(await page.evaluate(() => document.documentElement.dataset["scheme"])).toBe("dark");
    await page.click("text=Failures");
    await page.waitForURL(/guide\/failures\.html$/);
    expect(await page.evaluate(() => getComputedStyle(document.documentElement).colorScheme)).toBe("dark");
    expect(said).toEqual([]);
    await page.context().close();
  });
});
