// Small helpers for the scripts that run other programs.
import { spawnSync } from "node:child_process";
import { root } from "./paths.mjs";

/** Runs a program with its output shown and returns whether it succeeded. */
export function succeeds(command, args, env = process.env) {
  const { status, error } = spawnSync(command, args, { cwd: root, stdio: "inherit", env });
  if (error) console.error(`${command}: ${error.message}`);
  return status === 0;
}

/** Runs a node program of this tree. */
export function nodeSucceeds(args, env) {
  return succeeds(process.execPath, args, env);
}
