import {
  accessSync,
  closeSync,
  constants,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  statfsSync,
  statSync,
  writeSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { InputError } from "../errors.ts";
import { blocks } from "../exporters/blocks.ts";
import type { OutputFile } from "../exporters/world.ts";
import { aboutBytes } from "../model/estimate.ts";
import type { Context } from "./context.ts";

/** Throws InputError for "-", which is standard input elsewhere. */
export function refuseDash(path: string, place: string): void {
  if (path === "-") throw new InputError(place, "a name (/dev/stdout, with --quiet, is standard output)", path);
}

/** Bytes per call of the system. */
const MOST_AT_ONCE = 2 ** 24;

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: "a file in a folder that exists",
  ENOTDIR: "a file in a folder that exists",
  EISDIR: "a file, not a folder,",
  EACCES: "a file that may be written",
  EPERM: "a file that may be written",
  EROFS: "a file on a disk that may be written",
  ENOSPC: "a file on a disk with room",
  EDQUOT: "a file on a disk with room",
  ENAMETOOLONG: "a shorter name of a file",
};

function refusal(error: unknown, path: string, place: string): unknown {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === undefined) return error;
  return new InputError(place, REASONS[code] ?? `a file that can be written (${message})`, path);
}

/** Returns the file behind links, and whether it is a device or pipe, which is written to as it is. */
function targetOf(path: string): { readonly file: string; readonly asItIs: boolean } {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) {
    if (/[\\/]$/.test(path) || path === "") throw Object.assign(new Error(), { code: "EISDIR" });
    return { file: path, asItIs: false };
  }
  if (stats.isDirectory()) throw Object.assign(new Error(), { code: "EISDIR" });
  accessSync(path, constants.W_OK);
  return stats.isFile() ? { file: realpathSync(path), asItIs: false } : { file: path, asItIs: true };
}

/**
 * Returns the place for a result, after trying that it can be written; so long work does not end in a surprise. What is
 * written is first a file beside it, which then takes its place. Throws InputError, which names `place`.
 */
export function outputFile(context: Context, path: string, place: string): OutputFile {
  refuseDash(path, place);
  const { temporary } = context;
  const attempt = <T>(work: () => T): T => {
    try {
      return work();
    } catch (error) {
      throw refusal(error, path, place);
    }
  };
  const { file, asItIs } = attempt(() => targetOf(path));
  const beside = join(dirname(file), `.${basename(file).slice(0, 200)}.${process.pid}.tmp`);
  const create = (): number => {
    temporary.add(beside);
    return openSync(beside, "wx");
  };
  const remove = (): void => {
    rmSync(beside, { force: true });
    temporary.remove(beside);
  };
  if (!asItIs) {
    attempt(() => closeSync(create()));
    remove();
  }
  return {
    path,
    refuseWithoutRoom(bytes) {
      if (asItIs) return;
      const { bavail, bsize } = attempt(() => statfsSync(dirname(file)));
      const free = bavail * bsize;
      if (free >= bytes) return;
      const needs = `a file on a disk with room for about ${aboutBytes(bytes)}`;
      throw new InputError(place, needs, `${path} where ${aboutBytes(free)} are free`);
    },
    write: (parts, onBytes) =>
      attempt(() => {
        const descriptor = asItIs ? openSync(file, "w") : create();
        let open = true;
        try {
          const bytes = writeParts(descriptor, parts, onBytes);
          closeSync(descriptor);
          open = false;
          if (!asItIs) {
            renameSync(beside, file);
            temporary.remove(beside);
          }
          return bytes;
        } catch (error) {
          if (open) closeSync(descriptor);
          if (!asItIs) remove();
          throw error;
        }
      }),
  };
}

/** Writes texts in large blocks, and bytes as they come, through one descriptor; returns how many bytes. */
function writeParts(
  descriptor: number,
  parts: Iterable<string | Uint8Array>,
  onBytes?: (bytes: number) => void,
): number {
  let total = 0;
  for (const block of blocks(parts)) {
    const bytes = typeof block === "string" ? Buffer.from(block) : block;
    for (let at = 0; at < bytes.length; )
      at += writeSync(descriptor, bytes, at, Math.min(bytes.length - at, MOST_AT_ONCE));
    total += bytes.length;
    onBytes?.(total);
  }
  return total;
}
