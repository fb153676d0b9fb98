import { InputError } from "../../base/errors.ts";

/** Bytes by their SHA-256: inputs of tasks, and schedules that they made. */
export interface ContentStore {
  /** The folder, or the address. */
  readonly place: string;
  /** Keeps bytes; returns their SHA-256 (hex). Whole or not at all; again does nothing. Rejects with InputError where it cannot. */
  put(bytes: Uint8Array): Promise<string>;
  /** Returns bytes, checked against their hash. Rejects with InputError where there are none. */
  get(sha256: string): Promise<Uint8Array>;
  has(sha256: string): Promise<boolean>;
}

/** Digits of a hash that are the folder. */
const FOLDER_DIGITS = 2;

/** Returns the name of bytes within a store, whatever the store: "ab/cdef...". Throws InputError for what is no SHA-256. */
export function nameInStore(sha256: string): string {
  if (!/^[0-9a-f]{64}$/.test(sha256)) throw new InputError("the hash", "64 hexadecimal digits", sha256);
  return `${sha256.slice(0, FOLDER_DIGITS)}/${sha256.slice(FOLDER_DIGITS)}`;
}

/** Returns the error of bytes that a store does not have. */
export const notInStore = (place: string, sha256: string): InputError =>
  new InputError("the store", "one that has these bytes", sha256).saying(`the store ${place} does not have ${sha256}`);
