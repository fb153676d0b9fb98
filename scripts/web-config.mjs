// How Vite builds the app: as a site, or as one file.
import { readFileSync } from "node:fs";
import { at } from "./paths.mjs";

const { version } = JSON.parse(readFileSync(at("package.json"), "utf8"));

/** Returns Vite's configuration of the site, or of the page in one file. */
export function webConfig({ inOneFile = false, outDir, logLevel = "warn", plugins = [] }) {
  const define = { BANYAN_VERSION: JSON.stringify(version) };
  return {
    configFile: false,
    root: at("src/web"),
    base: "./",
    publicDir: inOneFile ? false : at("src/web/public"),
    logLevel,
    define,
    plugins,
    resolve: { alias: inOneFile ? [{ find: /^\.\/start-maker\.ts$/, replacement: "./start-maker.inline.ts" }] : [] },
    oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
    worker: { format: "es" },
    build: {
      outDir,
      emptyOutDir: true,
      target: "es2022",
      modulePreload: { polyfill: false },
      reportCompressedSize: false,
      chunkSizeWarningLimit: 2000,
      ...(inOneFile ? { assetsInlineLimit: 1e9, cssCodeSplit: false } : { assetsInlineLimit: 0 }),
    },
  };
}
