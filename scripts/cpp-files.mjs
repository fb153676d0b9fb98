import { readdirSync } from "node:fs";
import { at } from "./paths.mjs";

/** Returns the project's C++ files, as paths from the root. */
export function globCpp() {
  const folders = ["native", "native/judge", "native/kernels", "native/node", "native/test", "wasm"];
  return folders.flatMap((folder) =>
    readdirSync(at(folder))
      .filter((name) => /\.(cpp|h)$/.test(name))
      .map((name) => `${folder}/${name}`),
  );
}
