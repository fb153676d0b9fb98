import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { commandsHere } from "../../support/cli-here.ts";
import { describeApp, PATIENCE } from "./with-app.ts";

const here = commandsHere();
/** Takes minutes, and many short tasks on the way: the failed link leaves no symmetry to make trials alike. */
const LONG_RUN = "#topology=mesh:12x12&without=0-1&collective=allreduce&size=1GiB&algorithm=tacos&trials=100000";

/** The SHA-256 of the file that the command line writes. */
async function hashHere(line: string): Promise<string> {
  await here.run(`synth ${line} -o schedule.json --quiet`);
  return createHash("sha256")
    .update(readFileSync(here.at("schedule.json")))
    .digest("hex");
}

describeApp("syntheses in the app", (tools) => {
  it("goes from a preset to a verified schedule with its figures", PATIENCE, async () => {
    const app = await tools().open();
    await app.typeNetwork("mesh:4x4");
    const sentence = await app.synthesize();
    expect(sentence).toMatch(/^The all-gather of 256 MiB by \w+ takes .* The schedule was verified\.$/);
    const result = app.page.getByRole("region", { name: "Result" });
    expect(await result.getByRole("term").allInnerTexts()).toContain("Verified");
    expect(await result.getByRole("definition").allInnerTexts()).not.toContain("");
    await app.close();
  });

  it.each([
    ["mesh:5x4@50GB/s,0.5us", "allgather", "1MiB", "tacos"],
    ["dgx-a100:2", "allreduce", "64MiB", "forestcoll"],
    ["torus:4x4", "allreduce", "16MiB", "themis"],
  ])(
    "makes the file of the command line, also after a reload: %s %s",
    PATIENCE,
    async (topology, kind, size, algorithm) => {
      const fragment = `#topology=${topology}&collective=${kind}&size=${size}&algorithm=${algorithm}&seed=7`;
      const line = `${topology} --collective ${kind} --size ${size} --algorithm ${algorithm} --seed 7`;
      const app = await tools().open(fragment);
      const sentence = await app.synthesize();
      const sum = await app.sha256();
      expect(sum).toBe(await hashHere(line));
      await app.page.waitForURL(/run=1$/);
      await app.page.reload();
      expect(await app.answer()).toBe(sentence);
      expect(await app.sha256()).toBe(sum);
      await app.close();
    },
  );

  it("stops a long run when it is cancelled, and goes on with what was there", PATIENCE, async () => {
    const app = await tools().open("#topology=ring:4&collective=allgather&size=1MiB&algorithm=tacos");
    const first = await app.synthesize();
    await app.page.goto(tools().host.url + LONG_RUN);
    await app.shows(/^144 NPUs/);
    await app.begin();
    await app.page.getByRole("progressbar").first().waitFor();
    await app.page.waitForTimeout(1000);
    await app.page.keyboard.press("Escape");
    await app.ready();
    expect(await app.answer()).toBe(first);
    await app.typeNetwork("ring:8");
    await app.shows(/^8 NPUs/);
    expect(await app.synthesize()).toMatch(/verified/);
    await app.close();
  });

  it("says that its worker died, and works on with a new one", PATIENCE, async () => {
    const app = await tools().open(LONG_RUN);
    await app.begin();
    await app.page.getByRole("progressbar").first().waitFor();
    const maker = app.page.workers().find((worker) => /main/.test(worker.url()));
    await maker?.evaluate("setTimeout(() => { throw new Error('struck by lightning'); })");
    await app.page.getByRole("alert").filter({ hasText: "struck by lightning" }).waitFor();
    await app.ready();
    await app.typeNetwork("ring:8");
    await app.shows(/^8 NPUs/);
    expect(await app.synthesize()).toMatch(/verified/);
    await app.close();
  });

  it("promises no same file where a time limit decides what is tried", PATIENCE, async () => {
    const app = await tools().open("#topology=mesh:2x2&collective=allgather&size=1MiB&algorithm=auto");
    await app.synthesize();
    await app.page.getByText(/^Why, how, and the same/).click();
    await app.shows(/^What auto tries within its time limit depends on the machine; here it chose [\w-]+\.$/);
    expect(await app.page.getByRole("heading", { name: "The same file on the command line" }).count()).toBe(0);
    await app.close();
  });
});

describeApp(
  "syntheses in the app without isolation",
  (tools) => {
    it("works with one thread", PATIENCE, async () => {
      const app = await tools().open("#topology=dgx-a100:2&collective=allreduce&size=64MiB&algorithm=forestcoll", {
        serviceWorkers: "block",
        excused: /registration blocked by Playwright/,
      });
      expect(await app.page.evaluate("crossOriginIsolated")).toBe(false);
      expect(await app.synthesize()).toMatch(/verified/);
      const line = "dgx-a100:2 --collective allreduce --size 64MiB --algorithm forestcoll";
      expect(await app.sha256()).toBe(await hashHere(line));
      await app.close();
    });
  },
  {},
);
