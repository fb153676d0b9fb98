import { chmodSync, mkdtempSync, readdirSync, renameSync, rmdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { InputError } from "../errors.ts";
import type { OutputFolder } from "../exporters/world.ts";
import type { Context } from "./context.ts";
import { refuseDash } from "./output-file.ts";

/** Rights of a folder that anyone may read, where the user's mask does not say otherwise. */
const OPEN = 0o777;

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: "a folder in a folder that exists",
  ENOTDIR: "a folder in a folder that exists",
  EACCES: "a folder that may be written",
  EPERM: "a folder that may be written",
  EROFS: "a folder on a disk that may be written",
  ENOSPC: "a folder on a disk with room",
};

/**
 * Returns the place for several files, written into a folder beside it which then takes its place: a folder that is not there yet, or is empty, for runtimes read every file that they find
 * in one. Throws InputError, which names `place`.
 */
export function outputFolder(context: Context, path: string, place: string): OutputFolder {
  refuseDash(path, place);
  const attempt = <T>(work: () => T): T => {
    try {
      return work();
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      if (code === undefined || error instanceof InputError) throw error;
      throw new InputError(place, REASONS[code] ?? `a folder that can be written (${message})`, path);
    }
  };
  const folder = path.replace(/[\\/]+$/, "") || path;
  const prepare = (): boolean => {
    const stats = statSync(folder, { throwIfNoEntry: false });
    if (stats === undefined) return false;
    if (!stats.isDirectory()) throw new InputError(place, "a folder, for there are several files,", path);
    if (readdirSync(folder).length > 0) throw new InputError(place, "an empty folder, or a new one,", path);
    return true;
  };
  const beside = (): string => mkdtempSync(join(dirname(folder), `.${basename(folder).slice(0, 200)}.`));
  attempt(() => {
    prepare();
    rmdirSync(beside());
  });
  return {
    path,
    write: (files) =>
      attempt(() => {
        const temporary = beside();
        context.temporary.add(temporary);
        let bytes = 0;
        try {
          chmodSync(temporary, OPEN & ~process.umask());
          for (const { name, parts } of files) {
            const content = Buffer.concat([...parts].map((part) => Buffer.from(part as string)));
            writeFileSync(join(temporary, name), content);
            bytes += content.length;
          }
          if (prepare()) rmdirSync(folder);
          renameSync(temporary, folder);
        } catch (error) {
          rmSync(temporary, { recursive: true, force: true });
          throw error;
        } finally {
          context.temporary.remove(temporary);
        }
        return bytes;
      }),
  };
}
