import { expect, it } from "vitest";
import { brokenRules } from "./axe.ts";
import { describeApp, PATIENCE } from "./with-app.ts";

const SIZES = { desktop: { width: 1280, height: 800 }, phone: { width: 390, height: 844 } };
const SCHEMES = ["light", "dark"] as const;

describeApp("accessibility of the app", (tools) => {
  it.each(
    SCHEMES.flatMap(
      (colorScheme) => (["desktop", "phone"] as const).map((device) => ({ colorScheme, device })), // every view of each
    ),
  )(
    "breaks no rule of WCAG 2 A and AA in any view: $colorScheme, $device",
    { timeout: 300_000 },
    async ({ colorScheme, device }) => {
      const app = await tools().open("#topology=dgx-a100:2&collective=allreduce&size=64MiB&algorithm=forestcoll", {
        colorScheme,
        viewport: SIZES[device],
        bypassCSP: true,
      });
      const broken: string[] = [];
      const look = async (where: string): Promise<void> => {
        broken.push(...(await brokenRules(app.page, where)));
      };
      await look("without a schedule");
      await app.synthesize();
      for (const tab of await app.page.getByRole("tab").all()) {
        await tab.click();
        await app.page.getByRole("tabpanel").locator(":scope > *").first().waitFor();
        await app.page.waitForTimeout(500);
        await look(await tab.innerText());
      }
      await app.showView("Training");
      await app.page.getByLabel("Parallel").fill("zero=3");
      await app.page.getByLabel("Batch").fill("16");
      await app.page.getByRole("button", { name: "Work out the step" }).click();
      await app.page.getByRole("table", { name: /^Distinct communications/ }).waitFor({ timeout: 120_000 });
      await app.page.getByRole("img", { name: /bars over/ }).waitFor();
      await app.page.getByText(/^What runs at/).click();
      await look("a training step");
      expect(broken).toEqual([]);
      await app.close();
    },
  );

  it("can be used by keys alone: from the network's field to a schedule and through the views", PATIENCE, async () => {
    const app = await tools().open();
    const { page } = app;
    // keys come faster than a slow machine draws, and none of them may be lost
    const slow = await page.context().newCDPSession(page);
    await slow.send("Emulation.setCPUThrottlingRate", { rate: 6 });
    await page.keyboard.press("/");
    await page.keyboard.type("ring:5");
    expect(await page.getByRole("combobox", { name: "Network" }).inputValue()).toBe("ring:5");
    await slow.detach();
    await page.keyboard.press("Escape");
    await app.shows(/^5 NPUs/);
    await page.keyboard.press("Control+Enter");
    await app.answer();
    await page.getByRole("tab", { name: "Network", exact: true }).focus();
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("Enter");
    expect(await page.locator('[role="tab"]:focus').getAttribute("aria-selected")).toBe("true");
    await page.waitForURL(/view=bound/);
    await app.close();
  });

  it("has the focus where it was, however a window was closed", PATIENCE, async () => {
    const app = await tools().open("#topology=ring:4&collective=allgather&size=1MiB");
    const { page } = app;
    const dialog = page.getByRole("dialog");
    const ways: readonly (readonly [string, () => Promise<void>])[] = [
      ["Downloads", () => page.keyboard.press("Escape")],
      ["Downloads", () => dialog.getByRole("button", { name: "Close" }).press("Enter")],
      ["Downloads", () => page.mouse.click(2, 2)],
      ["Paste text", () => dialog.getByRole("button", { name: "Close" }).click()],
      [
        "Paste text",
        async () => {
          await dialog.getByRole("textbox").fill("no network");
          await dialog.getByRole("button", { name: "Open it" }).click();
        },
      ],
    ];
    for (const [name, close] of ways) {
      const button = page.getByRole("button", { name });
      await button.press("Enter");
      await dialog.waitFor();
      await close();
      await dialog.waitFor({ state: "detached" });
      expect(await button.evaluate((element) => element === document.activeElement), `${name}: ${close}`).toBe(true);
    }
    await app.close();
  });

  it("opens a window that was closed just before", PATIENCE, async () => {
    const app = await tools().open("#topology=ring:4&collective=allgather&size=1MiB");
    const { page } = app;
    await page.getByRole("button", { name: "Downloads" }).press("Enter");
    await page.getByRole("dialog").waitFor();
    // within one task: the browser says that the first one closed when the second is open
    await page.evaluate(async () => {
      const close = document.querySelector<HTMLButtonElement>('dialog button[aria-label="Close"]');
      const open = [...document.querySelectorAll("button")].find((button) => button.innerText.trim() === "Downloads");
      close?.click();
      while (document.querySelector("dialog") !== null) await Promise.resolve();
      open?.click();
      await new Promise((resolve) => setTimeout(resolve, 300));
    });
    expect(await page.getByRole("dialog").count()).toBe(1);
    await app.close();
  });
});
