// Questions about a native build that both install.mjs and setup.mjs ask.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { paths } from "./paths.mjs";
import { readStamp, stepHash } from "./stamp.mjs";

/** Returns whether the add-on is there and a fresh node can load it. */
export function addonLoads() {
  const args = ["-e", "require(process.argv[1])", paths.addon];
  return existsSync(paths.addon) && spawnSync(process.execPath, args, { stdio: "ignore" }).status === 0;
}

/** Returns whether the add-on was built from the sources as they are now. */
export function addonIsCurrent() {
  const stamp = readStamp("native");
  return stamp?.ok === true && existsSync(paths.addon) && stamp.hash === stepHash.native();
}

/** Returns the first line of a build's output that speaks of an error. */
export function firstError(build) {
  const lines = `${build.stderr}\n${build.stdout}`.split("\n");
  return lines.find((line) => /\berror\b/i.test(line))?.trim() ?? `exit code ${build.status}`;
}
