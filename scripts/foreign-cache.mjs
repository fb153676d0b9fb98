// A folder that was copied brings caches of cmake that name the old place, and with which cmake refuses to work.
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { root } from "./paths.mjs";

/** Removes what cmake keeps in a build folder, where it was made for other sources than those of this place. */
export function removeForeignCache(folder) {
  const cache = join(folder, "CMakeCache.txt");
  if (!existsSync(cache)) return;
  const home = /^CMAKE_HOME_DIRECTORY:INTERNAL=(.*)$/m.exec(readFileSync(cache, "utf8"))?.[1];
  if (home !== undefined && resolve(home) === root) return;
  rmSync(cache);
  rmSync(join(folder, "CMakeFiles"), { recursive: true, force: true });
}
