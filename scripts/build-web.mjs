// Builds the app of src/web/ into dist-web/: the site, its service worker, and the page in one file (banyan.html); prints how
// large they are. Beside the old one first, then swapped in, so that a failed build leaves the old one.
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "vite";
import { LICENCES, noticeOf } from "./notice.mjs";
import { at, paths } from "./paths.mjs";
import { stepHash, writeStamp } from "./stamp.mjs";
import { pageConfig, scriptConfig, siteConfig } from "./web-config.mjs";
import { filesBelow, webSizes } from "./web-sizes.mjs";

const SERVICE_WORKER = "src/web/offline/service-worker.ts";

const read = (folder, name) => readFileSync(join(folder, name), "utf8");

/** Builds the service worker, which keeps the site's files. */
async function buildServiceWorker(folder, modules) {
  const files = filesBelow(folder);
  const hash = createHash("sha256");
  for (const file of files) hash.update(file).update(readFileSync(join(folder, file)));
  const kept = { BANYAN_FILES: JSON.stringify(files), BANYAN_BUILD: JSON.stringify(hash.digest("hex").slice(0, 16)) };
  await build(
    scriptConfig({ entry: SERVICE_WORKER, file: "service-worker.js", outDir: folder, modules, define: kept }),
  );
}

/** What must not end a script element early. */
const inScript = (text) => text.replaceAll("</script", "<\\/script").replaceAll("<!--", "<\\!--");

/** Builds the page in one file: script and style within, the worker packed. Returns its text, which needs the licences. */
async function buildOneFile(folder, modules) {
  const maker = { entry: "src/web/worker/main.ts", file: "maker.js", outDir: folder, modules, inOneFile: true };
  await build(scriptConfig(maker));
  const packed = gzipSync(readFileSync(join(folder, "maker.js")), { level: 9 }).toString("base64");
  const page = join(folder, "page");
  await build(pageConfig(page, modules));
  const assets = filesBelow(page).filter((file) => file !== "index.html");
  const script = assets.filter((file) => file.endsWith(".js"));
  const styles = assets.filter((file) => file.endsWith(".css"));
  if (script.length !== 1) throw new Error(`the page in one file has ${script.length} scripts: ${script.join(", ")}`);
  const parts = (licences) =>
    [
      ...styles.map((file) => `<style>${read(page, file)}</style>`),
      `<script type="text/plain" id="banyan-maker">${packed}</script>`,
      `<script type="text/plain" id="banyan-licences">${inScript(licences)}</script>`,
    ].join("\n");
  return (licences) =>
    read(page, "index.html")
      .replace(/\s*<link rel="(stylesheet|manifest|icon|modulepreload)"[^>]*>/g, "")
      .replace(/\s*<script type="module"[^>]*><\/script>/, () => `\n${parts(licences)}`)
      .replace("</body>", () => `<script type="module">${inScript(read(page, script[0]))}</script>\n</body>`);
}

const kB = (bytes) => `${(bytes / 1000).toFixed(1)} kB`;

function printSizes(folder) {
  const sizes = webSizes(folder);
  console.log("file                                             size     brotli");
  for (const { file, bytes, brotli, first } of sizes)
    console.log(`${first ? "*" : " "} ${file.padEnd(40)} ${kB(bytes).padStart(11)} ${kB(brotli).padStart(10)}`);
  const first = sizes.reduce((sum, size) => sum + (size.first ? size.brotli : 0), 0);
  console.log(
    `* the first load: ${kB(first)} of brotli; the worker and its WebAssembly follow, views when they are shown`,
  );
}

/** Builds everything into a folder. */
export async function buildWeb(folder) {
  const work = mkdtempSync(join(tmpdir(), "banyan-web-"));
  try {
    const modules = new Set();
    await build(siteConfig(folder, modules));
    const page = await buildOneFile(work, modules);
    const licences = noticeOf(modules);
    writeFileSync(join(folder, LICENCES), licences);
    await buildServiceWorker(folder, modules);
    if (noticeOf(modules) !== licences) throw new Error("the service worker holds a package that nothing else does");
    writeFileSync(join(folder, "banyan.html"), page(licences));
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const hash = stepHash.web();
  const fresh = at(`dist-web-${process.pid}`);
  try {
    await buildWeb(fresh);
    rmSync(paths.web, { recursive: true, force: true });
    renameSync(fresh, paths.web);
    writeStamp("web", hash, true);
    printSizes(paths.web);
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}
