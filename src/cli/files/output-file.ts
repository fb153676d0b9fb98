import {
  accessSync,
  constants,
  lstatSync,
  openSync,
  readlinkSync,
  realpathSync,
  rmSync,
  type Stats,
  statfsSync,
  statSync,
} from "node:fs";
import { basename, dirname, isAbsolute, join } from "node:path";
import { InputError, inWords } from "../../base/errors.ts";
import { optionName, type Place } from "../../base/option-names.ts";
import { aboutBytes } from "../../model/steps/estimate.ts";
import { blocks } from "../../run/export/blocks.ts";
import type { OutputFile } from "../../run/export/world.ts";
import { type Context, STANDARD_OUTPUT } from "../context.ts";
import { closing, flush, NOBODY_READS, WRITABLE, writeAll } from "./descriptor.ts";
import { nameBeside, OWN_EYES, removeStaleFor, replaceFile, takeRights } from "./replace-file.ts";

/** How many links are followed, as the system does. */
const MOST_LINKS = 40;

function refusal(error: unknown, path: string, place: Place): unknown {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === undefined || !/^E[A-Z0-9]+$/.test(code)) return error;
  return new InputError(place, WRITABLE[code] ?? `a file that can be written (${message})`, path);
}

const failed = (code: string): Error => Object.assign(new Error(code), { code });

/** What the process was started with under a name of its own: /dev/stdout leads there. */
const OWN_DESCRIPTOR = new RegExp(`^/(?:dev|proc/(?:self|${process.pid}))/fd/(\\d+)$`);

/**
 * Returns the name that links lead to, whether or not something is there. The name of a descriptor of this process stays, for what
 * it leads to has been opened already. Throws the system's error for a folder that is not there, and for links in a circle.
 */
export function behindLinks(path: string): string {
  let at = path;
  for (let hop = 0; hop <= MOST_LINKS; hop++) {
    const folder = realpathSync(dirname(at));
    const name = join(folder, basename(at));
    if (OWN_DESCRIPTOR.test(name) || lstatSync(name, { throwIfNoEntry: false })?.isSymbolicLink() !== true) return name;
    const next = readlinkSync(name);
    at = isAbsolute(next) ? next : `${folder}/${next}`;
  }
  throw failed("ELOOP");
}

const OUT = 1;
const STANDARD_ERROR = 2;

/** Where a result goes. */
type Target =
  /** A file that is replaced, or not there yet. */
  | { readonly kind: "file"; readonly file: string; readonly before: Stats | undefined }
  /** A device or a pipe: written to as it is. */
  | { readonly kind: "device"; readonly file: string }
  /** An open file of this process, as a shell gives it: written to where it stands. */
  | { readonly kind: "descriptor"; readonly descriptor: number };

/** Throws the system's error where nothing can be written. */
function targetOf(path: string): Target {
  if (path === STANDARD_OUTPUT) return { kind: "descriptor", descriptor: OUT };
  if (/[\\/]$/.test(path) || path === "") throw failed("EISDIR");
  const file = behindLinks(path);
  const before = statSync(file, { throwIfNoEntry: false });
  if (before === undefined) return { kind: "file", file, before };
  if (before.isDirectory()) throw failed("EISDIR");
  const descriptor = Number(OWN_DESCRIPTOR.exec(file)?.[1]);
  if (descriptor <= STANDARD_ERROR || (descriptor >= 0 && before.isFile())) return { kind: "descriptor", descriptor };
  accessSync(file, constants.W_OK);
  return before.isFile() ? { kind: "file", file, before } : { kind: "device", file };
}

/** Returns a new, empty file beside another one: its name and an open descriptor. */
function besideFile(
  { temporary }: Context,
  file: string,
  mode?: number,
): { readonly name: string; readonly descriptor: number } {
  const name = nameBeside(file, "tmp");
  temporary.add(name);
  try {
    return { name, descriptor: openSync(name, "wx", mode) };
  } catch (error) {
    temporary.remove(name);
    throw ["EACCES", "EPERM"].includes((error as NodeJS.ErrnoException).code ?? "") ? failed("EFOLDER") : error;
  }
}

/** Removes a file of ours; one that cannot be removed stays known to the end, which tries again. */
function remove({ temporary }: Context, name: string): void {
  try {
    rmSync(name, { force: true });
  } catch {
    return;
  }
  temporary.remove(name);
}

/**
 * Returns the place for a result, after trying that it can be written; so long work does not end in a surprise. What is
 * written is first a file beside it, flushed to the disk, which then takes its place with the rights of what was there. Throws
 * InputError, which names `place`.
 */
export function outputFile(context: Context, path: string, place: Place): OutputFile {
  if (path === STANDARD_OUTPUT && context.json)
    throw new InputError(place, `a name beside ${optionName("json")}, which writes to standard output itself`, path);
  const attempt = <T>(work: () => T): T => {
    try {
      return work();
    } catch (error) {
      throw refusal(error, path, place);
    }
  };
  const tried = attempt(() => {
    const target = targetOf(path);
    if (target.kind === "file") {
      refuseInput(context, target, path, place);
      removeStaleFor(target.file);
      const { name, descriptor } = besideFile(context, target.file);
      closing(descriptor, () => remove(context, name));
    }
    return target;
  });
  return {
    path,
    refuseWithoutRoom(bytes) {
      if (tried.kind !== "file") return;
      const { bavail, bsize } = attempt(() => statfsSync(dirname(tried.file)));
      const free = bavail * bsize;
      if (free >= bytes) return;
      const needs = `a file on a disk with room for about ${aboutBytes(bytes)}`;
      throw new InputError(place, needs, inWords(`${path} where ${aboutBytes(free)} are free`));
    },
    // The target is looked up again: hours may have passed.
    write: (parts, onBytes) => attempt(() => writeTo(context, targetOf(path), parts, onBytes)),
  };
}

/** Throws InputError where what is written would take the place of what is read. */
function refuseInput(
  { inputs }: Context,
  { before }: Extract<Target, { kind: "file" }>,
  path: string,
  place: Place,
): void {
  if (before === undefined) return;
  const isSame = (input: string): boolean => {
    try {
      const other = statSync(input, { throwIfNoEntry: false });
      return other !== undefined && other.ino === before.ino && other.dev === before.dev;
    } catch {
      return false; // a preset, say
    }
  };
  const input = inputs.find(isSame);
  if (input === undefined) return;
  const also = input === path ? "" : `, which is ${input}`;
  throw new InputError(place, "another file than what is read", path).saying(
    `${place} is ${path}${also}, the file that is read, which would be lost; give what is written another name, such as ${otherName(path)}`,
  );
}

/** Returns "new-x.json" beside x.json. */
const otherName = (path: string): string => join(dirname(path), `new-${basename(path)}`);

type Written = Parameters<OutputFile["write"]>;

/** Writes parts to a target and returns how many bytes; where it throws, what was there is as it was. */
function writeTo(context: Context, target: Target, ...[parts, onBytes]: Written): number {
  if (target.kind === "descriptor") return writeToReader(target.descriptor, parts, onBytes);
  if (target.kind === "device")
    return closing(openSync(target.file, "w"), (descriptor) => writeFlushed(descriptor, parts, onBytes));
  const { file, before } = target;
  const { name, descriptor } = besideFile(context, file, before && OWN_EYES);
  try {
    const bytes = closing(descriptor, () => {
      if (before !== undefined) takeRights(descriptor, before);
      return writeFlushed(descriptor, parts, onBytes);
    });
    context.uninterrupted(() => replaceFile(name, file));
    context.temporary.remove(name);
    return bytes;
  } catch (error) {
    remove(context, name);
    throw error;
  }
}

/** Writes parts for as long as somebody reads, and returns how many bytes of whole blocks were taken. */
function writeToReader(descriptor: number, ...[parts, onBytes]: Written): number {
  let taken = 0;
  const count = (bytes: number): void => {
    taken = bytes;
    onBytes?.(bytes);
  };
  try {
    return writeFlushed(descriptor, parts, count);
  } catch (error) {
    if (!NOBODY_READS.has((error as NodeJS.ErrnoException).code)) throw error;
    return taken;
  }
}

/** Writes texts in large blocks, and bytes as they come; returns how many bytes, once they are on the disk. */
export function writeFlushed(descriptor: number, ...[parts, onBytes]: Written): number {
  let total = 0;
  for (const block of blocks(parts)) {
    const bytes = typeof block === "string" ? Buffer.from(block) : block;
    writeAll(descriptor, bytes);
    total += bytes.length;
    onBytes?.(total);
  }
  flush(descriptor);
  return total;
}
