import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, it } from "vitest";
import { type Host, host } from "../../support/host.ts";
import type { SiteFiles } from "../../support/site.ts";
import { type AppPage, openApp } from "./app-page.ts";
import { describeApp, PATIENCE } from "./with-app.ts";

const RING = "#topology=ring:4&collective=allgather&size=1MiB&algorithm=tacos";

/** Waits until the page has a copy of all its files. */
const isKept = (app: AppPage): Promise<unknown> =>
  expect
    .poll(() => app.page.evaluate("navigator.serviceWorker.ready.then(({ active }) => active?.state)"))
    .toBe("activated");

/** Returns the build of the service worker that is in charge, and the caches that there are. */
const caches = (app: AppPage): Promise<string[]> => app.page.evaluate("caches.keys()");

describeApp(
  "the app on a host without headers of isolation",
  (tools) => {
    it("works without a network after its first load, every view too", PATIENCE, async () => {
      const own: Host = await host(tools().files, {});
      const app = await tools().open("", { excused: /ERR_INTERNET_DISCONNECTED|ERR_CONNECTION_REFUSED/ }, own);
      await isKept(app);
      await app.page.goto("about:blank");
      own.close();
      await app.context.setOffline(true);
      await app.page.goto(`${own.url}${RING}`);
      await app.ready();
      expect(await app.synthesize()).toMatch(/verified/);
      for (const tab of await app.page.getByRole("tab").all()) {
        await tab.click();
        await app.page.getByRole("tabpanel").locator(":scope > *").first().waitFor();
        expect(await app.page.getByText("could not be loaded").count()).toBe(0);
      }
      const { text } = await app.download(/^html$/);
      expect(text).toContain('id="banyan-inside">{');
      await app.close();
    });

    it("offers once to be loaded again for threads, and has them then", PATIENCE, async () => {
      const app = await tools().open(RING, { cores: 2 });
      expect(await app.page.evaluate("crossOriginIsolated")).toBe(false);
      await app.page.getByRole("button", { name: "Reload", exact: true }).click();
      await expect.poll(() => app.page.evaluate("crossOriginIsolated && document.readyState")).toBe("complete");
      await app.ready();
      expect(await app.synthesize()).toMatch(/verified/);
      expect(await app.page.getByRole("button", { name: "Reload", exact: true }).count()).toBe(0);
      await app.close();
    });

    it("offers nothing twice where a reload brings no threads", PATIENCE, async () => {
      const app = await tools().open(RING, { cores: 2 });
      await app.page.getByRole("button", { name: "Reload", exact: true }).waitFor();
      await app.page.evaluate("sessionStorage.setItem('banyan.reloaded-for-threads', '1')");
      await app.page.evaluate(
        "navigator.serviceWorker.getRegistration().then((registration) => registration.unregister())",
      );
      await app.page.reload();
      await app.ready();
      await isKept(app);
      await app.page.waitForTimeout(500);
      expect(await app.page.evaluate("crossOriginIsolated")).toBe(false);
      expect(await app.page.getByRole("button", { name: "Reload", exact: true }).count()).toBe(0);
      await app.close();
    });
  },
  {},
);

describeApp("new versions of the app", (tools) => {
  it("wait until the user loads the page again, and replace the old one", PATIENCE, async () => {
    const own = await host(tools().files);
    const app = await tools().open("", {}, own);
    await isKept(app);
    const [old] = await caches(app);
    const files = new Map<string, string | Uint8Array>(tools().files);
    const worker = Buffer.from(files.get("/service-worker.js") as Uint8Array).toString();
    files.set("/service-worker.js", worker.replace(old?.split(" ").at(-1) as string, "the-next-build"));
    const index = Buffer.from(files.get("/index.html") as Uint8Array).toString();
    files.set("/index.html", index.replace("<html", '<html data-build="next"'));
    own.offer(files);
    await app.page.reload();
    await app.shows("A new version is ready.");
    expect(await app.page.locator("html").getAttribute("data-build")).toBeNull();
    await app.page.getByRole("button", { name: "Reload", exact: true }).click();
    await app.page.locator("html[data-build=next]").waitFor({ state: "attached" });
    await app.ready();
    await expect.poll(() => caches(app)).toEqual([old?.replace(/ [^ ]*$/, " the-next-build")]);
    await app.close();
    own.close();
  });
});

describeApp("the app in one file", (tools) => {
  it("needs no other file, registers nothing and makes verified schedules", PATIENCE, async () => {
    const page = tools().files.get("/banyan.html") as Uint8Array;
    const own = await host(new Map([["/index.html", page]]), {});
    // browsers ask every host for an icon
    const app = await tools().open(RING, { excused: /404/ }, own);
    expect(await app.synthesize()).toMatch(/verified/);
    expect(own.asked.filter((path) => path !== "/" && path !== "/favicon.ico")).toEqual([]);
    expect(await app.page.evaluate("navigator.serviceWorker.getRegistrations().then(({ length }) => length)")).toBe(0);
    await app.close();
    own.close();
  });

  it("runs from the disk, on WebAssembly", PATIENCE, async () => {
    const folder = mkdtempSync(join(tmpdir(), "banyan-page-"));
    try {
      const file = join(folder, "banyan.html");
      writeFileSync(file, tools().files.get("/banyan.html") as Uint8Array);
      const app = await openApp(tools().browser, pathToFileURL(file).href + RING);
      await app.shows(/^wasm, /);
      expect(await app.synthesize()).toMatch(/verified/);
      await app.showView("Time");
      await app.page.waitForURL(/view=time&run=1$/);
      await app.page.reload();
      expect(await app.answer()).toMatch(/verified/);
      await app.page.goBack();
      await app.page.waitForURL(/tacos&run=1$/);
      await app.page.locator("body").press("?");
      const address = await app.page.getByRole("link", { name: "licences of all that is in it" }).getAttribute("href");
      const licences = await app.page.evaluate(async (url) => (await fetch(url)).text(), address ?? "");
      expect(licences).toMatch(/^preact \d/m);
      await app.close();
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it("says that what is inside is damaged, and works", PATIENCE, async () => {
    const own = await host(new Map([["/index.html", pageWith(tools().files, '{"name": "cut.json", "te')]]), {});
    const app = await tools().open("", { excused: /404/ }, own);
    await app.page.getByRole("alert").filter({ hasText: "what this page has inside" }).waitFor();
    expect(await app.synthesize()).toMatch(/verified/);
    await app.close();
    own.close();
  });

  it("shows what is inside, keeps nothing of it, and has it after a reload", PATIENCE, async () => {
    const inside = { name: "inner <b>.json", kind: "network", text: NETWORK };
    const json = JSON.stringify(inside).replaceAll("<", "\\u003c");
    const page = pageWith(tools().files, json);
    const own = await host(new Map([["/index.html", page]]), {});
    const app = await tools().open("", { excused: /404/ }, own);
    await app.shows("inner <b>.json");
    await app.shows(/^3 NPUs/);
    await app.page.waitForURL(/#file=inner/);
    expect(await app.page.evaluate("localStorage.getItem('banyan.address')")).toBeNull();
    await app.page.reload();
    await app.ready();
    await app.shows(/^3 NPUs/);
    await app.close();
    own.close();
  });
});

/** Returns the page in one file with a text inside. */
function pageWith(files: SiteFiles, json: string): Buffer {
  const page = Buffer.from(files.get("/banyan.html") as Uint8Array).toString();
  return Buffer.from(page.replace(/(id="banyan-inside">)null/, (_, head: string) => head + json));
}

const NETWORK = JSON.stringify({
  format: "banyan-topology",
  version: 1,
  name: "inner",
  nodes: ["a", "b", "c"].map((id) => ({ id, kind: "npu" })),
  links: [
    ["a", "b"],
    ["b", "c"],
    ["c", "a"],
  ].map(([from, to]) => ({ from, to, bandwidthGBps: 50, latencyUs: 0.5, bidirectional: true })),
});
