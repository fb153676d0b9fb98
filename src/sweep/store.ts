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
