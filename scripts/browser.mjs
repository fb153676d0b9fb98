// The system's Chromium, and the built app served to it.
import { spawn } from "node:child_process";
import { at } from "./paths.mjs";
import { findCommand } from "./toolchain.mjs";

const NAMES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"];

/** The path of a Chromium on PATH (or in CHROMIUM_BIN), if there is one. */
export const chromiumPath = [process.env.CHROMIUM_BIN, ...NAMES]
  .map((name) => (name ? findCommand(name, process.env) : undefined))
  .find((file) => file !== undefined);

/** Arguments of a Chromium that draws without a GPU and asks for nothing by itself. */
export const CHROMIUM_ARGUMENTS = [
  "--no-sandbox",
  "--disable-gpu",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-sync",
];

/** Starts `banyan serve`; resolves to its address and what ends it. Rejects where it ends by itself. */
export function serveApp() {
  const child = spawn(process.execPath, [at("dist/cli/main.js"), "serve", "--port", "0"]);
  return new Promise((resolve, reject) => {
    child.stdout.on("data", (part) => {
      const url = /http:\/\/[^\s#]+/.exec(String(part))?.[0];
      if (url !== undefined) resolve({ url, end: () => child.kill() });
    });
    child.on("exit", (code) => reject(new Error(`banyan serve ended with status ${code}`)));
  });
}
