import { expect, it } from "vitest";
import { describeApp, PATIENCE } from "./with-app.ts";

describeApp("views of the app", (tools) => {
  it(
    "show what NPUs send each other where switches are between them, and the use of links besides",
    PATIENCE,
    async () => {
      const app = await tools().open("#topology=dgx-a100:2&collective=allgather&size=16MiB&view=links&run=1");
      const { page } = app;
      await app.shows(/^\d+ pairs of NPUs: 240 MiB in all, /);
      const traffic = page.getByRole("application", { name: /^What NPUs send each other: 16 sources by 16/ });
      await traffic.focus();
      await page.keyboard.press("PageDown");
      await app.shows(/^0 → \d+: [\d.]+ MiB$/);
      await page.keyboard.press("Enter");
      await page.getByLabel("Use of the links").check();
      await page.getByRole("application", { name: /^Share of the time .*: 19 sources by 19/ }).waitFor();
      expect(await page.getByText(/pairs of NPUs/).count()).toBe(0);
      await page.getByRole("tab", { name: "Network", exact: true }).click();
      await page
        .getByRole("complementary", { name: "Selection" })
        .getByText(/^NPU 0/)
        .first()
        .waitFor();
      await app.close();
    },
  );

  it(
    "lead on from switches that sum, which leave nothing to draw in time, to a schedule that can be",
    PATIENCE,
    async () => {
      const app = await tools().open(
        "#topology=dgx-h100:1&collective=allreduce&size=16MiB&algorithm=nvls&view=time&run=1",
      );
      const { page } = app;
      const way = page.getByRole("button", { name: "Synthesize with forestcoll" });
      for (const view of ["Time", "Expanded", "Links"]) {
        await app.showView(view);
        await way.waitFor();
      }
      await page.getByRole("button", { name: "Show the trees" }).click();
      await app.shows(/^8 of 16 trees, 8 roots$/);
      await page.getByRole("button", { name: "Downloads" }).click();
      const dialog = page.getByRole("dialog");
      await dialog.getByText("this schedule has no messages").first().waitFor();
      expect(await dialog.getByRole("button", { name: "msccl-xml" }).isDisabled()).toBe(true);
      expect(await dialog.getByRole("button", { name: "mscclpp-json" }).isEnabled()).toBe(true);
      await dialog.getByRole("button", { name: "Synthesize with forestcoll" }).click();
      await app.answer(/by forestcoll/);
      await app.idle();
      const { name, text } = await app.download(/^msccl-xml/);
      expect(name).toMatch(/\.xml$/);
      expect(text).toContain("<algo");
      await app.close();
    },
  );

  it(
    "play and step by key from the slider, the list of speeds and the tab, and name the chunks there are",
    PATIENCE,
    async () => {
      const app = await tools().open("#topology=ring:4&collective=allgather&size=1MiB&algorithm=tacos&view=time&run=1");
      const { page } = app;
      const slider = page.getByRole("slider", { name: "Time" });
      await slider.waitFor();
      for (const place of [slider, page.getByLabel("Speed"), page.getByRole("tab", { name: "Time", exact: true })]) {
        await page.getByRole("button", { name: "To the start" }).click();
        await expect.poll(() => slider.inputValue()).toBe("0");
        await place.press(".");
        await expect.poll(() => slider.inputValue()).not.toBe("0");
      }
      await slider.press(" ");
      await page.getByRole("button", { name: "Pause" }).waitFor();
      await slider.press(" ");
      const chunk = page.getByRole("complementary", { name: "Who holds what" }).getByLabel("Chunk");
      await chunk.fill("99");
      await app.shows("There is no chunk 99: they are 0 to 3.");
      await page.getByRole("button", { name: "All chunks" }).click();
      expect(await chunk.inputValue()).toBe("");
      await app.close();
    },
  );

  it("compare algorithms until Escape stops them, and keep the sizes that are done", PATIENCE, async () => {
    const app = await tools().open("#topology=mesh:8x8&collective=allreduce&view=compare&sizes=1KiB..64GiB*2");
    const { page } = app;
    await page.getByRole("button", { name: "Compare", exact: true }).click();
    await page.getByRole("table").first().waitFor({ timeout: 240_000 });
    await page.getByRole("table", { name: "Gain over the fastest library algorithm" }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Compare", exact: true }).waitFor();
    expect(await page.getByRole("button", { name: /^Stop/ }).count()).toBe(0);
    expect(await page.getByRole("table").count()).toBeGreaterThan(0);
    await app.close();
  });

  it(
    "compare networks beside each other: rows as they come, ties called ties, kept over a reload",
    PATIENCE,
    async () => {
      const app = await tools().open("#topology=ring:4&collective=allgather&view=compare&sizes=1MiB..16MiB*16");
      const { page } = app;
      const compare = page.getByRole("button", { name: "Compare", exact: true });
      const across = page.getByRole("table", { name: "The fastest of what was compared in this browser, by size" });
      const decision = page.getByRole("table", { name: /^What each algorithm takes/ });
      await compare.click();
      await page.waitForURL(/&compared=1/);
      await decision.getByText("best", { exact: true }).first().waitFor();
      await decision.getByText("tie", { exact: true }).first().waitFor();
      expect(await across.count()).toBe(0);
      await page.evaluate(() => {
        location.hash = location.hash.replace("ring:4", "ring:5").replace("&compared=1", "");
      });
      await app.shows(/made for another network/);
      await compare.click();
      await across.getByRole("row", { name: /^ring:5, allgather/ }).waitFor();
      const [shown, other] = await across.getByRole("row").filter({ hasText: "allgather" }).allInnerTexts();
      expect(shown).toMatch(/^ring:5/);
      expect(other).toMatch(/^ring:4.*\d x/s);
      await page.reload();
      await across.getByRole("button", { name: "ring:4, allgather" }).click();
      await page.waitForURL(/topology=ring:4/);
      await page.getByText("all-gather on ring:4.").waitFor();
      await across.getByRole("button", { name: "Forget" }).first().click();
      await across.waitFor({ state: "detached" });
      await app.close();
    },
  );
});
