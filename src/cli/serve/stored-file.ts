import { createHash } from "node:crypto";
import { readFile, realpath, stat } from "node:fs/promises";
import { join, sep } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import { contentTypeOf, isCompressible } from "./content-types.ts";

/** Smaller ones gain nothing. */
const COMPRESS_FROM = 512;
/** A tenth of a second for a megabyte: the browser that waits for it is near. */
const BROTLI_QUALITY = 5;

/** What the system says of names that lead to no file of the folder; all else is a fault of this machine. */
const NO_FILE: ReadonlySet<string | undefined> = new Set([
  "ENOENT",
  "ENOTDIR",
  "EISDIR",
  "ELOOP",
  "ENAMETOOLONG",
  "EACCES",
  "EPERM",
]);

/** A file in memory; what is compressed is made at the first request for it. */
export interface StoredFile {
  readonly type: string;
  readonly tag: string;
  readonly canCompress: boolean;
  readonly plain: Uint8Array;
  /** Smaller than `plain`, or `plain` itself. */
  encoded(encoding: "br" | "gzip"): Promise<Uint8Array>;
}

/** Returns the segments of a decoded path; null for one that leads anywhere but down into visible files. */
export function segmentsOf(path: string): readonly string[] | null {
  const segments = path.split("/").slice(1);
  const isPlain = (name: string): boolean => name !== "" && !name.startsWith(".") && !/[\\\0:]/.test(name);
  return path.startsWith("/") && segments.every(isPlain) ? segments : null;
}

function storedFile(name: string, plain: Uint8Array): StoredFile {
  const type = contentTypeOf(name);
  const made = new Map<string, Promise<Uint8Array>>();
  const compress = async (encoding: "br" | "gzip"): Promise<Uint8Array> => {
    const small =
      encoding === "gzip"
        ? await promisify(gzip)(plain)
        : await promisify(brotliCompress)(plain, { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } });
    return small.length < plain.length ? small : plain;
  };
  return {
    type,
    tag: createHash("sha256").update(plain).digest("base64url").slice(0, 22),
    canCompress: isCompressible(type) && plain.length >= COMPRESS_FROM,
    plain,
    encoded(encoding) {
      const known = made.get(encoding) ?? compress(encoding);
      made.set(encoding, known);
      known.catch(() => made.delete(encoding));
      return known;
    },
  };
}

/**
 * Returns what gives the file of a path below a folder, as segments, from memory while it has not changed on disk; null where
 * there is none, or where links lead out of the folder.
 */
export function folderStore(folder: string): (segments: readonly string[]) => Promise<StoredFile | null> {
  const known = new Map<string, { readonly stamp: string; readonly file: StoredFile }>();
  return async (segments) => {
    try {
      const path = await realpath(join(folder, ...segments));
      if (!path.startsWith((await realpath(folder)) + sep)) return null;
      const facts = await stat(path);
      if (!facts.isFile()) return null;
      const stamp = `${facts.mtimeMs} ${facts.size}`;
      const before = known.get(path);
      if (before?.stamp === stamp) return before.file;
      const plain = await readFile(path);
      // Node takes a read that is cut short for the end of the file.
      if (plain.length !== facts.size) throw new Error(`${segments.join("/")} was not read to its end; try again`);
      const file = storedFile(path, plain);
      known.set(path, { stamp, file });
      return file;
    } catch (error) {
      if (NO_FILE.has((error as NodeJS.ErrnoException).code)) return null;
      throw error;
    }
  };
}
