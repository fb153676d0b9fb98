import { type Browser, chromium } from "playwright-core";
import { build } from "vite";
import { CHROMIUM_ARGUMENTS, chromiumPath } from "../../scripts/browser.mjs";
import { type Host, host } from "./host.ts";

/** A real browser for tests: the system's Chromium, headless. */

export { chromiumPath };

export const launchChromium = (): Promise<Browser> =>
  chromium.launch({ executablePath: chromiumPath as string, args: CHROMIUM_ARGUMENTS });

/** Bundles a page's script with Vite in memory and returns its files by path. */
export async function bundle(entry: string): Promise<Map<string, string | Uint8Array>> {
  const result = await build({
    configFile: false,
    logLevel: "error",
    root: new URL("../..", import.meta.url).pathname,
    base: "./",
    build: {
      write: false,
      modulePreload: false,
      rollupOptions: { input: entry, output: { entryFileNames: "page.js", format: "es" } },
    },
  });
  const files = new Map<string, string | Uint8Array>();
  for (const { output } of [result].flat() as {
    output: readonly { fileName: string; code?: string; source?: string | Uint8Array }[];
  }[]) {
    for (const file of output) files.set(`/${file.fileName}`, file.code ?? file.source ?? "");
  }
  return files;
}

const PAGE = '<!doctype html><link rel="icon" href="data:,"><script type="module" src="page.js"></script>';

/** With these a page may share memory with its workers. */
export const ISOLATING: Readonly<Record<string, string>> = {
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-embedder-policy": "require-corp",
};

/** Serves files from memory on this machine, and an empty page that runs page.js; every answer has the headers. */
export const serve = (
  files: ReadonlyMap<string, string | Uint8Array>,
  { headers = {} }: { readonly headers?: Readonly<Record<string, string>> } = {},
): Promise<Host> => host(new Map([["/index.html", PAGE], ...files]), headers);
