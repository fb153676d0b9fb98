import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type Browser, chromium } from "playwright-core";
import { build } from "vite";
import { findCommand } from "../../scripts/toolchain.mjs";

/** A real browser for tests: the system's Chromium, headless. */

const NAMES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"];

/** The path of a Chromium on PATH (or in CHROMIUM_BIN), if there is one. */
export const chromiumPath: string | undefined = [process.env["CHROMIUM_BIN"], ...NAMES]
  .map((name) => (name ? findCommand(name, process.env) : undefined))
  .find((file) => file !== undefined);

export function launchChromium(): Promise<Browser> {
  const args = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync"];
  return chromium.launch({ executablePath: chromiumPath as string, args });
}

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

const TYPES: readonly [string, string][] = [
  [".js", "text/javascript"],
  [".wasm", "application/wasm"],
];

/** With these a page may share memory with its workers. */
export const ISOLATING: Readonly<Record<string, string>> = {
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-embedder-policy": "require-corp",
};

/** Serves files from memory on this machine, and an empty page that runs page.js; every answer has the headers. */
export async function serve(
  files: ReadonlyMap<string, string | Uint8Array>,
  { headers = {} }: { readonly headers?: Readonly<Record<string, string>> } = {},
): Promise<{ url: string; close: () => void }> {
  const server = createServer((request, response) => {
    const path = request.url ?? "/";
    const body = path === "/" ? PAGE : files.get(path);
    const type = path === "/" ? "text/html" : TYPES.find(([suffix]) => path.endsWith(suffix))?.[1];
    const known = { ...headers, "content-type": type ?? "application/octet-stream" };
    response.writeHead(body === undefined ? 404 : 200, known);
    response.end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/`, close: () => server.close() };
}
