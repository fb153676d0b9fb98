// The library of native/test/faults.cpp, which fails calls of the system on purpose, and the page of memory that steers it.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { constants, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { findTools } from "../scripts/toolchain.mjs";

const SOURCE = fileURLToPath(new URL("../native/test/faults.cpp", import.meta.url));
const WORDS = 8;
const PAGE_BYTES = WORDS * 8 + 64;

/** Which calls are numbered. */
export const KINDS = { files: 1, memory: 2, threads: 4 };
const { errno } = constants;
/** How a call fails: by an error of the system, or by what only the library knows. */
export const WAYS = {
  EIO: errno.EIO,
  ENOSPC: errno.ENOSPC,
  EINTR: errno.EINTR,
  EMFILE: errno.EMFILE,
  ENOMEM: errno.ENOMEM,
  short: -1,
  killBefore: -2,
  killAfter: -3,
};

/** Returns the compiled library, or why there is none: { file } or { why }. */
export function faultLibrary() {
  const isGlibc = process.platform === "linux" && process.report.getReport().header.glibcVersionRuntime !== undefined;
  if (!isGlibc) return { why: "faults are made on Linux with glibc only" };
  const { cxx } = findTools(process.env);
  if (cxx === undefined) return { why: "no C++ compiler found" };
  const hash = createHash("sha256").update(readFileSync(SOURCE)).digest("hex").slice(0, 16);
  const folder = join(tmpdir(), "banyan-faults");
  const file = join(folder, `${hash}.so`);
  if (existsSync(file)) return { file };
  mkdirSync(folder, { recursive: true });
  const made = `${file}.${process.pid}`;
  try {
    execFileSync(cxx, ["-std=c++20", "-O2", "-shared", "-fPIC", "-o", made, SOURCE, "-ldl"], { stdio: "pipe" });
  } catch (error) {
    return { why: `the library of faults does not compile: ${String(error.stderr ?? error).slice(0, 400)}` };
  }
  renameSync(made, file);
  return { file };
}

/** The page: `arm` says what fails from now on, `read` what happened since. */
export class FaultPage {
  #descriptor;

  /** Opens a page; makes it where it is not there. */
  constructor(path) {
    if (!existsSync(path)) writeFileSync(path, Buffer.alloc(PAGE_BYTES));
    this.#descriptor = openSync(path, "r+");
  }

  /** Numbers calls of these kinds from 1 on; those from `first` to `last` fail in this way, none where `first` is 0. */
  arm(kinds, { first = 0, last = first, how = 0 } = {}) {
    const page = Buffer.alloc(PAGE_BYTES);
    this.#words().copy(page, 48, 48, 64);
    for (const [i, value] of [kinds, first, last, how].entries()) page.writeBigInt64LE(BigInt(value), 8 * i);
    writeSync(this.#descriptor, page, 8, PAGE_BYTES - 8, 8);
    writeSync(this.#descriptor, page, 0, 8, 0);
  }

  disarm() {
    writeSync(this.#descriptor, Buffer.alloc(8), 0, 8, 0);
  }

  #words() {
    const page = Buffer.alloc(PAGE_BYTES);
    readSync(this.#descriptor, page, 0, PAGE_BYTES, 0);
    return page;
  }

  /** Returns calls numbered, calls failed, watched descriptors and blocks of the add-on's memory, and what failed first. */
  read() {
    const page = this.#words();
    const [calls, fired, open, blocks] = [4, 5, 6, 7].map((i) => Number(page.readBigInt64LE(8 * i)));
    const what = page.toString("latin1", 8 * WORDS).replace(/\0.*/s, "");
    return { calls, fired, open, blocks, what };
  }

  close() {
    closeSync(this.#descriptor);
  }
}
