// What the built app weighs.
import { readdirSync, readFileSync } from "node:fs";
import { basename, join, relative, sep } from "node:path";
import { brotliCompressSync, constants } from "node:zlib";

const QUALITY = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } };

/** Returns the files below a folder, sorted, with slashes. */
export function filesBelow(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).split(sep).join("/"))
    .sort();
}

/** Returns each file of the built app: its bytes, those of brotli, and whether it is part of the first load. */
export function webSizes(folder) {
  const index = readFileSync(join(folder, "index.html"), "utf8");
  return filesBelow(folder).map((file) => {
    const bytes = readFileSync(join(folder, file));
    return {
      file,
      bytes: bytes.length,
      brotli: brotliCompressSync(bytes, QUALITY).length,
      first: file === "index.html" || index.includes(basename(file)),
    };
  });
}
