import {
  chmodSync,
  chownSync,
  constants,
  copyFileSync,
  existsSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  type Stats,
  statSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { InputError } from "../../base/errors.ts";
import { optionName, type Place } from "../../base/option-names.ts";
import { ENGINE_FILES } from "../../export/programs/mpi-c.ts";
import { placeOf } from "../../request/option-table.ts";
import type { FolderFile, OutputFolder, World } from "../../run/export/world.ts";
import { collectiveRequest } from "../collective-option.ts";
import { type Context, STANDARD_OUTPUT } from "../context.ts";
import { withEngine } from "../engine.ts";
import { version } from "../version.ts";
import { closing, flush, flushingFolder } from "./descriptor.ts";
import { behindLinks, outputFile, writeFlushed } from "./output-file.ts";
import { removeStale } from "./replace-file.ts";

/** The built app as one page; the same depth below the package's root in src/ and in dist/. */
const PAGE = fileURLToPath(new URL("../../../dist-web/banyan.html", import.meta.url));

/** Returns the text of the built app. Throws InputError where it is not built. */
async function builtPage(): Promise<string> {
  if (existsSync(PAGE)) return readFileSync(PAGE).toString();
  const place = optionName("to", " html");
  throw new InputError(place, "the app").saying(
    `${place} writes the app, which is not built: \`npm run build:web\` builds it (\`--to report\` writes a page without scripts)`,
  );
}

/** The engine of MPI plans, in C. */
const ENGINE = fileURLToPath(new URL("../../../native/mpi/", import.meta.url));

/** Returns the engine's texts. Throws InputError where the package lacks them. */
const mpiEngine = (): string[] =>
  ENGINE_FILES.map((name) => {
    const file = join(ENGINE, name);
    if (existsSync(file)) return readFileSync(file, "utf8");
    throw new InputError(optionName("to", " mpi-c"), "a package with native/mpi", file);
  });

/** Returns what exporters have of the world on the command line: files that are written beside and renamed, threads. */
export const worldOf = (context: Context): World => ({
  options: context.options,
  signal: context.signal,
  version,
  progress: (progress) => context.progress(progress),
  file: (path) => outputFile(context, path, placeOf("output")),
  folder: (path) => outputFolder(context, path, placeOf("output")),
  withEngine: (work) => withEngine(context, work),
  collective: (topology) => collectiveRequest(context.options, topology),
  page: builtPage,
  mpiEngine,
});

/** Rights of a folder that anyone may read, where the user's mask does not say otherwise. */
const OPEN = 0o777;
/** What a folder has of the one it is in: that its files are its group's. */
const INHERITED = 0o7000;

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: "a folder in a folder that exists",
  ENOTDIR: "a folder in a folder that exists",
  EACCES: "a folder in a folder that may be written",
  EPERM: "a folder in a folder that may be written",
  ELOOP: "a folder, not links in a circle,",
  EROFS: "a folder on a disk that may be written",
  ENOSPC: "a folder on a disk with room",
  EDQUOT: "a folder on a disk with room",
  EFBIG: "a folder for files below the limit for their sizes (ulimit -f)",
  ENAMETOOLONG: "a shorter name of a folder",
  EEXIST: "an empty folder, or a new one,",
  ENOTEMPTY: "an empty folder, or a new one,",
};

/**
 * Returns the place for several files, written into a folder beside it and flushed to the disk, which then takes its place: a
 * folder that is not there yet, or is empty, for runtimes read every file that they find in one. Throws InputError, which names
 * `place`.
 */
export function outputFolder(context: Context, path: string, place: Place): OutputFolder {
  if (path === STANDARD_OUTPUT) throw new InputError(place, "the name of a folder, for there are several files", path);
  const attempt = <T>(work: () => T): T => {
    try {
      return work();
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      if (code === undefined || error instanceof InputError) throw error;
      throw new InputError(place, REASONS[code] ?? `a folder that can be written (${message})`, path);
    }
  };
  /** Returns the folder behind links, and what is known of it where it is there. */
  const look = (): { readonly folder: string; readonly before: Stats | undefined } => {
    const folder = behindLinks(path.replace(/[\\/]+$/, "") || path);
    const before = statSync(folder, { throwIfNoEntry: false });
    if (before?.isDirectory() === false) throw new InputError(place, "a folder, for there are several files,", path);
    if (before !== undefined && readdirSync(folder).length > 0)
      throw new InputError(place, "an empty folder, or a new one,", path);
    return { folder, before };
  };
  attempt(() => {
    const tried = besideFolder(look().folder);
    context.temporary.add(tried);
    rmdirSync(tried);
    context.temporary.remove(tried);
  });
  let keeps = false;
  return {
    path,
    keep: (files, said) =>
      attempt(() => {
        keeps = true;
        const { folder, before } = look();
        if (files === null) return context.keepFolder(null, folder, said);
        const kept = besideFolder(folder);
        context.temporary.add(kept);
        takeRights(kept, before);
        writeFiles(kept, files);
        context.keepFolder(kept, folder, said);
      }),
    write: (files) =>
      attempt(() => {
        const { folder, before } = look();
        const temporary = besideFolder(folder);
        context.temporary.add(temporary);
        try {
          takeRights(temporary, before);
          const bytes = writeFiles(temporary, files);
          context.uninterrupted(() => {
            replaceFolder(temporary, folder, before !== undefined);
            if (keeps) context.keepFolder(null, folder, "");
          });
          return bytes;
        } finally {
          rmSync(temporary, { recursive: true, force: true });
          context.temporary.remove(temporary);
        }
      }),
  };
}

/** Returns a new folder beside another one, under a name that nobody can foresee. What a killed process left goes. */
function besideFolder(folder: string): string {
  const name = `.${basename(folder).slice(0, 40)}.banyan-`;
  removeStale(dirname(folder), name, /^[A-Za-z0-9]{6}$/);
  return mkdtempSync(join(dirname(folder), name));
}

/** Gives a folder the rights of the one it replaces, and its owner and group where one may; else the usual rights. */
function takeRights(folder: string, before: Stats | undefined): void {
  chmodSync(folder, before?.mode ?? (statSync(folder).mode & INHERITED) | (OPEN & ~process.umask()));
  if (before === undefined) return;
  try {
    chownSync(folder, before.uid, before.gid);
  } catch {
    // then it is the user's own
  }
}

function writeFiles(folder: string, files: Iterable<FolderFile>): number {
  let bytes = 0;
  flushingFolder(folder, () => {
    for (const { name, parts } of files)
      bytes += closing(openSync(join(folder, name), "wx"), (descriptor) => writeFlushed(descriptor, parts));
  });
  return bytes;
}

/** Puts a folder in the place of an empty one, or where there is none; the current folder and mount points are filled instead. */
function replaceFolder(fresh: string, folder: string, isThere: boolean): void {
  const isCurrent = isThere && folder === realpathSync(".");
  flushingFolder(dirname(folder), () => {
    if (isThere && !isCurrent && process.platform === "win32") rmdirSync(folder);
    if (isCurrent || !isRenamed(fresh, folder)) fill(fresh, folder);
  });
}

/** Renames a folder; false where the other one is a mount point. */
function isRenamed(fresh: string, folder: string): boolean {
  try {
    renameSync(fresh, folder);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EBUSY") return false;
    throw error;
  }
}

/** Copies the files of a folder into an empty one: all, or none where that fails. */
function fill(fresh: string, folder: string): void {
  const copied: string[] = [];
  try {
    flushingFolder(folder, () => {
      for (const name of readdirSync(fresh)) {
        const file = join(folder, name);
        copyFileSync(join(fresh, name), file, constants.COPYFILE_EXCL);
        copied.push(file);
        closing(openSync(file, "r+"), flush);
      }
    });
  } catch (error) {
    for (const file of copied) rmSync(file, { force: true });
    throw error;
  }
}

/** Returns files as a folder takes them. */
export function* namedFiles(
  files: Iterable<{ readonly name: string; readonly bytes: Uint8Array }>,
): Generator<FolderFile> {
  for (const { name, bytes } of files) yield { name, parts: [bytes] };
}
