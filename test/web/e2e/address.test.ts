import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { describeApp, PATIENCE } from "./with-app.ts";

const SMI = readFileSync(new URL("../../fixtures/two-boards.nvidia-smi.txt", import.meta.url), "utf8");
const BOXES = readFileSync(new URL("../../fixtures/two-boxes.topology.json", import.meta.url), "utf8");
const RING = "#topology=ring:4&collective=allgather&size=1MiB&algorithm=tacos";

/** A ring whose bandwidths do not pack into an address. */
function largeNetwork(): string {
  const nodes = Array.from({ length: 2000 }, (_, i) => ({ id: `n${i}`, kind: "npu" }));
  const links = nodes.map(({ id }, i) => {
    const bandwidthGBps = 10 + (Math.imul(i + 1, 0x9e3779b1) >>> 0) / 1e9;
    return { from: id, to: nodes[(i + 1) % nodes.length]?.id, bandwidthGBps, latencyUs: 0.5, bidirectional: true };
  });
  return JSON.stringify({ format: "banyan-topology", version: 1, name: "large", nodes, links });
}

describeApp("addresses of the app", (tools) => {
  it("measures kernels in the tab at #bench, and is as before when that is closed", PATIENCE, async () => {
    const app = await tools().open("#bench");
    const table = app.page.getByRole("dialog", { name: "Kernels in this tab" });
    await table.getByText(/^JavaScript gives the same bits for (\d+) of \1 kernels and has no judge\.$/).waitFor();
    expect(await table.getByRole("row").count()).toBeGreaterThan(10);
    await app.page.keyboard.press("Escape");
    await table.waitFor({ state: "detached" });
    await app.page.waitForURL(/#topology=/);
    await app.close();
  });

  it("measures over a schedule, and is as before when that is stopped, by Back too", PATIENCE, async () => {
    const app = await tools().open(RING);
    const ring = await app.synthesize();
    await app.page.waitForURL(`**/${RING}&run=1`);
    const table = app.page.getByRole("dialog", { name: "Kernels in this tab" });
    for (const stop of [() => app.page.keyboard.press("Escape"), () => app.page.goBack()]) {
      await app.page.evaluate("location.hash = 'bench'");
      await table.getByText(/^measuring/).waitFor();
      await stop();
      await table.waitFor({ state: "detached" });
      await app.page.waitForURL(`**/${RING}&run=1`);
      expect(await app.answer()).toBe(ring);
    }
    await app.close();
  });

  it("says all that is shown, and Back returns to views and schedules", PATIENCE, async () => {
    const app = await tools().open(RING);
    const ring = await app.synthesize();
    await app.page.waitForURL(`**/${RING}&run=1`);
    await app.showView("Limit");
    await app.page.waitForURL(`**/${RING}&view=bound&run=1`);
    await app.typeNetwork("mesh:3x3");
    await app.shows(/^9 NPUs/);
    const mesh = await app.synthesize();
    expect(mesh).not.toBe(ring);
    await app.page.waitForURL(/#topology=mesh:3x3&.*&view=bound&run=1$/);
    await app.page.goBack();
    await app.page.waitForURL(`**/${RING}&view=bound&run=1`);
    await expect.poll(() => app.answer()).toBe(ring);
    await app.page.goBack();
    await app.page.waitForURL(`**/${RING}&run=1`);
    await app.page.getByRole("tab", { name: "Network", exact: true, selected: true }).waitFor();
    await app.page.goForward();
    await app.page.goForward();
    await expect.poll(() => app.answer()).toBe(mesh);
    await app.close();
  });

  it("goes back to a schedule for good while another one is made", PATIENCE, async () => {
    const app = await tools().open(RING);
    const ring = await app.synthesize();
    await app.page.waitForURL(`**/${RING}&run=1`);
    await app.typeNetwork("mesh:24x24");
    await app.shows(/^576 NPUs/);
    await app.page.waitForURL(/mesh:24x24/);
    await app.begin();
    await app.page.getByRole("progressbar").first().waitFor();
    await app.page.goBack();
    await app.shows(/^4 NPUs/);
    await app.page.getByRole("button", { name: /^Cancel/ }).waitFor({ state: "detached" });
    expect(await app.answer()).toBe(ring);
    expect(await app.page.getByText("Out of date").count()).toBe(0);
    await app.page.waitForURL(`**/${RING}&run=1`);
    await app.close();
  });

  it(
    "makes the schedule of a link that says run=1, and follows the address that is typed later",
    PATIENCE,
    async () => {
      const app = await tools().open(`${RING}&run=1`);
      const ring = await app.answer();
      await app.page.goto(`${tools().host.url}#topology=ring:5&collective=allgather&size=1MiB&algorithm=tacos&run=1`);
      await expect.poll(() => app.answer()).not.toBe(ring);
      await app.close();
    },
  );

  it(
    "says which sizes, algorithms and figures are compared, and that they were: they are shown again, or made again",
    PATIENCE,
    async () => {
      const app = await tools().open("#topology=ring:4&collective=allgather&view=compare");
      const { page } = app;
      const compare = page.getByRole("button", { name: "Compare", exact: true });
      await page.getByRole("combobox", { name: "to", exact: true }).selectOption("16 KiB");
      await page.getByRole("combobox", { name: "times" }).selectOption("4");
      await page.getByText("All algorithms that apply").click();
      const tried = page.getByRole("group", { name: "Algorithms to compare" });
      await tried.getByRole("checkbox", { name: "ring", exact: true }).uncheck();
      await page.waitForURL(/&view=compare&sizes=1KiB\.\.16KiB\*4&algorithms=(?!.*\bring\b)[\w,-]+$/);
      await compare.click();
      await page.getByLabel("Bus bandwidth").check();
      await page.waitForURL(/&view=compare&compared=1&.*&measure=busbw$/);
      const table = page.getByRole("table", { name: "What each algorithm takes at each size, beside the fastest" });
      await table.waitFor();
      const chosen = page.url();
      await app.showView("Network");
      await page.waitForURL(chosen.replace("&view=compare", ""));
      await page.goBack();
      await page.waitForURL(chosen);
      await page.getByRole("tab", { name: "Compare", selected: true }).waitFor();
      await page.reload();
      await app.ready();
      await table.waitFor();
      await app.shows("3 sizes");
      await page.getByText(/^\d+ algorithms$/).click();
      expect(await tried.getByRole("checkbox", { name: "ring", exact: true }).isChecked()).toBe(false);
      expect(page.url()).toBe(chosen);
      await compare.click();
      await page.getByLabel("Bus bandwidth").and(page.locator(":checked")).waitFor();
      await page.getByRole("combobox", { name: "to", exact: true }).selectOption("1 GiB");
      await page.getByRole("combobox", { name: "times" }).selectOption("16");
      await page.getByRole("button", { name: "All that apply" }).click();
      await page.getByLabel("Time", { exact: true }).check();
      await page.waitForURL(/&view=compare$/);
      await app.close();
      const elsewhere = await tools().open(new URL(chosen).hash);
      await elsewhere.page.getByRole("table", { name: /^What each algorithm takes/ }).waitFor();
      await elsewhere.close();
    },
  );

  it("says which matrix of the links is shown, where it is not the usual one", PATIENCE, async () => {
    const app = await tools().open("#topology=dgx-a100:2&collective=allgather&size=16MiB&view=links&run=1");
    const { page } = app;
    const shown = (label: string) => page.getByLabel(label, { exact: true }).and(page.locator(":checked")).waitFor();
    await shown("What NPUs send each other");
    await page.getByLabel("Use of the links").check();
    await page.waitForURL(/&view=links&matrix=links&run=1$/);
    await app.showView("Limit");
    await page.waitForURL(/&view=bound&matrix=links&run=1$/);
    await page.goBack();
    await shown("Use of the links");
    await page.reload();
    await shown("Use of the links");
    await page.getByLabel("What NPUs send each other").check();
    await page.waitForURL(/&view=links&run=1$/);
    await app.close();
  });

  it("uses what can be used and says what cannot", PATIENCE, async () => {
    const app = await tools().open("#topology=ring:6&size=lots&view=inside-out&colour=red&sizes=1KiB&matrix=links");
    await app.shows(/^6 NPUs/);
    const alert = app.page.getByRole("alert").filter({ hasText: "address" });
    for (const text of ["--size", "inside-out", "colour", "1KiB..1GiB*16"])
      expect(await alert.innerText()).toContain(text);
    expect(await app.synthesize()).toMatch(/^The all-gather of 256 MiB/);
    await app.close();
  });

  it(
    "shows a network where the address has none that can be read, and says so beside the field",
    PATIENCE,
    async () => {
      const app = await tools().open("#topology=mesh:4xx");
      const field = app.page.getByRole("combobox", { name: "Network" });
      await field.and(app.page.locator('[aria-invalid="true"]')).waitFor();
      expect(await field.inputValue()).toBe("mesh:4xx");
      await app.page.getByText(/mesh:4xx lacks a size/).waitFor();
      await app.close();
    },
  );

  it.each([
    ["without=0-99", "--without", /^mesh:4x4: 16 NPUs/],
    ["group=0,99&run=1", "--group", /^mesh:4x4: 16 NPUs/],
  ])("says at the top that %s cannot be, and shows the network without it", PATIENCE, async (said, flag, shown) => {
    const app = await tools().open(`#topology=mesh:4x4&collective=allgather&${said}`);
    const alert = app.page.getByRole("alert").filter({ hasText: "The address asks for what cannot be." });
    expect(await alert.innerText()).toContain(flag);
    await app.shows(shown);
    await app.close();
  });

  it("holds a small file, for other browsers too", PATIENCE, async () => {
    const app = await tools().open();
    await app.drop("two-boxes.json", BOXES);
    await app.shows(/^4 NPUs/);
    await app.page.waitForURL(/#file=two-boxes\.json~[\w-]+&/);
    const link = app.page.url();
    await app.close();
    const other = await tools().open(`#${link.split("#")[1]}`);
    await other.shows("two-boxes.json");
    await other.shows(/^4 NPUs/);
    await other.close();
    const cut = await tools().open(`#${link.split("#")[1]?.replace(/~([\w-]{80})[\w-]+/, "~$1")}`);
    expect(await cut.page.getByRole("alert").filter({ hasText: "address" }).innerText()).toContain(
      "a link that was cut short",
    );
    await cut.close();
  });

  it("mentions a large file, which this browser keeps and others ask for", PATIENCE, async () => {
    const large = largeNetwork();
    const app = await tools().open();
    await app.drop("large.json", large);
    await app.shows("large.json");
    await app.page.waitForURL(/#file=large\.json~kept\.[\w-]+&/);
    await app.page.waitForTimeout(2000);
    await app.page.reload();
    await app.ready();
    await app.shows("large.json");
    const fragment = app.page.url().split("#")[1];
    await app.close();
    const other = await tools().open(`#${fragment}`);
    const alert = other.page.getByRole("alert").filter({ hasText: "address" });
    expect(await alert.innerText()).toContain("a file that this browser has kept (open it again)");
    await other.close();
  });

  it("opens a file that the server offers, and says where it does not", PATIENCE, async () => {
    const { host, files, open } = tools();
    host.offer(new Map<string, string | Uint8Array>([...files, ["/inside/two boards.txt", SMI]]));
    const app = await open("#open=two%20boards.txt&gpu=a100&view=links");
    await app.shows(/^4 NPUs/);
    await app.page.waitForURL(/#file=two%20boards.txt~.*&gpu=a100&.*view=links/);
    await app.close();
    // a schedule of some other network is not made in its place
    const lost = await open("#open=lost.txt&run=1", { excused: /404/ });
    await lost.idle();
    await lost.shows(/Synthesize to get/);
    expect(await lost.page.getByRole("alert").filter({ hasText: "address" }).innerText()).toContain(
      "banyan serve FILE",
    );
    await lost.close();
    host.offer(files);
  });

  it("keeps the last state for a visit without an address, until it is forgotten", PATIENCE, async () => {
    const app = await tools().open("#topology=torus:3x3&collective=allreduce&size=8MiB&view=compare");
    await expect.poll(() => app.page.evaluate("localStorage.getItem('banyan.address')")).toMatch(/view=compare/);
    await app.page.goto("about:blank");
    await app.page.goto(tools().host.url);
    await app.ready();
    await app.page.waitForURL(/#topology=torus:3x3&collective=allreduce&size=8MiB&.*view=compare/);
    await app.page.getByRole("button", { name: "Forget everything kept here" }).click();
    await app.shows("Forgotten.");
    const left =
      "Promise.all([caches.keys(), navigator.serviceWorker.getRegistrations()]).then((all) => all.flat().length)";
    expect(await app.page.evaluate(`${left}.then((rest) => [rest, Object.keys(localStorage)])`)).toEqual([0, []]);
    await app.page.goto("about:blank");
    await app.page.goto(tools().host.url);
    await app.ready();
    await app.page.waitForURL(/#topology=mesh:4x4&/);
    await app.close();
  });

  it("works where the browser keeps nothing", PATIENCE, async () => {
    const app = await tools().open("", { awaited: false });
    await app.page.addInitScript(() => {
      const refuse = (): never => {
        throw new DOMException("denied", "SecurityError");
      };
      for (const name of ["localStorage", "sessionStorage", "indexedDB", "caches"]) {
        Object.defineProperty(globalThis, name, { get: refuse });
      }
    });
    await app.page.reload();
    await app.ready();
    expect(await app.synthesize()).toMatch(/verified/);
    await app.close();
  });

  it("gives a link to what is shown, which makes the same", PATIENCE, async () => {
    const app = await tools().open(RING, { permissions: ["clipboard-read", "clipboard-write"] });
    const ring = await app.synthesize();
    await app.page.getByRole("button", { name: "Copy link" }).click();
    await app.page
      .getByText(/link is on the clipboard/)
      .first()
      .waitFor();
    const link = (await app.page.evaluate("navigator.clipboard.readText()")) as string;
    expect(link).toBe(`${tools().host.url}${RING}&run=1`);
    await app.close();
    const other = await tools().open(new URL(link).hash);
    expect(await other.answer()).toBe(ring);
    await other.close();
  });
});
