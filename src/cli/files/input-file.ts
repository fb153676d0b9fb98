import { closeSync, fstatSync, openSync, readdirSync, readSync, type Stats, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { InputError, inWords, shown } from "../../base/errors.ts";
import type { Place } from "../../base/option-names.ts";
import { type ByteSource, looksLikeBys } from "../../import/schedules/bys.ts";
import { HEAD_BYTES, refuseNoText, utf8Text } from "../../import/text/utf8.ts";
import { closest } from "../../model/topology/closest.ts";

/** V8's longest text, about; a larger file cannot be read at once. */
const MOST_BYTES = 2 ** 29 - 25;
/** What is read of a pipe at once, and how long a terminal or pipe that has nothing yet is left alone. */
const PART_BYTES = 2 ** 16;
const PAUSE_MS = 10;

/** The name of standard input where a file is wanted. */
export const STANDARD_INPUT = "-";
const STANDARD_INPUT_DESCRIPTOR = 0;
/** What can be read only once, pipes and standard input: commands may look at it twice. */
const readOnce = new Map<string, Uint8Array>();

/** Returns what a file is called in messages. */
export const nameOf = (path: string): string => (path === STANDARD_INPUT ? "standard input" : path);

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: "a file that exists",
  ENOTDIR: "a file that exists",
  EISDIR: "a file, not a folder,",
  ELOOP: "a file, not links that lead to each other,",
  ENXIO: "a file, not a socket or a device without a driver,",
  EBADF: "an open file",
  EACCES: "a file that may be read",
  EPERM: "a file that may be read",
  ENAMETOOLONG: "a shorter name of a file",
};

/** Returns the file that is there and was perhaps meant; null where none is near. */
export function nearestFile(path: string): string | null {
  const folder = dirname(path);
  try {
    const found = closest(basename(path), readdirSync(folder));
    return found === null || folder === "." ? found : join(folder, found);
  } catch {
    return null; // no such folder
  }
}

/** Runs work on a file; what the system says against it becomes an InputError, which names `place`. */
function attempt<T>(path: string, place: Place, work: () => T): T {
  try {
    return work();
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    const refusal = new InputError(place, REASONS[code] ?? `a file that can be read (${message})`, nameOf(path));
    if (code !== "ENOENT") throw refusal;
    const near = nearestFile(path);
    const meant = near === null ? "" : `; did you mean ${JSON.stringify(near)}?`;
    throw refusal.saying(`there is no file ${shown(path)} (${place})${meant}`);
  }
}

/** Returns the names of the files in a folder, sorted. Throws InputError, which names `place`, where it cannot be read. */
export function filesOfFolder(path: string, place: Place): string[] {
  try {
    return readdirSync(path).sort();
  } catch (error) {
    throw new InputError(place, `a folder that can be read (${(error as Error).message})`, path);
  }
}

/** Returns what the system knows of a file, links followed; undefined where there is none of that name. Throws InputError. */
export function statOf(path: string, place: Place): Stats | undefined {
  return attempt(path, place, () => {
    try {
      return statSync(path, { throwIfNoEntry: false });
    } catch (error) {
      // a preset may be longer than any name of a file
      if ((error as NodeJS.ErrnoException).code === "ENAMETOOLONG") return undefined;
      throw error;
    }
  });
}

/**
 * Throws InputError for what has no bytes to read as a file: a folder, a block device, a socket other than standard input
 * (programs start others with one).
 */
function refuseSpecial(stats: Stats, path: string, place: Place): void {
  const what = stats.isDirectory()
    ? "folder"
    : stats.isSocket() && path !== STANDARD_INPUT
      ? "socket"
      : stats.isBlockDevice()
        ? "block device"
        : null;
  if (what === null) return;
  const inside = what === "folder" ? readdirSync(path).filter((name) => /\.(xml|json|bys|csv)$/.test(name)) : [];
  const such = inside.length === 0 ? "" : ` such as ${shown(join(path, inside.sort()[0] as string))},`;
  throw new InputError(place, `a file, not a ${what},${such}`, nameOf(path));
}

/** Returns the next bytes of a descriptor; none at its end. Waits where there are none yet. */
function nextPart(descriptor: number): Uint8Array {
  const part = new Uint8Array(PART_BYTES);
  for (;;) {
    try {
      return part.subarray(0, readSync(descriptor, part, 0, PART_BYTES, null));
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === "EOF") return part.subarray(0, 0);
      if (code !== "EAGAIN") throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS);
    }
  }
}

/** Returns all that a descriptor gives, and no more than a text may have: what has no end is refused, what is no text at once. */
function allOf(descriptor: number, path: string, place: Place): Uint8Array {
  const parts: Uint8Array[] = [];
  let size = 0;
  let head: Uint8Array | null = null;
  for (;;) {
    const part = nextPart(descriptor);
    if (part.length === 0) return Buffer.concat(parts, size);
    parts.push(part);
    size += part.length;
    if (size > MOST_BYTES)
      throw new InputError(place, `at most ${MOST_BYTES} bytes of what is no plain file`, nameOf(path))
        .as("out-of-range")
        .saying(
          `${place}, ${nameOf(path)}, is longer than ${MOST_BYTES} bytes, the most that is read of what is no plain file`,
        );
    if (head !== null || size < HEAD_BYTES) continue;
    head = Buffer.concat(parts, HEAD_BYTES);
    if (!looksLikeBys(head)) refuseNoText(head, nameOf(path));
  }
}

function wholeOf(path: string, place: Place): Uint8Array {
  const known = readOnce.get(path);
  if (known !== undefined) return known;
  const descriptor = path === STANDARD_INPUT ? STANDARD_INPUT_DESCRIPTOR : openSync(path, "r");
  try {
    refuseSpecial(fstatSync(descriptor), path, place);
    const whole = allOf(descriptor, path, place);
    readOnce.set(path, whole);
    return whole;
  } finally {
    if (path !== STANDARD_INPUT) closeSync(descriptor);
  }
}

/** A file to be read in parts. */
export interface FileSource extends ByteSource {
  /** Throws InputError where the file is no longer as it was when it was opened. */
  refuseChanged(): void;
}

/**
 * Returns a file to be read in parts; it stays open until the process ends. Pipes, devices, files of no size (those of /proc
 * have none) and standard input ("-") are read at once, up to 512 MiB. Throws InputError, which names `place`, here and where
 * a part cannot be read.
 */
export function openSource(path: string, place: Place): FileSource {
  return attempt(path, place, () => {
    const stats = path === STANDARD_INPUT ? null : statSync(path);
    if (stats !== null) refuseSpecial(stats, path, place);
    if (stats === null || !stats.isFile() || stats.size === 0) {
      const whole = wholeOf(path, place);
      return {
        size: whole.length,
        read: (offset, length) => whole.subarray(offset, offset + length),
        refuseChanged: () => undefined,
      };
    }
    const descriptor = openSync(path, "r");
    const opened = fstatSync(descriptor);
    const read = (offset: number, length: number): Uint8Array => {
      const bytes = new Uint8Array(length);
      let at = 0;
      while (at < length) {
        const got = readSync(descriptor, bytes, at, length - at, offset + at);
        if (got === 0) break;
        at += got;
      }
      return at === length ? bytes : bytes.subarray(0, at);
    };
    return {
      size: opened.size,
      read: (offset, length) => attempt(path, place, () => read(offset, length)),
      refuseChanged: () => {
        const { size, mtimeMs } = attempt(path, place, () => fstatSync(descriptor));
        if (size === opened.size && mtimeMs === opened.mtimeMs) return;
        const change = size === opened.size ? "was written to" : size < opened.size ? "became shorter" : "grew";
        throw new InputError(
          place,
          "a file that nobody writes meanwhile",
          inWords(`${path}, which ${change} while it was read`),
        );
      },
    };
  });
}

/** Returns the first bytes of a source, which tell its format. */
export const headOf = (source: ByteSource): Uint8Array => source.read(0, Math.min(16, source.size));

/** Returns the text of a source. Throws InputError, which names `place`, for one too long, or changed while it was read. */
export function textFrom(source: FileSource, path: string, place: Place): string {
  const { size } = source;
  if (size > MOST_BYTES)
    throw new InputError(place, `a file of at most ${MOST_BYTES} bytes`, inWords(`${path} of ${size} bytes`));
  const bytes = source.read(0, size);
  source.refuseChanged();
  return utf8Text(bytes, nameOf(path));
}

/** Returns a file's text. Throws InputError, which names `place`. */
export function readText(path: string, place: Place): string {
  return textFrom(openSource(path, place), path, place);
}
