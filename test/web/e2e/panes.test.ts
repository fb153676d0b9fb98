import type { Locator, Page } from "playwright-core";
import { expect, it } from "vitest";
import { brokenRules } from "./axe.ts";
import { describeApp, PATIENCE } from "./with-app.ts";

const SHOWN = "#topology=dgx-a100:2&collective=allgather&size=16MiB&algorithm=forestcoll&view=time&run=1";
const DESKTOP = { width: 1280, height: 800 };

interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

const boxOf = async (part: Locator): Promise<Box> => (await part.boundingBox()) as Box;
const picture = (page: Page): Locator => page.locator(".network-canvas canvas");
const chart = (page: Page): Locator => page.locator(".gantt-scroll");
const line = (page: Page, other: string): Locator =>
  page.getByRole("separator", { name: `Between Network and ${other}` });
const share = async (page: Page, other: string): Promise<number> =>
  Number(await line(page, other).getAttribute("aria-valuenow"));

/** Expects a part to be within the window and no smaller than this. */
async function expectRoom(page: Page, part: Locator, width: number, height: number): Promise<void> {
  const box = await boxOf(part);
  const window = page.viewportSize() as { width: number; height: number };
  expect(box.width).toBeGreaterThan(width);
  expect(box.height).toBeGreaterThan(height);
  expect(box.x + box.width).toBeLessThanOrEqual(window.width);
  expect(box.y + box.height).toBeLessThanOrEqual(window.height);
}

describeApp("panes", (tools) => {
  it("show network and timeline beside each other at 1280x800, the answer folded or not", PATIENCE, async () => {
    const app = await tools().open(SHOWN, { viewport: DESKTOP });
    const { page } = app;
    await app.answer();
    for (const _ of ["unfolded", "folded"]) {
      await chart(page).waitFor();
      await expectRoom(page, picture(page), 350, 180);
      await expectRoom(page, chart(page), 450, 200);
      expect((await boxOf(chart(page))).x).toBeGreaterThan((await boxOf(picture(page))).x + 350);
      await page.getByRole("button", { name: "One line" }).click();
      await page.waitForTimeout(200);
    }
    await app.close();
  });

  it("take what a line leaves them, by keys and by pointer, and keep it over a reload", PATIENCE, async () => {
    const app = await tools().open(SHOWN, { viewport: DESKTOP });
    const { page } = app;
    await line(page, "Timeline").waitFor();
    const before = await share(page, "Timeline");
    await line(page, "Timeline").press("ArrowRight");
    await expect.poll(() => share(page, "Timeline")).toBe(before + 2);
    await line(page, "Timeline").press("Home");
    const least = Number(await line(page, "Timeline").getAttribute("aria-valuemin"));
    await expect.poll(() => share(page, "Timeline")).toBe(least);
    expect((await boxOf(picture(page))).width).toBeGreaterThan(190);
    await line(page, "Timeline").press("End");
    await expect.poll(() => share(page, "Timeline")).toBe(100 - least);
    // keys of the line are not the player's
    expect(await page.getByRole("slider", { name: "Time" }).inputValue()).toBe("0");
    const across = await boxOf(line(page, "Who holds what"));
    const [x, y] = [across.x + across.width / 2, across.y + across.height / 2];
    const tall = (await boxOf(picture(page))).height;
    await page.mouse.move(x, y);
    await page.mouse.down();
    await page.mouse.move(x, y - 60, { steps: 4 });
    await page.mouse.up();
    await expect.poll(async () => Math.round((await boxOf(picture(page))).height)).toBeLessThan(tall - 55);
    const shares = [await share(page, "Timeline"), await share(page, "Who holds what")];
    await page.reload();
    await line(page, "Timeline").waitFor();
    expect([await share(page, "Timeline"), await share(page, "Who holds what")]).toEqual(shares);
    await line(page, "Timeline").dblclick();
    await expect.poll(() => share(page, "Timeline")).toBe(before);
    await app.close();
  });

  it("fold away and back, and have the window to themselves until Escape", PATIENCE, async () => {
    const app = await tools().open(SHOWN, { viewport: DESKTOP, bypassCSP: true });
    const { page } = app;
    await chart(page).waitFor();
    const wide = (await boxOf(chart(page))).width;
    const fold = (title: string): Promise<void> => page.getByRole("button", { name: `Fold ${title}` }).click();
    await fold("Network");
    await picture(page).waitFor({ state: "hidden" });
    await fold("Who holds what");
    await expect.poll(async () => (await boxOf(chart(page))).width).toBeGreaterThan(wide + 300);
    const broken = await brokenRules(page, "folded");
    await page.reload();
    await chart(page).waitFor();
    expect(await page.getByRole("button", { name: "Fold Network", pressed: true }).count()).toBe(1);
    await fold("Network");
    await page.getByRole("button", { name: "Maximise Network" }).click();
    await page.getByRole("button", { name: "Synthesize" }).waitFor({ state: "hidden" });
    await expectRoom(page, picture(page), 1200, 550);
    // what plays is at hand
    await page.getByRole("button", { name: "Play" }).waitFor();
    broken.push(...(await brokenRules(page, "maximised")));
    await page.keyboard.press("Escape");
    await chart(page).waitFor();
    await page.getByRole("button", { name: "Synthesize" }).waitFor();
    expect(broken).toEqual([]);
    await app.close();
  });

  it.each([
    [{ width: 899, height: 900 }, "below each other"],
    [{ width: 390, height: 844 }, "below each other"],
    [{ width: 1920, height: 1080 }, "beside each other"],
    [{ width: 3840, height: 2160 }, "beside each other"],
  ])("of %o stand %s and leave no half of it empty", PATIENCE, async (viewport, how) => {
    const app = await tools().open(SHOWN, { viewport });
    const { page } = app;
    await chart(page).waitFor();
    const [network, time] = [await boxOf(picture(page)), await boxOf(chart(page))];
    if (how === "below each other") {
      expect(time.y).toBeGreaterThan(network.y + network.height);
      expect(await page.getByRole("separator", { name: /^Between/ }).count()).toBe(0);
    } else {
      const holders = await boxOf(page.getByRole("complementary", { name: "Who holds what" }));
      const main = await boxOf(page.getByRole("main"));
      expect(time.x).toBeGreaterThan(network.x + network.width);
      expect(holders.x).toBeGreaterThan(time.x + time.width);
      expect(network.width + time.width + holders.width).toBeGreaterThan(0.9 * main.width);
      expect(time.y + time.height).toBeGreaterThan(0.9 * viewport.height);
    }
    expect(await page.evaluate("document.documentElement.scrollWidth - innerWidth")).toBe(0);
    await app.close();
  });
});
