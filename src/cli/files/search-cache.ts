import { mkdirSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { familyNamed } from "../../model/direct/families.ts";
import { crc32 } from "../../model/files/checksum.ts";
import { parseRational } from "../../model/numbers/rational.ts";
import { EVALUATIONS_VERSION, type Evaluated, type Evaluations } from "../../synthesize/finder/evaluated.ts";
import type { Context } from "../context.ts";
import { openSource, statOf } from "./input-file.ts";
import { outputFile } from "./output-file.ts";

/** What searches for networks evaluated, kept on disk for the next ones. A cache never is a reason to fail. */

/** Returns the folder of the cache: BANYAN_CACHE_DIR, or where the platform keeps such things. */
export function cacheFolder(env: NodeJS.ProcessEnv, platform: NodeJS.Platform, home = homedir()): string {
  const given = env["BANYAN_CACHE_DIR"];
  if (given !== undefined && given !== "") return given;
  const [local, xdg] = [env["LOCALAPPDATA"], env["XDG_CACHE_HOME"]];
  if (platform === "win32" && local !== undefined && local !== "") return join(local, "banyan");
  return join(xdg?.startsWith("/") ? xdg : join(home, ".cache"), "banyan");
}

export interface SearchCache {
  readonly evaluations: Evaluations;
  /** Writes what is new, beside the old file first; a note says where that fails. */
  save(): void;
}

/** Returns what is kept; nothing with --no-cache, and, with a note, where the file is damaged or cannot be read. */
export function openSearchCache(context: Context): SearchCache {
  if (context.options["cache"] === false) return { evaluations: new Map(), save: () => undefined };
  const folder = cacheFolder(process.env, process.platform);
  const path = join(folder, `networks-${EVALUATIONS_VERSION}.json`);
  const evaluations = readCache(path, context.note);
  // What cannot be read now may be read by the next one.
  if (evaluations === null) return { evaluations: new Map(), save: () => undefined };
  const before = evaluations.size;
  return {
    evaluations,
    save() {
      if (evaluations.size === before) return;
      // Others may have kept something meanwhile.
      const others = readCache(path, () => undefined);
      try {
        if (others === null) throw new Error("the cache cannot be read");
        mkdirSync(folder, { recursive: true });
        outputFile(context, path, "the cache").write([cacheText(new Map([...others, ...evaluations]))]);
      } catch (error) {
        context.note(`what was found is not kept: ${(error as Error).message}`);
      }
    },
  };
}

/** Returns what a file keeps; null, with a note, where it cannot be read. */
function readCache(path: string, note: (line: string) => void): Evaluations | null {
  let bytes: Uint8Array;
  try {
    if (statOf(path, "the cache") === undefined) return new Map();
    const source = openSource(path, "the cache");
    bytes = source.read(0, source.size);
  } catch (error) {
    note(`the cache ${path} cannot be read: ${(error as Error).message}`);
    return null;
  }
  const evaluations = evaluationsOf(new TextDecoder().decode(bytes));
  if (evaluations !== null) return evaluations;
  note(`the cache ${path} is damaged and not used`);
  return new Map();
}

const checksumOf = (entries: string): number => crc32(new TextEncoder().encode(entries));

/** Returns the text of a cache: its checksum in a line, then the entries. */
export function cacheText(evaluations: Evaluations): string {
  const entries = JSON.stringify([...evaluations].sort(([a], [b]) => (a < b ? -1 : 1)));
  return `banyan networks ${EVALUATIONS_VERSION} ${checksumOf(entries)}\n${entries}\n`;
}

/** Returns what a cache holds, or null where it is not as it was written. */
export function evaluationsOf(text: string): Evaluations | null {
  const cut = text.indexOf("\n");
  const entries = text.slice(cut + 1).trimEnd();
  if (text.slice(0, cut) !== `banyan networks ${EVALUATIONS_VERSION} ${checksumOf(entries)}`) return null;
  const value = parsed(entries);
  return Array.isArray(value) && value.every(isEntry) ? new Map(value) : null;
}

/** Returns the value of a JSON text; null for others. A checksum tells damage, not who wrote it. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

const isEntry = (value: unknown): value is [string, readonly Evaluated[]] =>
  Array.isArray(value) &&
  value.length === 2 &&
  typeof value[0] === "string" &&
  Array.isArray(value[1]) &&
  value[1].every(isEvaluated);

/** Most that numbers of a graph can be; searches are for far smaller ones. */
const MOST = 1e9;
const isCount = (value: unknown): value is number =>
  Number.isInteger(value) && (value as number) >= 0 && (value as number) <= MOST;

function isEvaluated(value: unknown): value is Evaluated {
  const { family, parameters, lines, steps, bandwidth } = (value ?? {}) as Partial<Record<keyof Evaluated, unknown>>;
  return (
    typeof family === "string" &&
    familyNamed(family) !== null &&
    Array.isArray(parameters) &&
    parameters.every(isCount) &&
    isCount(lines) &&
    isCount(steps) &&
    typeof bandwidth === "string" &&
    parseRational(bandwidth) !== null
  );
}
