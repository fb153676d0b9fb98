import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, type SuiteFactory } from "vitest";
import { chromiumPath, launchChromium } from "../../support/chromium.ts";
import { type Host, host, STRICT } from "../../support/host.ts";
import { type SiteFiles, siteFiles, whyNoSite } from "../../support/site.ts";
import { type AppOptions, type AppPage, openApp } from "./app-page.ts";

/** What the tests of a file have: the app, built, and a browser. */
export interface AppTools {
  readonly files: SiteFiles;
  readonly browser: Browser;
  readonly host: Host;
  /** Opens the app with a fragment, from this host or another; whoever opened it closes it. */
  open(fragment?: string, options?: AppOptions, from?: Host): Promise<AppPage>;
}

const why = [chromiumPath === undefined ? "no Chromium on PATH" : "", whyNoSite]
  .filter((reason) => reason !== "")
  .join(", ");

/** A suite of tests of the app in Chromium, served with these headers; skipped, with the reason, where it cannot be. */
export function describeApp(title: string, suite: (tools: () => AppTools) => void, headers = STRICT): void {
  const factory: SuiteFactory = () => {
    let tools: AppTools;
    beforeAll(async () => {
      const files = await siteFiles();
      const served = await host(files, headers);
      const browser = await launchChromium();
      const open: AppTools["open"] = (fragment = "", options = {}, from = served) =>
        openApp(browser, from.url + fragment, options);
      tools = { files, browser, host: served, open };
    });
    afterAll(async () => {
      await tools?.browser.close();
      tools?.host.close();
    });
    suite(() => tools);
  };
  describe.runIf(why === "")(title + (why && ` (skipped: ${why})`), factory);
}

/** A test in a browser, of several steps that may each be waited for, on a machine that is busy with others. */
export const PATIENCE = { timeout: 300_000 };
