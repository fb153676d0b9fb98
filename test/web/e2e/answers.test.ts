import type { Locator } from "playwright-core";
import { expect, it } from "vitest";
import { describeApp, PATIENCE } from "./with-app.ts";

/** What an act led to is told where whoever acted looks. */

const SMALL = "#topology=ring:4&collective=allgather&size=1MiB&algorithm=tacos";
const MESH = "#topology=mesh:3x3&collective=allgather&size=9MiB&algorithm=tacos";
const SCREENS = [
  { width: 1280, height: 800 },
  { width: 390, height: 844 },
] as const;

/** Returns whether all of something is in the window and nothing lies over it. */
const isSeen = (what: Locator): Promise<boolean> =>
  what.evaluate((element) => {
    const { left, top, right, bottom } = element.getBoundingClientRect();
    const over = document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
    return top >= 0 && left >= 0 && bottom <= innerHeight && right <= innerWidth && element.contains(over);
  });

describeApp("answers of the app, where one looks", (tools) => {
  it.each(SCREENS)(
    "says in a window that is scrolled down what its button did ($width px)",
    PATIENCE,
    async (viewport) => {
      const app = await tools().open(SMALL, { viewport });
      await app.synthesize();
      await app.page.getByRole("button", { name: "Downloads" }).click();
      const dialog = app.page.getByRole("dialog");
      const png = dialog.getByRole("button", { name: "png" });
      await dialog.evaluate((element) => element.scrollTo(0, element.scrollHeight));
      await png.click();
      const said = dialog.getByRole("status").filter({ hasText: /^allgather-ring-4-tacos-network\.png: / });
      await said.waitFor();
      expect(await isSeen(said)).toBe(true);
      expect(await isSeen(png)).toBe(true);
      await dialog.getByText("Options of programs").click();
      await dialog.getByLabel("Instances").fill("banana");
      await dialog.getByRole("button", { name: /^msccl-xml/ }).click();
      const wrong = dialog.getByRole("alert").filter({ hasText: /^--instances is "banana"/ });
      await wrong.waitFor();
      expect(await isSeen(wrong)).toBe(true);
      await app.close();
    },
  );

  it.each(SCREENS)(
    "answers a file that cannot be read where it was dropped ($width px)",
    PATIENCE,
    async (viewport) => {
      const app = await tools().open(SMALL, { viewport });
      const { page } = app;
      const at = { x: viewport.width - 60, y: viewport.height - 200 };
      const drop = (name: string, text: string): Promise<void> =>
        page.evaluate(
          ([name, text, { x, y }]) => {
            const dataTransfer = new DataTransfer();
            dataTransfer.items.add(new File([text], name));
            const event = { dataTransfer, bubbles: true, cancelable: true, clientX: x, clientY: y };
            document.elementFromPoint(x, y)?.dispatchEvent(new DragEvent("drop", event));
          },
          [name, text, at] as const,
        );
      await page.evaluate(() => scrollTo(0, document.body.scrollHeight));
      await drop("noise.bin", "\u0000\u0001\u0002");
      const answer = page.getByRole("region", { name: "noise.bin was not opened" });
      expect(await answer.getByRole("alert").innerText()).toMatch(/^noise\.bin was not opened\. .*text in UTF-8/);
      expect(await isSeen(answer)).toBe(true);
      const box = await answer.boundingBox();
      expect(Math.abs((box?.y ?? 0) + (box?.height ?? 0) - at.y)).toBeLessThan(2);
      // put aside, it is told below the button that opens files
      await page.keyboard.press("Escape");
      await answer.waitFor({ state: "detached" });
      expect(await page.getByRole("alert").filter({ hasText: "noise.bin was not opened" }).count()).toBe(1);
      await drop("other.bin", "\u0000");
      await page
        .getByRole("region", { name: "other.bin was not opened" })
        .getByRole("button", { name: "Forget other.bin" })
        .click();
      await page.getByText("was not opened").waitFor({ state: "detached" });
      await app.close();
    },
  );

  it.each(SCREENS)(
    "replaces the network's name that was there by what is typed after / ($width px)",
    PATIENCE,
    async (viewport) => {
      const app = await tools().open(SMALL, { viewport });
      const field = app.page.getByRole("combobox", { name: "Network" });
      await app.page.locator("body").press("/");
      await field.and(app.page.locator(":focus")).waitFor();
      await app.page.keyboard.type("torus:4x4");
      expect(await field.inputValue()).toBe("torus:4x4");
      await app.page.keyboard.press("Escape");
      await app.page
        .getByText(/^16 NPUs, 64 links/)
        .first()
        .waitFor();
      await app.close();
    },
  );

  it("opens the list of networks by a click on its field, and closes it when one is chosen", PATIENCE, async () => {
    const app = await tools().open(SMALL);
    const field = app.page.getByRole("combobox", { name: "Network" });
    await field.click();
    const list = app.page.getByRole("listbox", { name: "Networks to choose from" });
    await list.getByRole("option", { name: /^dgx-h100:2/ }).click();
    await list.waitFor({ state: "hidden" });
    expect(await field.inputValue()).toBe("dgx-h100:2");
    await field.click();
    await list.waitFor();
    await app.close();
  });

  it("has one button that restores all, in every view", PATIENCE, async () => {
    const app = await tools().open(`${MESH}&without=0-1`);
    for (const view of ["Network", "Time", "Training"]) {
      await app.showView(view);
      await app.page.getByRole("tabpanel", { name: view }).waitFor();
      expect(await app.page.getByRole("button", { name: "Restore all" }).count()).toBe(1);
    }
    await app.close();
  });

  it("writes microseconds as µs and sizes in binary units", PATIENCE, async () => {
    const app = await tools().open("#topology=ring:4&collective=allgather&size=64MB&algorithm=tacos&view=time");
    const { page } = app;
    await app.synthesize();
    expect(await page.getByRole("complementary").first().innerText()).toContain("61.04 MiB, 64,000,000 bytes");
    await page.getByLabel("Size", { exact: true }).fill("1MiB");
    await app.synthesize();
    const text = await page.locator("body").innerText();
    expect(text).toMatch(/\d µs\b/u);
    expect(text).not.toMatch(/\d us\b/);
    expect(await page.title()).toMatch(/\d µs,/u);
    await app.close();
  });

  it("gives each picture of a schedule a name of its own", PATIENCE, async () => {
    const app = await tools().open(SMALL);
    await app.synthesize();
    const views = ["topology", "links", "time"];
    const names: string[] = [];
    for (const view of views) names.push((await app.download(new RegExp(`^svg: ${view}$`))).name);
    expect(names).toEqual(views.map((view) => `allgather-ring-4-${view}.svg`));
    await app.close();
  });

  it("notes the answer where its sentence is out of sight", PATIENCE, async () => {
    const app = await tools().open(MESH, { viewport: { width: 390, height: 844 } });
    const { page } = app;
    await page.evaluate(() => scrollTo(0, document.body.scrollHeight));
    await app.begin();
    const note = page.getByRole("log", { name: "Messages" }).getByText(/^The all-gather of 9 MiB .* takes /);
    await note.waitFor();
    await app.find("0");
    await page
      .getByRole("button", { name: /^fails/ })
      .first()
      .click();
    await page
      .getByRole("log", { name: "Messages" })
      .getByText(/^It takes |^It is /)
      .waitFor();
    await app.close();
  });

  it("moves to the field that made a search fail", PATIENCE, async () => {
    const app = await tools().open(`${SMALL}&view=training`, { viewport: { width: 390, height: 500 } });
    const { page } = app;
    await page.getByLabel("Batch").fill("banana");
    await page.getByRole("button", { name: "Work out the step" }).click();
    const wrong = page.locator('.step-form [aria-invalid="true"]:focus');
    await wrong.waitFor();
    expect(await isSeen(wrong)).toBe(true);
    await app.close();
  });
});
