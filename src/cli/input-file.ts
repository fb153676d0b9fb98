import { fstatSync, openSync, readFileSync, readSync, type Stats, statSync } from "node:fs";
import { InputError } from "../errors.ts";
import type { ByteSource } from "../import/bys-blocks.ts";
import { utf8Text } from "../import/utf8.ts";

/** V8's longest text, about; a larger file cannot be read at once. */
const MOST_BYTES = 2 ** 29 - 25;

/** The name of standard input where a file is wanted. */
export const STANDARD_INPUT = "-";
const STANDARD_INPUT_DESCRIPTOR = 0;
/** What can be read only once, pipes and standard input: commands may look at it twice. */
const readOnce = new Map<string, Uint8Array>();

function wholeOf(path: string): Uint8Array {
  const known = readOnce.get(path);
  if (known !== undefined) return known;
  const whole = readFileSync(path === STANDARD_INPUT ? STANDARD_INPUT_DESCRIPTOR : path);
  readOnce.set(path, whole);
  return whole;
}

/** Returns what a file is called in messages. */
export const nameOf = (path: string): string => (path === STANDARD_INPUT ? "standard input" : path);

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: "a file that exists",
  ENOTDIR: "a file that exists",
  EISDIR: "a file, not a folder,",
  EACCES: "a file that may be read",
  EPERM: "a file that may be read",
  ENAMETOOLONG: "a shorter name of a file",
};

/** Runs work on a file; what the system says against it becomes an InputError, which names `place`. */
function attempt<T>(path: string, place: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    throw new InputError(place, REASONS[code] ?? `a file that can be read (${message})`, path);
  }
}

/** Returns what the system knows of a file, links followed; undefined where there is none of that name. Throws InputError. */
export function statOf(path: string, place: string): Stats | undefined {
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
 * Returns a file to be read in parts; it stays open until the process ends. Pipes and the like, and standard input ("-"), are
 * read at once. Throws
 * InputError, which names `place`, here and where a part cannot be read.
 */
export function openSource(path: string, place: string): ByteSource {
  return attempt(path, place, () => {
    if (path === STANDARD_INPUT || !statSync(path).isFile()) {
      const whole = wholeOf(path);
      return { size: whole.length, read: (offset, length) => whole.subarray(offset, offset + length) };
    }
    const descriptor = openSync(path, "r");
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
      size: fstatSync(descriptor).size,
      read: (offset, length) => attempt(path, place, () => read(offset, length)),
    };
  });
}

/** Returns the first bytes of a source, which tell its format. */
export const headOf = (source: ByteSource): Uint8Array => source.read(0, Math.min(16, source.size));

/** Returns the text of a source. Throws InputError, which names `place`, for one too long. */
export function textFrom(source: ByteSource, path: string, place: string): string {
  const { size } = source;
  if (size > MOST_BYTES) throw new InputError(place, `a file below ${MOST_BYTES} bytes`, `${path} of ${size} bytes`);
  return utf8Text(source.read(0, size), nameOf(path));
}

/** Returns a file's text. Throws InputError, which names `place`. */
export function readText(path: string, place: string): string {
  return textFrom(openSource(path, place), path, place);
}
