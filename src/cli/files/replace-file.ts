import { randomBytes } from "node:crypto";
import {
  fchmodSync,
  fchownSync,
  fstatSync,
  ftruncateSync,
  lstatSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { closing, flush, flushingFolder, writeAll } from "./descriptor.ts";

/** Bytes that are copied at once. */
const BLOCK = 2 ** 22;
const RIGHTS = 0o777;
/** Rights of a file that may hold what others must not read. */
export const OWN_EYES = 0o600;

const hiddenName = (file: string): string => `.${basename(file).slice(0, 40)}.`;

/** Returns a hidden name beside a file that nobody can foresee. */
export const nameBeside = (file: string, suffix: string): string =>
  join(dirname(file), `${hiddenName(file)}${randomBytes(6).toString("hex")}.${suffix}`);

/** Nobody writes for so long without a pause. */
const STALE_MS = 24 * 3600 * 1000;

/** Removes what processes that were killed left in a folder a day ago or more, as far as that is possible. */
export function removeStale(folder: string, start: string, rest: RegExp): void {
  try {
    for (const name of readdirSync(folder)) {
      if (!name.startsWith(start) || !rest.test(name.slice(start.length))) continue;
      const path = join(folder, name);
      if (Date.now() - lstatSync(path).mtimeMs > STALE_MS) rmSync(path, { recursive: true, force: true });
    }
  } catch {
    // they are in nobody's way
  }
}

/** The same for files that were to take the place of one; old texts that were kept beside it (`.old`) stay. */
export const removeStaleFor = (file: string): void =>
  removeStale(dirname(file), hiddenName(file), /^[0-9a-f]{12}\.tmp$/);

/** Gives a new file the rights of the one it replaces, and its owner and group as far as one may. */
export function takeRights(descriptor: number, { uid, gid, mode }: Stats): void {
  const own = fstatSync(descriptor);
  if (((own.mode ^ mode) & RIGHTS) !== 0) fchmodSync(descriptor, mode & RIGHTS);
  if (own.uid !== uid && mayChown(descriptor, uid, gid)) return;
  if (own.gid !== gid) mayChown(descriptor, -1, gid);
}

function mayChown(descriptor: number, uid: number, gid: number): boolean {
  try {
    fchownSync(descriptor, uid, gid);
    return true;
  } catch {
    return false;
  }
}

/** The system renames nothing to a mount point, nor to another's file in a folder like /tmp. */
const NOT_TO_BE_RENAMED: ReadonlySet<string | undefined> = new Set(["EBUSY", "EXDEV", "EPERM", "EACCES"]);

/**
 * Puts a file that is written and flushed in the place of another, or where there is none: by one rename, which a reader sees
 * before or after. Where that would cut the other names off (hard links), or is not possible, the text is copied into the
 * file. Throws the system's error.
 */
export function replaceFile(fresh: string, file: string): void {
  const before = statSync(file, { throwIfNoEntry: false });
  flushingFolder(dirname(file), () => {
    try {
      if (before !== undefined && before.nlink > 1) overwrite(fresh, file);
      else renameSync(fresh, file);
    } catch (error) {
      if (before === undefined || before.nlink > 1 || !NOT_TO_BE_RENAMED.has((error as NodeJS.ErrnoException).code))
        throw error;
      overwrite(fresh, file);
    }
  });
}

/** Copies the bytes of one open file from one position up to another to the same positions of another file. */
function copyBytes(from: number, into: number, start: number, end: number): void {
  const block = new Uint8Array(Math.min(BLOCK, Math.max(0, end - start)));
  for (let at = start; at < end; ) {
    const got = readSync(from, block, 0, Math.min(block.length, end - at), at);
    if (got === 0) throw Object.assign(new Error("a file became shorter while it was read"), { code: "EIO" });
    writeAll(into, block.subarray(0, got), at);
    at += got;
  }
}

/**
 * Copies a text into a file that stays the same one, and removes the text. The old text is first kept beside it. What makes the
 * file longer is written before the rest, for it alone needs room. Where anything fails, the file is made what it was; should
 * that fail too, or the machine stop, the old text is where it was kept, and the error says so.
 */
function overwrite(fresh: string, file: string): void {
  closing(openSync(file, "r+"), (into) => {
    const kept = nameBeside(file, "old");
    const copy = openSync(kept, "wx", OWN_EYES);
    try {
      closing(copy, () => {
        copyBytes(into, copy, 0, fstatSync(into).size);
        flush(copy);
      });
      closing(openSync(fresh, "r"), (from) => refill(from, into, kept));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== TORN) rmSync(kept, { force: true });
      throw error;
    }
    rmSync(kept, { force: true });
  });
  rmSync(fresh, { force: true });
}

/** The code of an error after which a file is neither what it was nor what it should be. */
const TORN = "ETORN";

function refill(from: number, into: number, kept: string): void {
  const size = fstatSync(from).size;
  const oldSize = fstatSync(into).size;
  let isOld = true;
  try {
    copyBytes(from, into, oldSize, size);
    isOld = false;
    copyBytes(from, into, 0, Math.min(oldSize, size));
    ftruncateSync(into, size);
    flush(into);
  } catch (error) {
    try {
      if (!isOld) closing(openSync(kept, "r"), (old) => copyBytes(old, into, 0, oldSize));
      ftruncateSync(into, oldSize);
      flush(into);
    } catch (second) {
      const message = `what was in it is in ${kept} and could not be put back: ${(second as Error).message}`;
      throw Object.assign(new Error(message), { code: TORN });
    }
    throw error;
  }
}
