import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { TINY_LLAMA } from "../../support/tiny-llama.ts";
import { describeApp, PATIENCE } from "./with-app.ts";

/** A small model of its own: 2 layers. */
const CONFIG = JSON.stringify({ ...TINY_LLAMA, num_hidden_layers: 2 });

describeApp("training steps in the app", (tools) => {
  it("are worked out of a config.json, kept in the address, and saved", PATIENCE, async () => {
    const app = await tools().open("#topology=dgx-a100:1&view=training&parallel=tp=2,pp=2&batch=8");
    const { page } = app;
    await page.getByLabel("Model's config.json").setInputFiles({
      ...{ name: "config.json", mimeType: "application/json", buffer: Buffer.from(CONFIG) },
    });
    await page.waitForURL(/model=config.json~/);
    await page.getByLabel("Batch").press("Enter");
    await app.shows(/^A step of .* on dgx-a100:1 takes .* tokens a second/);
    await page.getByRole("table", { name: "Time, speed and gain by who makes the collectives" }).waitFor();
    await page.getByRole("img", { name: /^best: computing .* %, waiting for tp/ }).waitFor();
    expect(await page.getByText("made for another network or step").count()).toBe(0);
    for (const [button, name, says] of [
      ["Save as JSON", /dgx-a100-1\.training\.json$/, "banyan/training@1"],
      ["Save a Perfetto trace", /dgx-a100-1\.step\.trace\.json$/, "traceEvents"],
    ] as const) {
      const [download] = await Promise.all([
        page.waitForEvent("download"),
        page.getByRole("button", { name: button }).click(),
      ]);
      expect(download.suggestedFilename()).toMatch(name);
      expect(readFileSync(await download.path(), "utf8")).toContain(says);
    }
    // the same address in another tab
    const again = await tools().open(new URL(page.url()).hash);
    expect(await again.page.getByLabel("Model", { exact: true }).inputValue()).toBe("config.json");
    expect(await again.page.getByLabel("Parallel").inputValue()).toBe("tp=2,pp=2");
    await again.close();
    await page.getByLabel("Batch").fill("16");
    await app.shows("made for another network or step");
    await app.close();
  });

  it("say beside the field what cannot be, and stop with Escape", PATIENCE, async () => {
    const app = await tools().open("#topology=dgx-a100:2&view=training&parallel=tp=8");
    const { page } = app;
    const go = page.getByRole("button", { name: "Work out the step" });
    const parallel = page.getByLabel("Parallel");
    await parallel.fill("tp=8,dp=4");
    await go.click();
    await app.shows(/it must be a product of 16 NPUs; dp=2 makes them 16\.$/);
    expect(await parallel.getAttribute("aria-invalid")).toBe("true");
    await parallel.fill("");
    expect(await parallel.getAttribute("aria-invalid")).toBe("false");
    await page.getByRole("combobox", { name: "Model" }).fill("mixtral-8x7b");
    await page.keyboard.press("Escape");
    await page.getByLabel("Batch").fill("512");
    await go.click();
    await page.getByRole("progressbar", { name: "Training step" }).waitFor();
    await page.keyboard.press("Escape");
    await go.waitFor();
    expect(await page.getByRole("button", { name: /^Stop/ }).count()).toBe(0);
    await app.close();
  });

  it("tell what a link that fails costs, and step through time by keys", PATIENCE, async () => {
    const app = await tools().open(
      "#topology=torus:2x4&without=0-1&view=training&model=gpt2-small&parallel=dp=8,zero=3&batch=8&accelerator=a100",
    );
    const { page } = app;
    await app.shows(/0-1 failed: the step is compared with that of the whole network/);
    await page.getByRole("button", { name: "Work out the step" }).click();
    await app.shows(/^The failure costs a step with the collectives of libraries .* before, now /);
    const chart = page.getByRole("region", { name: /bars over/ });
    await chart.focus();
    await chart.press("+");
    await chart.press(".");
    await chart.press(".");
    await expect.poll(() => page.getByText(/^What runs at/).innerText()).not.toMatch(/at 0 µs/);
    await chart.press(",");
    await chart.press(",");
    await app.shows(/^What runs at 0 µs/);
    await app.close();
  });
});
