// Small helpers for the scripts that run other programs.
import { spawn, spawnSync } from "node:child_process";
import { root } from "./paths.mjs";

/** Runs a program with its output shown and returns whether it succeeded. */
export function succeeds(command, args, env = process.env) {
  const { status, error } = spawnSync(command, args, { cwd: root, stdio: "inherit", env });
  if (error) console.error(`${command}: ${error.message}`);
  return status === 0;
}

/** Runs a program at once for each list of arguments, with its output shown, and resolves to whether all succeeded. */
export async function allSucceed(command, lists) {
  const ends = lists.map(
    (args) =>
      new Promise((resolve) => {
        const child = spawn(command, args, { cwd: root, stdio: "inherit" });
        child.on("error", (error) => {
          console.error(`${command}: ${error.message}`);
          resolve(false);
        });
        child.on("close", (code) => resolve(code === 0));
      }),
  );
  return (await Promise.all(ends)).every(Boolean);
}

/** Runs a node program of this tree. */
export function nodeSucceeds(args, env) {
  return succeeds(process.execPath, args, env);
}
