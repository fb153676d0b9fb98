// What Lighthouse says of the app, where it is installed.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CHROMIUM_ARGUMENTS, chromiumPath } from "../scripts/browser.mjs";
import { findCommand } from "../scripts/toolchain.mjs";
import { progress } from "./support.mjs";

/** Returns the scores of Lighthouse, where it is on PATH (or in LIGHTHOUSE_BIN); null where it is not. */
export function lighthouse(url) {
  const tool = process.env.LIGHTHOUSE_BIN ?? findCommand("lighthouse", process.env);
  if (tool === undefined) return null;
  const folder = mkdtempSync(join(tmpdir(), "banyan-lighthouse-"));
  try {
    return ["mobile", "desktop"].map((form) => {
      progress(`web: Lighthouse, ${form}`);
      const file = join(folder, `${form}.json`);
      const flags = [
        "--quiet",
        "--output",
        "json",
        "--output-path",
        file,
        `--chrome-flags=--headless ${CHROMIUM_ARGUMENTS.join(" ")}`,
      ];
      const env = { ...process.env, CHROME_PATH: chromiumPath };
      spawnSync(tool, [url, ...flags, ...(form === "desktop" ? ["--preset=desktop"] : [])], { env, stdio: "ignore" });
      const { categories, lighthouseVersion } = JSON.parse(readFileSync(file, "utf8"));
      const scores = Object.values(categories).map(({ title, score }) => [title, Math.round(100 * score)]);
      return { form, version: lighthouseVersion, ...Object.fromEntries(scores) };
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
