import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { describeApp, PATIENCE } from "./with-app.ts";

/** Counts from now on how far what is seen moves (the sum of layout shifts, those after input too). */
const watch = (page: Page): Promise<void> =>
  page.evaluate(() => {
    const moved = { sum: 0, what: [] as string[] };
    Object.assign(globalThis, { moved });
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries() as (PerformanceEntry & {
        value: number;
        sources: readonly { node: Node | null }[];
      })[]) {
        moved.sum += entry.value;
        for (const { node } of entry.sources) moved.what.push((node as Element | null)?.className ?? "text");
      }
    }).observe({ type: "layout-shift" });
  });

const moved = (page: Page): Promise<{ readonly sum: number; readonly what: readonly string[] }> =>
  page.evaluate(
    () =>
      new Promise((resolve) => {
        requestAnimationFrame(() => setTimeout(() => resolve(Reflect.get(globalThis, "moved")), 100));
      }),
  );

describeApp("what is seen", (tools) => {
  it.each([[{ width: 1280, height: 800 }], [{ width: 390, height: 844 }]])(
    "stays where it is while a schedule plays and steps: %o",
    PATIENCE,
    async (viewport) => {
      const app = await tools().open(
        "#topology=dgx-a100:2&collective=allgather&size=16MiB&algorithm=forestcoll&view=time&run=1",
        { viewport },
      );
      const { page } = app;
      await page.locator(".gantt-scroll").waitFor();
      await page.waitForTimeout(800);
      await watch(page);
      await page.getByRole("button", { name: "Play" }).click();
      await page.waitForTimeout(1500);
      await page.getByRole("button", { name: "Pause" }).click();
      for (let i = 0; i < 5; i++) await page.getByRole("button", { name: "Next event" }).click();
      await page.getByRole("button", { name: "To the end" }).click();
      await page.getByRole("button", { name: "To the start" }).click();
      const { sum, what } = await moved(page);
      expect(sum, what.join(", ")).toBeLessThan(0.002);
      await app.close();
    },
  );

  it("stays where it is when the answer grows old, folded or not, and when it is new again", PATIENCE, async () => {
    const app = await tools().open("#topology=ring:4&collective=allgather&size=1MiB&algorithm=tacos&view=time&run=1", {
      viewport: { width: 1280, height: 800 },
    });
    const { page } = app;
    const top = (): Promise<number> => page.locator("#view").evaluate((element) => element.getBoundingClientRect().top);
    await page.locator(".gantt-scroll").waitFor();
    for (const size of ["2MiB", "3MiB"]) {
      const before = await top();
      await page.getByLabel("Size", { exact: true }).fill(size);
      await page.getByText("Out of date").waitFor();
      expect(await top()).toBe(before);
      await app.synthesize();
      await page.getByText("Out of date").waitFor({ state: "detached" });
      expect(await top()).toBe(before);
      await page.getByRole("button", { name: "One line" }).click();
    }
    await app.close();
  });
});
