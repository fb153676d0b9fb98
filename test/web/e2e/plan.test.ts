import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { TINY_LLAMA } from "../../support/tiny-llama.ts";
import { brokenRules } from "./axe.ts";
import { describeApp, PATIENCE } from "./with-app.ts";

const CONFIG = JSON.stringify({ ...TINY_LLAMA, vocab_size: 1024, num_hidden_layers: 3 });
const ASKED = "#topology=ring:4&view=plan&batch=4&seq=64&mesh=2x2&passes=1&accelerator=a100&plan-time=3s";
const SIZES = [
  { width: 1280, height: 800 },
  { width: 1920, height: 1080 },
  { width: 390, height: 844 },
];

describeApp("plans in the app", (tools) => {
  it("are searched, drawn and saved, read by keys, and break no rule in any size or colour", PATIENCE, async () => {
    const app = await tools().open(ASKED, { bypassCSP: true });
    const { page } = app;
    await page.getByLabel("Model's config.json").setInputFiles({
      ...{ name: "config.json", mimeType: "application/json", buffer: Buffer.from(CONFIG) },
    });
    await page.waitForURL(/model=config.json~/);
    await page.getByRole("button", { name: "Search a plan" }).click();
    await app.shows(/^A step of .* on ring:4 takes .*: 2 .*; 2 .*, in 1 pass\. The best by hand/);
    expect(await page.getByText("made for another network or plan").count()).toBe(0);

    const graph = page.getByRole("region", { name: "The graph of tensors" });
    const nodes = graph.getByRole("group", { name: /nodes, forward/ }).getByRole("button");
    const first = nodes.filter({ hasText: "attention norm unscaled" }).first();
    await first.click();
    const details = graph.getByRole("complementary", { name: "Tensor" });
    await details
      .getByRole("heading", { name: /attention norm/ })
      .first()
      .waitFor();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    const below = (await page.locator("button:focus .plan-name").allInnerTexts()).join(" ");
    expect(below).not.toBe("attention norm unscaled");
    expect(await details.getByRole("heading").first().innerText()).toBe(below);
    await graph.getByLabel("backward", { exact: true }).check();
    await graph.getByRole("group", { name: /nodes, backward/ }).waitFor();
    await graph.getByRole("button", { name: /^∇ queries weights/ }).waitFor();
    await page.getByRole("img", { name: /bars over .*sets? of axes/ }).waitFor();

    const broken: string[] = [];
    for (const viewport of SIZES) {
      for (const colorScheme of ["light", "dark"] as const) {
        await page.setViewportSize(viewport);
        await page.emulateMedia({ colorScheme });
        await page.waitForTimeout(400);
        broken.push(...(await brokenRules(page, `${viewport.width}, ${colorScheme}`)));
      }
    }
    expect(broken).toEqual([]);

    for (const [button, name, says] of [
      ["PyTorch placements", /ring-4\.torch\.py$/, "Shard("],
      ["Perfetto trace", /ring-4\.step\.trace\.json$/, "traceEvents"],
      ["JSON", /ring-4\.plan\.json$/, "banyan/plan@1"],
    ] as const) {
      const [download] = await Promise.all([
        page.waitForEvent("download"),
        page.getByRole("button", { name: button, exact: true }).click(),
      ]);
      expect(download.suggestedFilename()).toMatch(name);
      expect(readFileSync(await download.path(), "utf8")).toContain(says);
    }
    await page.getByLabel("Batch").fill("8");
    await app.shows("made for another network or plan");
    await app.close();
  });

  it("say beside the field what cannot be, and stop with Escape", PATIENCE, async () => {
    const app = await tools().open(
      "#topology=ring:4&view=plan&model=gpt2-small&batch=8&seq=128&accelerator=a100&mesh=3",
    );
    const { page } = app;
    const go = page.getByRole("button", { name: "Search a plan" });
    await go.click();
    await app.shows(/must be of 4 NPUs/);
    expect(await page.getByLabel("Mesh").getAttribute("aria-invalid")).toBe("true");
    await page.getByLabel("Mesh").fill("");
    await page.getByLabel("Memory").fill("1MiB");
    await page.getByLabel("Graph's file").setInputFiles({
      ...{ name: "notes.json", mimeType: "application/json", buffer: Buffer.from("[]") },
    });
    await go.click();
    await app.shows(/^notes\.json/);
    await page.getByRole("button", { name: "Close notes.json" }).click();
    await page.getByLabel("Memory").fill("");
    await go.click();
    await page.getByRole("progressbar", { name: "Plan" }).waitFor();
    await page.keyboard.press("Escape");
    await go.waitFor();
    await app.close();
  });
});
