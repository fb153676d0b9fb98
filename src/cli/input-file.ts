import { readFileSync, statSync } from "node:fs";
import { InputError } from "../errors.ts";

/** V8's longest text, about; a larger file cannot be read at once. */
const MOST_BYTES = 2 ** 29 - 25;

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: "a file that exists",
  ENOTDIR: "a file that exists",
  EISDIR: "a file, not a folder,",
  EACCES: "a file that may be read",
  EPERM: "a file that may be read",
  ENAMETOOLONG: "a shorter name of a file",
};

/** Returns a file's text. Throws InputError, which names `place`. */
export function readText(path: string, place: string): string {
  try {
    const { size } = statSync(path);
    if (size > MOST_BYTES) throw new InputError(place, `a file below ${MOST_BYTES} bytes`, `${path} of ${size} bytes`);
    return readFileSync(path, "utf8");
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    throw new InputError(place, REASONS[code] ?? `a file that can be read (${message})`, path);
  }
}
