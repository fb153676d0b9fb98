import { fileURLToPath } from "node:url";

// The command line as it is built lies a level deeper than its modules; sources run beside a build only.
const place = import.meta.url.includes("/command/cli/")
  ? "../../cli/main.js"
  : import.meta.url.endsWith(".ts")
    ? "../../dist/cli/main.js"
    : "./main.js";

/** Returns how this command line is called by another process, or on another machine that has the same files. */
export const ownCommand = (): string[] => [process.execPath, fileURLToPath(new URL(place, import.meta.url))];
