import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { InputError } from "../base/errors.ts";
import { jsonText } from "../base/visible.ts";
import type { Row } from "../model/sweep/task.ts";
import type { Placed } from "./coordinator.ts";
import { type Journal, openJournal } from "./journal.ts";
import { isRunning } from "./processes.ts";
import { rowsOfEntry } from "./rows/lines.ts";

/** What a sweep's folder says of the sweep. */
export interface SweepFacts {
  readonly schema: "banyan/sweep-folder@1";
  readonly name: string;
  /** Of Banyan: tasks of another one are done again. */
  readonly version: string;
  readonly verb: string;
  readonly axes: readonly string[];
  /** Of every task. */
  readonly options: Readonly<Record<string, string | true>>;
  /** Points before those that are alike are put together. */
  readonly points: number;
  /** Where the schedules are. */
  readonly store: string;
}

/** A folder in which a sweep keeps what came of its tasks, while it is open nobody else's. */
export interface SweepFolder {
  readonly path: string;
  readonly journal: Journal;
  /** Writes what the sweep is. */
  describe(facts: SweepFacts): void;
  /**
   * Writes the results in the order of the tasks: nothing in them tells when, where or how often they were done. Returns how many
   * rows there are. Throws InputError where there is no room.
   */
  writeResults(tasks: Iterable<Placed>): number;
  close(): void;
}

/** Names of what is in the folder. */
export const FOLDER_FILES = {
  facts: "sweep.json",
  journal: "outcomes.jsonl",
  results: "results.jsonl",
  store: "store",
  lock: "lock",
} as const;

const BLOCK_CHARACTERS = 2 ** 20;

/** Takes the folder's lock. Throws InputError where another process has it. */
function lock(path: string): () => void {
  const file = join(path, FOLDER_FILES.lock);
  const own = `${process.pid} ${hostname()}\n`;
  for (let attempt = 0; attempt < 2; attempt++) {
    try {
      const descriptor = openSync(file, "wx");
      writeSync(descriptor, own);
      closeSync(descriptor);
      return () => rmSync(file, { force: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST")
        throw new InputError(path, "a folder that can be written").saying(
          `${path} cannot be written: ${(error as Error).message}`,
        );
      const [pid = "", host = ""] = textOf(file).trim().split(" ");
      if (host !== "" && (host !== hostname() || isRunning(Number(pid))))
        throw new InputError(path, "a folder that no other process works on").saying(
          `${path} is worked on by process ${pid} of ${host}; if there is no such process, remove ${file}`,
        );
      // its process is gone
      rmSync(file, { force: true });
    }
  }
  throw new InputError(path, "a folder that no other process works on");
}

function textOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}

/** Writes a file beside its place, flushes it, and gives it its name. */
function writeWhole(file: string, parts: Iterable<string>): void {
  const fresh = `${file}.new`;
  try {
    const descriptor = openSync(fresh, "w");
    try {
      for (const part of parts) writeFileSync(descriptor, part);
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    renameSync(fresh, file);
  } catch (error) {
    rmSync(fresh, { force: true });
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    const why = (error as NodeJS.ErrnoException).code === "ENOSPC" ? "the disk is full" : (error as Error).message;
    throw new InputError(file, "room").saying(`${file} cannot be written (${why})`);
  }
}

/** Yields texts in blocks, so that a write is worth its call. */
function* inBlocks(lines: Iterable<string>): Generator<string> {
  let block = "";
  for (const line of lines) {
    block += line;
    if (block.length < BLOCK_CHARACTERS) continue;
    yield block;
    block = "";
  }
  yield block;
}

/** Opens a sweep's folder, or makes it. Throws InputError where it cannot be written or another process works on it. */
export function openFolder(path: string): SweepFolder {
  try {
    mkdirSync(path, { recursive: true });
  } catch (error) {
    throw new InputError(path, "a folder that can be made").saying(
      `the folder ${path} cannot be made: ${(error as Error).message}`,
    );
  }
  const unlock = lock(path);
  const journal = ((): Journal => {
    try {
      return openJournal(join(path, FOLDER_FILES.journal));
    } catch (error) {
      unlock();
      throw error;
    }
  })();
  return {
    path,
    journal,
    describe: (facts) => writeWhole(join(path, FOLDER_FILES.facts), [`${jsonText(facts, 2)}\n`]),
    writeResults: (tasks) => {
      let rows = 0;
      const lines = function* (): Generator<string> {
        for (const { job, cells } of tasks) {
          for (const row of rowsOfTask(journal, job.hash, cells)) {
            rows++;
            yield `${jsonText(row)}\n`;
          }
        }
      };
      writeWhole(join(path, FOLDER_FILES.results), inBlocks(lines()));
      return rows;
    },
    close: () => {
      journal.close();
      unlock();
    },
  };
}

/** Returns the rows of a task: its cells, how it ended, and its results. */
export function rowsOfTask(journal: Journal, task: string, cells: Row): Row[] {
  const entry = journal.entry(task);
  return entry === null ? [] : rowsOfEntry({ ...entry, cells });
}
