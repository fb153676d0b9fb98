import { existsSync, readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** Real files of other people's, beside the project: tests that read them are skipped where the folder is absent. */
const FOLDER = new URL("../../../shared/data/", import.meta.url);

export const hasSharedData = existsSync(FOLDER);

/** Returns the path of a real file or folder. */
export const sharedPath = (path: string): string => fileURLToPath(new URL(path, FOLDER));

export const sharedText = (path: string): string => readFileSync(new URL(path, FOLDER), "utf8");

/** Returns the names in a folder of real files, sorted; none where it is absent. */
export const sharedFiles = (folder: string): string[] =>
  existsSync(new URL(folder, FOLDER)) ? readdirSync(new URL(folder, FOLDER)).sort() : [];
