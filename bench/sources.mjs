// TypeScript of this repository for benches that compare with what only tests have.
import { fileURLToPath } from "node:url";
import { runnerImport } from "vite";

const root = fileURLToPath(new URL("..", import.meta.url));

/** Returns a module of a TypeScript file, by its path within the repository. What it imports later cannot be had any more. */
export async function loaded(path) {
  const { module } = await runnerImport(`${root}${path}`, { root, configFile: false, logLevel: "error" });
  return module;
}
