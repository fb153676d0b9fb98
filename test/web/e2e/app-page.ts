import { readFileSync } from "node:fs";
import type { Browser, BrowserContext, BrowserContextOptions, Page } from "playwright-core";
import { expect } from "vitest";

/** A page of the app in a real browser, as its user sees it: by roles and labels. */

export interface AppPage {
  readonly page: Page;
  readonly context: BrowserContext;
  /** What the browser complained of, and requests that left the origin; `close` fails where there are any. */
  readonly complaints: string[];
  /** Waits until the app can be used. */
  ready(): Promise<void>;
  /** Waits until a text is there. */
  shows(text: string | RegExp): Promise<void>;
  /** Presses Synthesize. */
  begin(): Promise<void>;
  /** Synthesizes and returns the sentence of the result. */
  synthesize(): Promise<string>;
  /** Waits until nothing is made. */
  idle(): Promise<void>;
  /** Returns the sentence of the result, once there is one that matches. */
  answer(like?: RegExp): Promise<string>;
  /** Types a preset into the network's field. */
  typeNetwork(topology: string): Promise<void>;
  /** Lets a file fall onto the page. */
  drop(name: string, text: string): Promise<void>;
  showView(title: string): Promise<void>;
  /** Selects what is named in the view of the network. */
  find(name: string): Promise<void>;
  /** Returns the SHA-256 of the schedule's file, as the page tells it. */
  sha256(): Promise<string>;
  /** Saves a download and returns its name and text. */
  download(format: RegExp): Promise<{ readonly name: string; readonly text: string }>;
  close(): Promise<void>;
}

export interface AppOptions extends BrowserContextOptions {
  /** Whether to wait until it can be used. */
  readonly awaited?: boolean;
  /** Complaints that are no mistake, as a 404 that was asked for. */
  readonly excused?: RegExp;
  /** Cores that the page is told of, whatever the machine has. */
  readonly cores?: number;
}

const SOON = 60_000;
const LONG = 120_000;

/** Opens an address of the app in a context of its own. */
export async function openApp(
  browser: Browser,
  url: string,
  { awaited = true, excused, cores, ...options }: AppOptions = {},
): Promise<AppPage> {
  const context = await browser.newContext({ acceptDownloads: true, ...options });
  const page = await context.newPage();
  if (cores !== undefined) {
    await page.addInitScript((value) => Object.defineProperty(navigator, "hardwareConcurrency", { value }), cores);
  }
  const app = appOn(page, context, originOf(url), excused);
  await page.goto(url);
  if (awaited) await app.ready();
  return app;
}

/** Returns what the addresses of all that a page may load begin with. */
const originOf = (url: string): string => (url.startsWith("file:") ? url.replace(/#.*/, "") : new URL(url).origin);

function appOn(page: Page, context: BrowserContext, origin: string, excused?: RegExp): AppPage {
  const complaints: string[] = [];
  context.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") complaints.push(message.text());
  });
  context.on("weberror", (error) => complaints.push(error.error().message));
  context.on("request", (request) => {
    const url = request.url();
    if (!url.startsWith(origin) && !/^(blob|data):/.test(url)) complaints.push(`a request to ${url}`);
  });
  page.setDefaultTimeout(SOON);
  const result = page.getByRole("region", { name: "Result" });
  // empty views have a button of that name too
  const synthesize = page
    .getByRole("complementary", { name: "What is asked" })
    .getByRole("button", { name: "Synthesize" });
  const app: AppPage = {
    page,
    context,
    complaints,
    async ready() {
      await synthesize.and(page.locator(":enabled")).waitFor();
    },
    async shows(text) {
      await page.getByText(text).first().waitFor();
    },
    async begin() {
      await synthesize.click();
    },
    async synthesize() {
      const shown = (): Promise<number> => page.evaluate(() => performance.getEntriesByName("synthesis shown").length);
      const before = await shown();
      await app.begin();
      await expect.poll(shown, { timeout: LONG }).toBeGreaterThan(before);
      await app.idle();
      return app.answer();
    },
    async idle() {
      // it is gone for a moment between the click and the work
      await page.waitForTimeout(50);
      await page.getByRole("button", { name: /^Cancel/ }).waitFor({ state: "detached", timeout: LONG });
    },
    async answer(like = /./) {
      const sentence = result.getByRole("status").filter({ hasText: like }).first();
      await sentence.waitFor({ timeout: LONG });
      return sentence.innerText();
    },
    async typeNetwork(topology) {
      await page.getByRole("combobox", { name: "Network" }).fill(topology);
      await page.keyboard.press("Escape");
    },
    async drop(name, text) {
      const transfer = await page.evaluateHandle(
        ([fileName, content]) => {
          const data = new DataTransfer();
          data.items.add(new File([content as string], fileName as string));
          return data;
        },
        [name, text],
      );
      for (const type of ["dragenter", "dragover", "drop"]) {
        await page.dispatchEvent("body", type, { dataTransfer: transfer });
      }
    },
    async showView(title) {
      await page.getByRole("tab", { name: title, exact: true }).click();
    },
    async find(name) {
      await page
        .getByRole("searchbox", { name: "Find" })
        .or(page.getByLabel("Find", { exact: true }))
        .first()
        .fill(name);
      await page.keyboard.press("Enter");
    },
    async sha256() {
      const sum = page.getByText(/^[0-9a-f]{64}$/);
      const button = page.getByRole("button", { name: "SHA-256 of the file" });
      if (!(await button.isVisible())) await page.getByText(/^Why, how, and the same/).click();
      await button.click();
      await sum.waitFor();
      return sum.innerText();
    },
    async download(format) {
      await page.getByRole("button", { name: "Downloads" }).click();
      const [download] = await Promise.all([
        page.waitForEvent("download"),
        page.getByRole("dialog").getByRole("button", { name: format }).first().click(),
      ]);
      const text = readFileSync(await download.path(), "utf8");
      await page.keyboard.press("Escape");
      return { name: download.suggestedFilename(), text };
    },
    async close() {
      await context.close();
      expect(complaints.filter((complaint) => excused?.test(complaint) !== true)).toEqual([]);
    },
  };
  return app;
}
