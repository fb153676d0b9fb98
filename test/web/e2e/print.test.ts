import { expect, it } from "vitest";
import { describeApp, PATIENCE } from "./with-app.ts";

describeApp("the app on paper", (tools) => {
  it("is white, without controls, with nothing cut off, and the screen is as before after it", PATIENCE, async () => {
    const app = await tools().open(
      "#topology=dgx-a100:2&collective=allgather&size=16MiB&algorithm=forestcoll&view=time&run=1",
      { viewport: { width: 1280, height: 800 }, colorScheme: "dark" },
    );
    const { page } = app;
    await page.locator(".gantt-scroll").waitFor();
    const scheme = (): Promise<string> => page.evaluate(() => document.documentElement.dataset["scheme"] ?? "");
    const open = (): Promise<number> => page.locator("main details[open]").count();
    expect([await scheme(), await open()]).toEqual(["dark", 0]);
    await page.emulateMedia({ media: "print" });
    // as wide as paper
    await page.setViewportSize({ width: 720, height: 1000 });
    await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
    await page.waitForTimeout(500);
    const seen = await page.evaluate(() => {
      const all = [...document.querySelectorAll<HTMLElement>(".page *")].filter((one) => one.checkVisibility());
      const named = (one: Element): string => `${one.tagName} ${one.className}`;
      const isCut = (one: HTMLElement): boolean =>
        getComputedStyle(one).overflow !== "visible" &&
        !one.classList.contains("unseen") &&
        (one.scrollHeight > one.clientHeight + 1 || one.scrollWidth > one.clientWidth + 1);
      return {
        controls: all.filter((one) => one.matches("button:not(table *, li *), input, select, textarea")).map(named),
        cut: all.filter((one) => one.closest("main") !== null && isCut(one)).map(named),
        grounds: [
          ...new Set(
            [document.body, ...document.querySelectorAll(".answer, .pane")].map(
              (one) => getComputedStyle(one).backgroundColor,
            ),
          ),
        ],
        wide: document.documentElement.scrollWidth - innerWidth,
      };
    });
    expect(seen.controls).toEqual([]);
    expect(seen.cut).toEqual([]);
    expect(seen.grounds).toEqual(["rgb(255, 255, 255)"]);
    expect(seen.wide).toBeLessThanOrEqual(0);
    // 32 wires both ways, 16 pixels each
    expect(await page.locator(".gantt-rows").evaluate((rows: HTMLCanvasElement) => rows.height)).toBe(64 * 16);
    expect(await open()).toBe(2);
    await page.evaluate(() => dispatchEvent(new Event("afterprint")));
    await page.emulateMedia({ media: "screen" });
    expect([await scheme(), await open()]).toEqual(["dark", 0]);
    const pdf = await page.pdf({ format: "A4" });
    expect(pdf.subarray(0, 5).toString()).toBe("%PDF-");
    expect(pdf.length).toBeGreaterThan(30_000);
    expect([await scheme(), await open()]).toEqual(["dark", 0]);
    await app.close();
  });
});
