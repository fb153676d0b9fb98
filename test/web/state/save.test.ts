import { afterEach, expect, it, vi } from "vitest";
import { saveFile } from "../../../src/web/state/actions.ts";

afterEach(() => vi.unstubAllGlobals());

/** A page that counts what is handed to the browser. */
function page(): { readonly clicks: string[] } {
  const clicks: string[] = [];
  const link = { href: "", download: "", click: () => void clicks.push(link.download) };
  vi.stubGlobal("document", { createElement: () => link });
  return { clicks };
}

it("hands a file to the browser under its name", async () => {
  const { clicks } = page();
  await saveFile({ name: "ring.json", content: new Blob(["{}"]) });
  expect(clicks).toEqual(["ring.json"]);
});

it("rejects instead of starting a download that would fail where the bytes cannot be had", async () => {
  const { clicks } = page();
  const gone = new Blob(["x"]);
  gone.slice = () => ({ arrayBuffer: () => Promise.reject(new Error("no room for it")) }) as unknown as Blob;
  await expect(saveFile({ name: "large.bys", content: gone })).rejects.toThrow("no room for it");
  expect(clicks).toEqual([]);
});
