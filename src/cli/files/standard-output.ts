import { fstatSync } from "node:fs";
import { isatty } from "node:tty";
import { InputError } from "../../base/errors.ts";
import { flush, NOBODY_READS, WRITABLE, writeAll } from "./descriptor.ts";

const DESCRIPTOR = 1;

/** Standard output of this process; what cannot be written is remembered, and nothing throws. */
export interface StandardOutput {
  /** Writes a text; `done` is called once it has gone out, or cannot. */
  write(text: string, done: () => void): void;
  /** Returns whether nothing more can be written, for whatever reason. */
  isClosed(): boolean;
  /** Returns why something that was written so far is lost; null: nothing is, or nobody wanted it. */
  loss(): Error | null;
  /** Waits until a file has on its disk what was written. */
  flush(): void;
}

/** Returns whether it is a terminal, a pipe or a socket, which may keep the writer waiting. */
function isStream(): boolean {
  if (isatty(DESCRIPTOR)) return true;
  const stats = fstatSync(DESCRIPTOR);
  return stats.isFIFO() || stats.isSocket();
}

/** Returns standard output. Files are written here, for process.stdout forgets what a nearly full disk does not take. */
export function standardOutput(): StandardOutput {
  const stream = isStream() ? process.stdout : null;
  let failure: NodeJS.ErrnoException | undefined;
  const fail = (error: NodeJS.ErrnoException): void => {
    failure ??= error;
  };
  const attempt = (work: () => void): void => {
    try {
      if (failure === undefined) work();
    } catch (error) {
      fail(error as NodeJS.ErrnoException);
    }
  };
  stream?.on("error", fail);
  return {
    write(text, done) {
      if (stream !== null && failure === undefined) {
        stream.write(text, (error) => {
          if (error) fail(error);
          done();
        });
        return;
      }
      attempt(() => writeAll(DESCRIPTOR, Buffer.from(text)));
      done();
    },
    isClosed: () => failure !== undefined,
    loss() {
      if (failure === undefined || NOBODY_READS.has(failure.code)) return null;
      return new InputError(
        "standard output",
        WRITABLE[failure.code ?? ""] ?? "a file that can be written",
        failure.message,
      );
    },
    flush() {
      if (stream === null) attempt(() => flush(DESCRIPTOR));
    },
  };
}

/** Standard error at the end of the process waits so long for a reader that is busy. */
const PATIENCE_MS = 2000;

/** Resolves once standard error has taken what was said; in vain after a while, for nobody may be reading it. */
export function standardErrorTaken(): Promise<void> {
  const { stderr } = process;
  if (stderr.writableLength === 0 || stderr.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    setTimeout(resolve, PATIENCE_MS);
    stderr.once("error", () => resolve());
    stderr.write("", () => resolve());
  });
}
