// How Vite builds the app: as a site, as a page in one file, and scripts that stand alone.
import { readFileSync } from "node:fs";
import { recorder } from "./notice.mjs";
import { at } from "./paths.mjs";

const { version } = JSON.parse(readFileSync(at("package.json"), "utf8"));

/** What every build of the app has in common; `modules` is told what ends up in it. */
function commonConfig({ outDir, modules, logLevel = "error", define = {} }) {
  return {
    configFile: false,
    root: at("src/web"),
    base: "./",
    publicDir: false,
    logLevel,
    define: { BANYAN_VERSION: JSON.stringify(version), ...define },
    resolve: { alias: [] },
    oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
    plugins: [recorder(modules)],
    worker: { format: "es", plugins: () => [recorder(modules)] },
    build: {
      outDir,
      emptyOutDir: true,
      target: "es2022",
      modulePreload: { polyfill: false },
      reportCompressedSize: false,
      chunkSizeWarningLimit: 8000,
      assetsInlineLimit: 0,
    },
  };
}

const EVERYTHING_INLINE = { assetsInlineLimit: 1e9, cssCodeSplit: false };
const ONE_CHUNK = { output: { codeSplitting: false } };

/** Returns the configuration of the site: a page, its worker, views that are loaded when they are shown. */
export function siteConfig(outDir, modules) {
  return { ...commonConfig({ outDir, modules }), publicDir: at("src/web/public") };
}

/** Returns that of the page in one file; its worker is packed apart (state/start-maker.inline.ts). */
export function pageConfig(outDir, modules) {
  const config = commonConfig({ outDir, modules });
  return {
    ...config,
    resolve: { alias: [{ find: /^\.\/start-maker\.ts$/, replacement: "./start-maker.inline.ts" }] },
    build: { ...config.build, ...EVERYTHING_INLINE, rolldownOptions: ONE_CHUNK },
  };
}

/** Returns that of a script that stands alone, with all that it loads inside where `inOneFile`. */
export function scriptConfig({ entry, file, outDir, modules, define, inOneFile = false }) {
  // a page that was opened as a file may start workers of its own text, but no modules
  const format = inOneFile ? "iife" : "es";
  // such a script has no address of its own, but one is asked for even where what is loaded stands in the script
  const address = inOneFile ? { "import.meta.url": "globalThis.location.href" } : {};
  const config = commonConfig({ outDir, modules, define: { ...define, ...address } });
  return {
    ...config,
    build: {
      ...config.build,
      emptyOutDir: false,
      ...(inOneFile ? EVERYTHING_INLINE : {}),
      rolldownOptions: { input: at(entry), output: { ...ONE_CHUNK.output, entryFileNames: file, format } },
    },
  };
}
