import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, rmdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { InputError } from "../../base/errors.ts";
import type { Place } from "../../base/option-names.ts";
import { jsonText } from "../../base/visible.ts";
import { readAtlasIndex } from "../../import/atlas/atlas-json.ts";
import {
  type AtlasClass,
  type AtlasIndex,
  type AtlasSchedule,
  failureKey,
  INDEX_FILE,
  NETWORK_FILE,
  PAGE_FILE,
} from "../../model/atlas/atlas-index.ts";

/** Where an atlas has its schedules, and those that lookups moved, in its folder. */
export const SCHEDULES = "schedules";
const MOVED = "moved";

/** What an atlas that has no index yet may have left in its folder. */
const OWN = new Set([SCHEDULES, MOVED, NETWORK_FILE, PAGE_FILE, "work"]);

/** Returns the index of the atlas in a folder; null where there is none yet. Throws InputError for what is no folder of an atlas. */
export function indexIn(folder: string, place: Place): AtlasIndex | null {
  const path = join(folder, INDEX_FILE);
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return null;
    if (code === "ENOTDIR") throw new InputError(place, "a folder, not a file,", folder);
    throw new InputError(place, `a folder that can be read (${message})`, folder);
  }
  return readAtlasIndex(text, path);
}

/** Makes the folder of an atlas where there is none. Throws InputError where it has files of something else, or cannot be made. */
export function prepareFolder(folder: string, place: Place): void {
  try {
    mkdirSync(folder, { recursive: true });
    const strange = readdirSync(folder).find((name) => !OWN.has(name) && !name.startsWith("."));
    if (strange !== undefined)
      throw new InputError(place, `an empty folder or one of an atlas, and not one with ${strange}`, folder);
    // it can be written
    const tried = join(folder, `.tried-${process.pid}`);
    mkdirSync(tried);
    rmdirSync(tried);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (error instanceof InputError || code === undefined) throw error;
    throw new InputError(
      place,
      code === "EEXIST" || code === "ENOTDIR" ? "a folder, not a file," : `a folder that can be written (${message})`,
      folder,
    );
  }
}

/** Returns an index as the text of its file: a line for each class. */
export function indexText(index: AtlasIndex): string {
  return `${jsonText(index, 1)}\n`;
}

/** Returns where the schedule of a class is, or would be, once it is moved to another failure of the class: in the folder. */
export function movedFile({ sha256 }: AtlasSchedule, failed: readonly string[]): string {
  const digest = createHash("sha256")
    .update(`${sha256}\n${failureKey(failed)}`)
    .digest("hex");
  return `${MOVED}/${digest.slice(0, 40)}.json`;
}

/** Returns the length of a file; null where there is none. */
export function bytesOf(path: string): number | null {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats?.isFile() === true ? stats.size : null;
}

/** Returns the file that a failure's schedule is in already, in the folder; null where it is to be moved first, or there is none. */
export function readyFile(
  folder: string,
  { failed: first, schedule }: AtlasClass,
  failed: readonly string[],
): { readonly file: string; readonly bytes: number; readonly isMoved: boolean } | null {
  if (schedule === null) return null;
  const isMoved = failureKey(first) !== failureKey(failed);
  const file = isMoved ? movedFile(schedule, failed) : schedule.file;
  const bytes = bytesOf(join(folder, file));
  return bytes === null ? null : { file, bytes, isMoved };
}
