import {
  closeSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  statSync,
  writeFileSync,
} from "node:fs";

/** Files of lines on a file system that machines share: one process appends to each, another reads what came. */

const BLOCK = 2 ** 18;
const NEWLINE = 10;

/** A line, with where it is in its file. */
export interface Line {
  readonly text: string;
  readonly at: number;
  /** Where the next one begins. */
  readonly end: number;
}

/** Yields the whole lines of a file from an offset on; none where there is no file. What has no end yet is not one. */
export function* linesFrom(path: string, offset: number): Generator<Line> {
  let descriptor: number;
  try {
    descriptor = openSync(path, "r");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return;
    throw error;
  }
  try {
    let rest = Buffer.alloc(0);
    let at = offset;
    const block = Buffer.alloc(BLOCK);
    for (;;) {
      const count = readSync(descriptor, block, 0, BLOCK, at + rest.length);
      if (count === 0) return;
      rest = Buffer.concat([rest, block.subarray(0, count)]);
      let begin = 0;
      for (let end = rest.indexOf(NEWLINE); end >= 0; end = rest.indexOf(NEWLINE, begin)) {
        yield { text: rest.toString("utf8", begin, end), at: at + begin, end: at + end + 1 };
        begin = end + 1;
      }
      at += begin;
      rest = rest.subarray(begin);
    }
  } finally {
    closeSync(descriptor);
  }
}

/** Returns a file's size; 0 where there is none. */
export function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

/** Appends lines and closes the file, so that other machines see them. */
export function appendLines(path: string, lines: readonly string[]): void {
  const descriptor = openSync(path, "a");
  try {
    writeFileSync(descriptor, lines.map((line) => `${line}\n`).join(""));
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Cuts off what a process that was killed left of a line. */
export function cutTorn(path: string): void {
  let whole = 0;
  for (const { end } of linesFrom(path, 0)) whole = end;
  if (sizeOf(path) === whole) return;
  const descriptor = openSync(path, "r+");
  try {
    if (fstatSync(descriptor).size > whole) ftruncateSync(descriptor, whole);
  } finally {
    closeSync(descriptor);
  }
}

/** Returns the bytes between two offsets as a text. */
export function textBetween(path: string, from: number, to: number): string {
  const descriptor = openSync(path, "r");
  try {
    const bytes = Buffer.alloc(to - from);
    return bytes.toString("utf8", 0, readSync(descriptor, bytes, 0, bytes.length, from));
  } finally {
    closeSync(descriptor);
  }
}

/** Writes a small file whole or not at all. */
export function writeSmall(path: string, text: string): void {
  writeFileSync(`${path}.new`, text);
  renameSync(`${path}.new`, path);
}

/** Returns a small file's text; null where there is none. */
export function readSmall(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}
