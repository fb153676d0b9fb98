import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import { buildWeb } from "../../scripts/build-web.mjs";
import { paths } from "../../scripts/paths.mjs";
import { readStamp, stepHash } from "../../scripts/stamp.mjs";
import { COMMON_HEADERS } from "../../src/cli/serve/headers.ts";

/** The browser app for tests: built, and served from memory by a host that can change, fail and go away. */

export type SiteFiles = ReadonlyMap<string, Uint8Array>;

const WASM = new URL("../../wasm/build/banyan.wasm", import.meta.url);

/** Why the app cannot be built; "" where it can. */
export const whyNoSite = existsSync(WASM) ? "" : "no WebAssembly module";

function filesUnder(folder: string): SiteFiles {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return new Map(
    entries.map((entry) => {
      const file = join(entry.parentPath, entry.name);
      return [file.slice(folder.length).replaceAll("\\", "/"), readFileSync(file)];
    }),
  );
}

let built: Promise<SiteFiles> | null = null;

/** Returns the app's files by path ("/index.html"): those of set-up where they are of these sources, else built now, once. */
export function siteFiles(): Promise<SiteFiles> {
  built ??= readOrBuild();
  return built;
}

async function readOrBuild(): Promise<SiteFiles> {
  if (existsSync(paths.web) && readStamp("web")?.hash === stepHash.web()) return filesUnder(paths.web);
  const folder = mkdtempSync(join(tmpdir(), "banyan-site-"));
  try {
    await buildWeb(folder);
    return filesUnder(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".css": "text/css",
  ".wasm": "application/wasm",
  ".svg": "image/svg+xml",
  ".webmanifest": "application/manifest+json",
  ".json": "application/json",
};

/** What `banyan serve` sends. */
export const STRICT = COMMON_HEADERS;

export interface Host {
  readonly url: string;
  /** Paths that were asked for, in order. */
  readonly asked: string[];
  /** Serves other files from now on. */
  offer(files: ReadonlyMap<string, string | Uint8Array>): void;
  close(): void;
}

/** Serves files from memory on this machine; by default with the headers of `banyan serve`. */
export async function host(
  files: ReadonlyMap<string, string | Uint8Array>,
  headers: Readonly<Record<string, string>> = STRICT,
): Promise<Host> {
  const asked: string[] = [];
  let offered = files;
  const server = createServer((request, response) => {
    const path = decodeURIComponent(new URL(request.url ?? "/", "http://host").pathname);
    asked.push(path);
    const body = offered.get(path === "/" ? "/index.html" : path);
    const type = TYPES[path === "/" ? ".html" : extname(path)] ?? "application/octet-stream";
    response.writeHead(body === undefined ? 404 : 200, { ...headers, "content-type": type });
    response.end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/`,
    asked,
    offer: (next) => {
      offered = next;
    },
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
