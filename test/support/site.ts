import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildWeb } from "../../scripts/build-web.mjs";
import { paths } from "../../scripts/paths.mjs";
import { readStamp, stepHash } from "../../scripts/stamp.mjs";
import { filesBelow } from "../../scripts/web-sizes.mjs";

/** The browser app for tests, built. */

export type SiteFiles = ReadonlyMap<string, Uint8Array>;

const WASM = new URL("../../wasm/build/banyan.wasm", import.meta.url);

/** Why the app cannot be built; "" where it can. */
export const whyNoSite = existsSync(WASM) ? "" : "no WebAssembly module";

const filesUnder = (folder: string): SiteFiles =>
  new Map(filesBelow(folder).map((file) => [`/${file}`, readFileSync(join(folder, file))]));

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
