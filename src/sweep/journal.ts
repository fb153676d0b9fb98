import { closeSync, fsyncSync, ftruncateSync, openSync, readSync, statSync, writeSync } from "node:fs";
import { InputError } from "../base/errors.ts";
import { canonicalJson, type Outcome, type Row, type TaskStatus } from "../model/sweep/task.ts";

/** What came of a task, with where it stands in its sweep: cells of axes, and for how many equal points it is. */
export interface Entry extends Omit<Outcome, "hash"> {
  readonly task: string;
  readonly cells: Row;
}

/** The outcomes of a sweep in a file, one JSON line each, in any order; a task's last line counts. */
export interface Journal {
  readonly path: string;
  /** How many tasks have an outcome. */
  readonly count: number;
  /** Tells whether a task has an outcome. O(1). */
  status(hash: string): TaskStatus | null;
  /** Returns the outcome of a task, from the disk. */
  entry(hash: string): Entry | null;
  /** Writes outcomes behind the others. Throws InputError where there is no room; what was there before stays. */
  append(entries: readonly Entry[]): void;
  /** Resolves when all that was appended is on the disk. */
  flush(): void;
  close(): void;
}

const BLOCK = 2 ** 20;
const START = '{"task":"';
const HASH_LENGTH = 64;
const STATUSES: readonly TaskStatus[] = ["done", "refused", "infeasible", "timeout", "memory", "crashed"];
const NEWLINE = 10;

/** Where each task's line begins, by its hash, in 24 bytes or so a task. */
class Places {
  private high = new Uint32Array(1024);
  private low = new Uint32Array(1024);
  /** 1 + place; 0: free. */
  private at = new Float64Array(1024);
  private kind = new Uint8Array(1024);
  count = 0;

  private slot(high: number, low: number): number {
    const mask = this.at.length - 1;
    let slot = low & mask;
    while (this.at[slot] !== 0 && (this.high[slot] !== high || this.low[slot] !== low)) slot = (slot + 1) & mask;
    return slot;
  }

  private find(hash: string): number {
    return this.slot(Number.parseInt(hash.slice(0, 8), 16), Number.parseInt(hash.slice(8, 16), 16));
  }

  private grow(): void {
    const { high, low, at, kind } = this;
    const size = at.length * 2;
    this.high = new Uint32Array(size);
    this.low = new Uint32Array(size);
    this.at = new Float64Array(size);
    this.kind = new Uint8Array(size);
    for (let i = 0; i < at.length; i++) {
      if (at[i] === 0) continue;
      const slot = this.slot(high[i], low[i]);
      [this.high[slot], this.low[slot], this.at[slot], this.kind[slot]] = [high[i], low[i], at[i], kind[i]];
    }
  }

  set(hash: string, place: number, kind: number): void {
    if (this.count * 2 > this.at.length) this.grow();
    const slot = this.find(hash);
    if (this.at[slot] === 0) this.count++;
    this.high[slot] = Number.parseInt(hash.slice(0, 8), 16);
    this.low[slot] = Number.parseInt(hash.slice(8, 16), 16);
    this.at[slot] = place + 1;
    this.kind[slot] = kind;
  }

  get(hash: string): { readonly place: number; readonly kind: number } | null {
    const slot = this.find(hash);
    return this.at[slot] === 0 ? null : { place: this.at[slot] - 1, kind: this.kind[slot] };
  }
}

/** Returns what a line says of itself first: its task, and how that ended. */
function headOf(line: string, path: string, at: number): { readonly hash: string; readonly kind: number } {
  const hash = line.slice(START.length, START.length + HASH_LENGTH);
  const status = /^","status":"([a-z]+)"/.exec(line.slice(START.length + HASH_LENGTH, START.length + HASH_LENGTH + 32));
  const kind = STATUSES.indexOf(status?.[1] as TaskStatus);
  if (line.startsWith(START) && /^[0-9a-f]{64}$/.test(hash) && kind >= 0) return { hash, kind };
  throw new InputError(path, "lines that a sweep wrote").saying(
    `${path} has something at byte ${at} that no sweep wrote; put the file aside, and what it has is done again`,
  );
}

/** Returns the bytes of a file from a place on until the end of the line. */
function lineAt(descriptor: number, place: number): string {
  const parts: Buffer[] = [];
  for (let at = place; ; ) {
    const block = Buffer.alloc(at === place ? 4096 : BLOCK);
    const length = readSync(descriptor, block, 0, block.length, at);
    const end = block.subarray(0, length).indexOf(NEWLINE);
    parts.push(block.subarray(0, end < 0 ? length : end));
    if (end >= 0 || length === 0) return Buffer.concat(parts).toString("utf8");
    at += length;
  }
}

/**
 * Opens the journal of a sweep, or begins one. A last line without its end, of a process or machine that was stopped, is removed.
 * Throws InputError where it cannot be written, or has what no sweep wrote. O(file).
 */
export function openJournal(path: string): Journal {
  const descriptor = opened(path);
  const places = new Places();
  let size = 0;
  const block = Buffer.alloc(BLOCK);
  /** The beginning of a line that goes on in the next block. */
  let rest = Buffer.alloc(0);
  for (let at = 0; ; ) {
    const length = readSync(descriptor, block, 0, BLOCK, at);
    if (length === 0) break;
    at += length;
    const text = Buffer.concat([rest, block.subarray(0, length)]);
    let from = 0;
    for (let end = text.indexOf(NEWLINE); end >= 0; end = text.indexOf(NEWLINE, from)) {
      const head = text.subarray(from, Math.min(end, from + 128)).toString("utf8");
      const { hash, kind } = headOf(head, path, size);
      places.set(hash, size, kind);
      size += end + 1 - from;
      from = end + 1;
    }
    rest = Buffer.from(text.subarray(from));
  }
  if (rest.length > 0) ftruncateSync(descriptor, size);
  return {
    path,
    get count() {
      return places.count;
    },
    status: (hash) => {
      const found = places.get(hash);
      return found === null ? null : (STATUSES[found.kind] as TaskStatus);
    },
    entry: (hash) => {
      const found = places.get(hash);
      return found === null ? null : (JSON.parse(lineAt(descriptor, found.place)) as Entry);
    },
    append: (entries) => {
      const lines = entries.map(lineOf);
      write(descriptor, Buffer.from(lines.join("")), size, path);
      for (const [i, entry] of entries.entries()) {
        places.set(entry.task, size, STATUSES.indexOf(entry.status));
        size += Buffer.byteLength(lines[i] as string);
      }
    },
    flush: () => fsyncSync(descriptor),
    close: () => closeSync(descriptor),
  };
}

function opened(path: string): number {
  try {
    return openSync(path, statSync(path, { throwIfNoEntry: false }) === undefined ? "wx+" : "r+");
  } catch (error) {
    throw new InputError(path, "a file that can be written").saying(
      `${path} cannot be written: ${(error as Error).message}`,
    );
  }
}

function lineOf({ task, status, ...rest }: Entry): string {
  return `${START}${task}","status":"${status}",${canonicalJson(rest).slice(1)}\n`;
}

/** Writes bytes at a place, all or none. */
function write(descriptor: number, bytes: Buffer, place: number, path: string): void {
  try {
    for (let at = 0; at < bytes.length; ) at += writeSync(descriptor, bytes, at, bytes.length - at, place + at);
  } catch (error) {
    ftruncateSync(descriptor, place);
    const isFull = (error as NodeJS.ErrnoException).code === "ENOSPC";
    throw new InputError(path, "room").saying(
      `${path} cannot be written (${isFull ? "the disk is full" : (error as Error).message})`,
    );
  }
}
