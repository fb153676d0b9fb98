import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { describeApp, PATIENCE } from "./with-app.ts";

const TWO_BOARDS = readFileSync(new URL("../../fixtures/two-boards.nvidia-smi.txt", import.meta.url), "utf8");
const SMALL = "#topology=ring:4&collective=allgather&size=1MiB&algorithm=tacos";

describeApp("the page around the views", (tools) => {
  it(
    "tells a mistake beside its field, moves there, keeps the result, and forgets it when mended",
    PATIENCE,
    async () => {
      const app = await tools().open(SMALL);
      const { page } = app;
      const sentence = await app.synthesize();
      await page.getByLabel("Size", { exact: true }).fill("banana");
      await page.getByText("Out of date").waitFor();
      await page.keyboard.press("Control+Enter");
      const wrong = page.locator('[aria-invalid="true"]');
      await wrong.and(page.locator(":focus")).waitFor();
      const described = (await wrong.getAttribute("aria-describedby")) ?? "";
      const said = await page.locator(`[id="${described.split(" ")[0]}"]`).innerText();
      expect(said).toMatch(/^--size is "banana"; it must be a positive size .*\.$/);
      expect(await app.answer()).toBe(sentence);
      await page.keyboard.press("Control+A");
      await page.keyboard.type("1MiB");
      await wrong.waitFor({ state: "detached" });
      await page.getByText("Out of date").waitFor({ state: "detached" });
      await app.close();
    },
  );

  it("folds the answer into one line with a scale of time, and keeps it so", PATIENCE, async () => {
    const app = await tools().open(SMALL, { viewport: { width: 1280, height: 800 } });
    const { page } = app;
    const frame = (): Promise<number> =>
      page.locator("#view").evaluate((element) => element.getBoundingClientRect().top);
    await app.synthesize();
    const before = await frame();
    await page.getByRole("button", { name: "One line" }).click();
    await page.getByRole("img", { name: /^The limit, .* on a scale from 0 to / }).waitFor();
    expect(await frame()).toBeLessThan(Math.min(150, before - 80));
    await page.reload();
    await app.ready();
    await app.synthesize();
    await page.getByRole("button", { name: "One line", pressed: true }).click();
    await expect.poll(frame).toBe(before);
    await app.close();
  });

  it("unfolds the options that a mistake is in", PATIENCE, async () => {
    const app = await tools().open("#topology=ring:4&collective=broadcast&size=1MiB&algorithm=tacos&root=nobody");
    await app.begin();
    const field = app.page.getByLabel("Root", { exact: true });
    await field.and(app.page.locator(':focus[aria-invalid="true"]')).waitFor();
    await app.close();
  });

  it("chooses a network by keys, and keeps the last one while there is a mistake in its name", PATIENCE, async () => {
    const app = await tools().open(SMALL);
    const { page } = app;
    const field = page.getByRole("combobox", { name: "Network" });
    await page.locator("body").press("/");
    await page.keyboard.press("Control+A");
    await page.keyboard.type("torus");
    await page.getByRole("option", { name: /^torus:8x8/ }).waitFor();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    expect(await field.inputValue()).toBe("torus:4x4x4");
    await app.shows("64 NPUs, 384 links");
    await field.fill("torus:4by4");
    await app.shows("Still shown: torus:4x4x4.");
    expect(await page.getByRole("listbox").count()).toBe(0);
    await app.close();
  });

  it("walks the views by arrows and shows one by Enter", PATIENCE, async () => {
    const app = await tools().open(SMALL);
    const { page } = app;
    const chosen = page.getByRole("tab", { selected: true });
    await chosen.focus();
    await page.keyboard.press("End");
    expect(await chosen.innerText()).toBe("Network");
    await page.keyboard.press("Enter");
    expect(await chosen.innerText()).toBe("Plan");
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("Enter");
    expect(await chosen.innerText()).toBe("Network");
    await app.close();
  });

  it("says its keys, and gives the page back after", PATIENCE, async () => {
    const app = await tools().open(SMALL);
    const { page } = app;
    await page.locator("body").press("?");
    const help = page.getByRole("dialog", { name: "Help" });
    await help.waitFor();
    const address = await help.getByRole("link", { name: "licences of all that is in it" }).getAttribute("href");
    expect(await page.evaluate(async (url) => (await fetch(url)).text(), address ?? "")).toMatch(/^preact \d/m);
    // what is under a window gets no keys
    await page.keyboard.press("Control+Enter");
    await page.keyboard.press("Escape");
    await help.waitFor({ state: "detached" });
    expect(await page.getByText("Synthesize to get a verified schedule").count()).toBe(1);
    await app.close();
  });

  it("asks for what a file leaves open, and reads it with that", PATIENCE, async () => {
    const app = await tools().open(SMALL);
    const { page } = app;
    await app.drop("two-boards.txt", TWO_BOARDS);
    await app.shows(/two-boards\.txt was not opened/);
    expect(await page.getByRole("combobox", { name: "Network" }).inputValue()).toBe("ring:4");
    await page.getByLabel("Model of the GPUs").fill("a100");
    await page.getByRole("button", { name: "Read it again" }).click();
    await page.getByText(/was not opened/).waitFor({ state: "detached" });
    await page.getByRole("complementary").getByText("two-boards.txt", { exact: true }).waitFor();
    await app.close();
  });

  it("opens what is pasted outside of fields", PATIENCE, async () => {
    const app = await tools().open(SMALL);
    await app.page.evaluate((text) => {
      const data = new DataTransfer();
      data.setData("text/plain", text);
      document.body.dispatchEvent(
        new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }),
      );
    }, TWO_BOARDS);
    await app.shows(/pasted\.txt was not opened/);
    await app.page.getByRole("button", { name: "Forget pasted.txt" }).click();
    await app.page.getByText(/was not opened/).waitFor({ state: "detached" });
    await app.close();
  });

  it("explains a program and its verdict, and closes it", PATIENCE, async () => {
    const app = await tools().open(SMALL);
    await app.synthesize();
    const { name, text } = await app.download(/^msccl-xml/);
    await app.drop(name, text);
    const program = app.page.getByRole("region", { name: `Program ${name}` });
    await program.getByText(/^verified by symbolic execution/).waitFor();
    expect(await program.getByRole("region", { name: "What the program does" }).innerText()).toMatch(/^allgather of 4/);
    await app.drop(
      "wrong.xml",
      text.replace(/nchunksperloop="\d+"/, 'nchunksperloop="1"').replace(/cnt="1"/, 'cnt="0"'),
    );
    await app.page
      .getByText(/it is wrong|was not opened/)
      .first()
      .waitFor();
    await app.page
      .getByRole("button", { name: /^(Close|Forget wrong\.xml)$/ })
      .first()
      .click();
    await app.close();
  });

  it("keeps the colours that were chosen", PATIENCE, async () => {
    const app = await tools().open(SMALL, { colorScheme: "light" });
    const { page } = app;
    const scheme = (): Promise<string> => page.evaluate(() => getComputedStyle(document.documentElement).colorScheme);
    await page.getByRole("button", { name: "Colours: as the system" }).click();
    await page.getByRole("button", { name: "Colours: light" }).click();
    expect(await scheme()).toBe("dark");
    await page.reload();
    await app.ready();
    expect(await scheme()).toBe("dark");
    await app.close();
  });

  it("moves nothing that is seen while it loads on a phone", PATIENCE, async () => {
    const app = await tools().open("", { viewport: { width: 412, height: 823 } });
    await app.answer(/The schedule was verified/);
    await app.page.getByRole("button", { name: "Pause" }).waitFor();
    const moved = await app.page.evaluate(
      () =>
        new Promise<number>((resolve) => {
          let sum = 0;
          new PerformanceObserver((list) => {
            for (const entry of list.getEntries())
              sum += (entry as PerformanceEntry & { readonly value: number }).value;
          }).observe({ type: "layout-shift", buffered: true });
          requestAnimationFrame(() => requestAnimationFrame(() => resolve(sum)));
        }),
    );
    expect(moved).toBeLessThan(0.01);
    await app.close();
  });

  it("tells a browser what it lacks", PATIENCE, async () => {
    const app = await tools().open("#", { awaited: false });
    await app.page.addInitScript(() => Reflect.deleteProperty(globalThis, "structuredClone"));
    await app.page.reload();
    await app.page.getByRole("heading", { name: "Banyan needs a newer browser" }).waitFor();
    expect(await app.page.getByRole("listitem").allInnerTexts()).toEqual([expect.stringContaining("structuredClone")]);
    await app.close();
  });
});
