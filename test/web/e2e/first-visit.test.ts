import { expect, it } from "vitest";
import { EXAMPLES } from "../../../src/web/state/examples.ts";
import { FIRST_EXAMPLE } from "../../../src/web/state/words.ts";
import { describeApp, PATIENCE } from "./with-app.ts";

describeApp("a first visit", (tools) => {
  it("shows a finished example that plays, and what was kept the next time", PATIENCE, async () => {
    const app = await tools().open();
    const { page } = app;
    expect(await app.answer()).toMatch(/^The all-gather of 256 MiB by tacos takes .* The schedule was verified\.$/);
    await page.getByRole("button", { name: "Pause" }).waitFor();
    const time = page.getByRole("slider", { name: "Time" });
    const before = Number(await time.inputValue());
    await expect.poll(async () => Number(await time.inputValue())).toBeGreaterThan(before);
    await app.typeNetwork("ring:5");
    await app.shows(/^5 NPUs/);
    await page.waitForURL(/topology=ring:5/);
    await page.goto(tools().host.url);
    await page.reload();
    await app.shows(/^5 NPUs/);
    await app.close();
  });

  it("does not move for those who want that", PATIENCE, async () => {
    const app = await tools().open("", { reducedMotion: "reduce" });
    await app.answer();
    await app.page.getByRole("button", { name: "Play" }).waitFor();
    expect(await app.page.getByRole("slider", { name: "Time" }).inputValue()).toBe("0");
    await app.close();
  });

  it("has finished examples a click away, each with its answer", PATIENCE, async () => {
    const app = await tools().open(FIRST_EXAMPLE);
    const { page } = app;
    await app.answer();
    for (const { title, address } of EXAMPLES.filter(({ address }) => address !== FIRST_EXAMPLE)) {
      await page.getByRole("button", { name: "Examples" }).click();
      await page.getByRole("dialog", { name: "Examples" }).getByRole("link", { name: title }).click();
      await page.getByRole("dialog").waitFor({ state: "detached" });
      const { topology, view } = Object.fromEntries(new URLSearchParams(address.slice(1)));
      await expect.poll(() => page.getByRole("combobox", { name: "Network" }).inputValue()).toBe(topology);
      expect(await page.getByRole("tab", { selected: true }).getAttribute("id")).toBe(`tab-${view}`);
      if (view === "training") await page.getByRole("table", { name: /^Distinct communications/ }).waitFor();
      else {
        const [, size] = /size=(\d+)MiB/.exec(address) ?? [];
        await app.answer(new RegExp(` of ${size} MiB by .* The schedule was verified\\.$`));
        await page.getByText("Out of date").waitFor({ state: "detached" });
      }
      if (view === "time") await page.getByRole("button", { name: "Pause" }).waitFor();
    }
    await app.close();
  });

  it("hides the names of the command line until they are asked for, and keeps that", PATIENCE, async () => {
    const app = await tools().open("#topology=ring:4&collective=allgather&size=1MiB");
    const flag = app.page.getByText("--size", { exact: true });
    await flag.waitFor({ state: "hidden" });
    await app.page.getByLabel("Names on the command line").check();
    await flag.waitFor();
    await app.page.reload();
    await flag.waitFor();
    await app.close();
  });
});
