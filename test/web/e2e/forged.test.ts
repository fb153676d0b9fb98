import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { expectVisible, HOSTILE, hostileNetwork } from "../../support/hostile-names.ts";
import { describeApp, PATIENCE } from "./with-app.ts";

/** Returns all that a page shows or reads out: texts, those attributes, its title. */
const shownOf = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    const attributes = ["title", "alt", "placeholder", "aria-label", "aria-description", "aria-valuetext"];
    const texts: string[] = [document.title];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT);
    for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
      if (node instanceof Element) texts.push(...attributes.map((name) => node.getAttribute(name) ?? ""));
      else if (!(node.parentElement instanceof HTMLScriptElement)) texts.push(node.textContent ?? "");
    }
    return texts;
  });

describeApp("names in the app", (tools) => {
  it("cannot hide, turn letters around, add lines or run, in any view and download", PATIENCE, async () => {
    for (const first of [0, 14]) {
      const app = await tools().open("#collective=allgather&size=1MiB&algorithm=ring");
      const { page } = app;
      const dialogs: string[] = [];
      page.on("dialog", (dialog) => {
        dialogs.push(dialog.message());
        void dialog.dismiss();
      });
      await app.drop(`${HOSTILE[0]}${HOSTILE[2]}.json`, hostileNetwork(first));
      await app.shows(/^8 NPUs/);
      expect(await app.synthesize()).toMatch(/^The all-gather of 1 MiB/);
      await page.getByText(/^Why, how, and the same/).click();
      const views = await page.getByRole("tab").allInnerTexts();
      expect(views.length).toBeGreaterThan(4);
      for (const view of views) {
        await page.getByRole("tab", { name: view.trim(), exact: true }).first().click();
        await page.waitForTimeout(300);
        for (const text of await shownOf(page)) expectVisible(text, view);
      }
      const { name, text } = await app.download(/^json/);
      expectVisible(name, "name of a download");
      expectVisible(text, "download");
      expect(JSON.parse(text).topology.nodes[0].id).toBe(HOSTILE[first]);
      expect(dialogs).toEqual([]);
      await app.close();
    }
  });
});
