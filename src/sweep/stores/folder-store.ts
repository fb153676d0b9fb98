import { createHash, randomBytes } from "node:crypto";
import { lstat, mkdir, open, readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { DamagedFileError, InputError } from "../../base/errors.ts";
import { type ContentStore, nameInStore, notInStore } from "./content-store.ts";

/** Where files are written before they take their names: on the same disk, and beside no result. */
const WRITING = ".writing";
/** Nobody writes for so long without a pause. */
const STALE_MS = 24 * 3600 * 1000;

/** What a folder would have to be, by what the system says against writing to it. */
const EXPECTED: Readonly<Record<string, string>> = {
  ENOSPC: "a folder on a disk with room",
  EDQUOT: "a folder on a disk with room",
  EACCES: "a folder that may be written",
  EPERM: "a folder that may be written",
  EROFS: "a folder on a disk that may be written",
  ENOTDIR: "a folder, not a file,",
  EEXIST: "a folder, not a file,",
  ENAMETOOLONG: "a folder with a shorter name",
  ELOOP: "a folder, not links in a circle,",
  EFBIG: "a folder whose files may be as long (ulimit -f)",
  EMFILE: "a folder on a machine where more files can be open (ulimit -n)",
};

const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? "";

/** Returns the error to throw for one of the system. */
function refusal(error: unknown, place: string): unknown {
  const code = codeOf(error);
  if (error instanceof InputError || !/^E[A-Z0-9]+$/.test(code)) return error;
  return new InputError("the store", EXPECTED[code] ?? `a folder (${(error as Error).message})`, place);
}

/** Returns the SHA-256 of bytes in hexadecimal digits. */
export const sha256Of = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

/** Waits until the names in a folder are on the disk, where a folder can be opened. */
async function flushFolder(folder: string): Promise<void> {
  try {
    const handle = await open(folder, "r");
    await handle.sync().finally(() => handle.close());
  } catch (error) {
    if (!["EACCES", "EPERM", "EISDIR", "EINVAL", "ENOTSUP"].includes(codeOf(error))) throw error;
  }
}

/** Makes a folder, and those above it, that are there after a power cut too. Node's own `recursive` never ends in /proc. */
async function makeFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder);
  } catch (error) {
    if (codeOf(error) === "EEXIST" && (await stat(folder)).isDirectory()) return;
    if (codeOf(error) !== "ENOENT" || dirname(folder) === folder || (await isThere(dirname(folder)))) throw error;
    await makeFolder(dirname(folder));
    return await makeFolder(folder);
  }
  await flushFolder(dirname(folder));
}

const isThere = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );

/** Removes what processes that were killed left a day ago or more, as far as that is possible. */
async function removeStale(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    const stats = await lstat(path).catch(() => null);
    if (stats !== null && Date.now() - stats.mtimeMs > STALE_MS) await rm(path, { force: true }).catch(() => {});
  }
}

/**
 * Returns the store in a folder, which is made with the first bytes: each a file "ab/cdef..." of its hash. A file is written elsewhere
 * in the folder, flushed, and renamed, so any number of processes may keep the same bytes at once, and a file that has its name is
 * whole. Rejects with InputError where something else than a folder is there.
 */
export async function folderStore(place: string): Promise<ContentStore> {
  const writing = join(place, WRITING);
  let isReady: Promise<void> | null = null;
  const guarded = <T>(work: Promise<T>): Promise<T> =>
    work.catch((error) => {
      throw refusal(error, place);
    });
  const found = await guarded(
    stat(place).catch((error) => (codeOf(error) === "ENOENT" ? null : Promise.reject(error))),
  );
  if (found !== null && !found.isDirectory()) throw new InputError("the store", "a folder, not a file,", place);

  const prepare = async (): Promise<void> => {
    await makeFolder(writing);
    await removeStale(writing);
  };

  /** Writes bytes under a name that nobody has, and then renames the file. */
  const write = async (bytes: Uint8Array, sha256: string, path: string): Promise<void> => {
    isReady ??= prepare();
    await isReady.catch((error) => {
      isReady = null; // the next one tries again: a disk may have room by then
      throw error;
    });
    const fresh = join(writing, `${sha256.slice(0, 16)}.${randomBytes(6).toString("hex")}`);
    try {
      const handle = await open(fresh, "wx");
      try {
        await handle.writeFile(bytes);
        await handle.sync();
      } finally {
        await handle.close();
      }
      await makeFolder(dirname(path));
      await rename(fresh, path);
    } catch (error) {
      await rm(fresh, { force: true }).catch(() => {});
      // some systems rename nothing to a file that others have open: it is the same file
      if (["EPERM", "EACCES", "EEXIST"].includes(codeOf(error)) && (await sizeOf(path)) === bytes.length) return;
      throw error;
    }
    await flushFolder(dirname(path));
  };

  const pathOf = (sha256: string): string => join(place, ...nameInStore(sha256).split("/"));

  return {
    place,
    async put(bytes) {
      const sha256 = sha256Of(bytes);
      const path = pathOf(sha256);
      // one of another length is none of ours: a disk that was repaired, say
      if ((await guarded(sizeOf(path))) !== bytes.length) await guarded(write(bytes, sha256, path));
      return sha256;
    },
    async get(sha256) {
      const path = pathOf(sha256);
      const bytes = await guarded(
        readFile(path).catch((error) => {
          throw codeOf(error) === "ENOENT" ? notInStore(place, sha256) : error;
        }),
      );
      if (sha256Of(bytes) !== sha256) throw new DamagedFileError(path, "its bytes do not have the SHA-256 of its name");
      return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length);
    },
    async has(sha256) {
      return (await guarded(sizeOf(pathOf(sha256)))) !== null;
    },
  };
}

/** Returns the length of a file; null where there is none. */
async function sizeOf(path: string): Promise<number | null> {
  try {
    const stats = await stat(path);
    return stats.isFile() ? stats.size : null;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return null;
    throw error;
  }
}
