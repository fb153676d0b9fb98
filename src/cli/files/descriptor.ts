import { closeSync, fsyncSync, openSync, writeSync } from "node:fs";

/** Open files: nothing that was to be written is taken for written before the system has said so. */

/** What a file would have to be, by what the system says against writing to it. */
export const WRITABLE: Readonly<Record<string, string>> = {
  ENOENT: "a file in a folder that exists",
  ENOTDIR: "a file in a folder that exists",
  EISDIR: "a file, not a folder,",
  EACCES: "a file that may be written",
  EPERM: "a file that may be written",
  EBADF: "a file that may be written",
  ELOOP: "a file, not links in a circle,",
  /** Ours: the folder refuses the file that is to be beside it. */
  EFOLDER: "a file in a folder that may be written",
  EROFS: "a file on a disk that may be written",
  ENOSPC: "a file on a disk with room",
  EDQUOT: "a file on a disk with room",
  EFBIG: "a file below the limit for sizes of files (ulimit -f)",
  ENAMETOOLONG: "a shorter name of a file",
};

/** What the system says where nobody reads any more (`| head`); this is no failure. */
export const NOBODY_READS: ReadonlySet<string | undefined> = new Set(["EPIPE", "ECONNRESET", "EOF"]);

/** Bytes per call of the system. */
const MOST_AT_ONCE = 2 ** 24;
/** How long a pipe that takes nothing just now is left alone. */
const PAUSE_MS = 2;

const clock = new Int32Array(new SharedArrayBuffer(4));

/** Writes some bytes and returns how many; 0 where the reader of a pipe is busy, after a pause. */
function writeSome(descriptor: number, bytes: Uint8Array, position: number | null): number {
  try {
    const written = writeSync(descriptor, bytes, 0, Math.min(bytes.length, MOST_AT_ONCE), position);
    if (written === 0) throw Object.assign(new Error("it takes no more bytes"), { code: "ENOSPC" });
    return written;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EAGAIN") throw error;
    Atomics.wait(clock, 0, 0, PAUSE_MS);
    return 0;
  }
}

/** Writes all bytes, at a position or where the last ones ended. Throws the system's error. */
export function writeAll(descriptor: number, bytes: Uint8Array, position: number | null = null): void {
  for (let at = 0; at < bytes.length; )
    at += writeSome(descriptor, bytes.subarray(at), position === null ? null : position + at);
}

/** What file systems answer that have nothing to flush. */
const NOTHING_TO_FLUSH: ReadonlySet<string | undefined> = new Set(["EINVAL", "ENOTSUP", "EOPNOTSUPP", "ENOSYS"]);

/** Waits until what was written is on the disk. Throws the system's error: many disks tell only now that they are full. */
export function flush(descriptor: number): void {
  try {
    fsyncSync(descriptor);
  } catch (error) {
    if (!NOTHING_TO_FLUSH.has((error as NodeJS.ErrnoException).code)) throw error;
  }
}

/** Returns what work on an open file returns, once the file is closed. Throws the first error of the two. */
export function closing<T>(descriptor: number, work: (descriptor: number) => T): T {
  let result: T;
  try {
    result = work(descriptor);
  } catch (error) {
    try {
      closeSync(descriptor);
    } catch {
      // the first error says more
    }
    throw error;
  }
  closeSync(descriptor);
  return result;
}

/** Runs work that changes names in a folder, then waits until the names are on the disk. */
export function flushingFolder(folder: string, work: () => void): void {
  const descriptor = folderDescriptor(folder);
  if (descriptor === null) work();
  else
    closing(descriptor, () => {
      work();
      flush(descriptor);
    });
}

/** Returns an open folder; null where it may not be opened, as on Windows, or be read. */
function folderDescriptor(folder: string): number | null {
  try {
    return openSync(folder, "r");
  } catch (error) {
    if (["EACCES", "EPERM", "EISDIR"].includes((error as NodeJS.ErrnoException).code ?? "")) return null;
    throw error;
  }
}
