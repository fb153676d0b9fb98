import type { Engine } from "../../engine/types.ts";
import type { Topology } from "../../model/topology/topology.ts";
import type { Options } from "../../request/option-table.ts";
import type { CollectiveOptions } from "../../request/problem.ts";
import type { Progress } from "../../request/progress.ts";

/** A place for one file, known to be writable. */
export interface OutputFile {
  /** As the caller wrote it. */
  readonly path: string;
  /**
   * Writes the parts, each used once it is given and never again; returns the bytes written. Nothing is left behind where that
   * fails. `onBytes` hears how many bytes are written.
   */
  write(parts: Iterable<string | Uint8Array>, onBytes?: (bytes: number) => void): number;
  /** Throws InputError where there is less room than that. */
  refuseWithoutRoom(bytes: number): void;
}

/** One of several files that belong together. */
export interface FolderFile {
  readonly name: string;
  readonly parts: Iterable<string | Uint8Array>;
}

/** A place for several files, known to be writable. */
export interface OutputFolder {
  /** As the caller wrote it. */
  readonly path: string;
  /** Writes the files: all are there afterwards, or none. Returns the bytes. */
  write(files: Iterable<FolderFile>): number;
  /**
   * Remembers files that are to be there if the work is interrupted from now on, in place of those before, and what is to be said
   * then. Null: none.
   */
  keep?(files: Iterable<FolderFile> | null, said: string): void;
}

/** What exporters have of the world: files and threads for the command line, memory for the page. */
export interface World {
  readonly options: Options;
  /** Aborted where nobody wants the result any more. */
  readonly signal: AbortSignal;
  /** The package's version. */
  readonly version: string;
  /** Shows how far the work is. */
  progress(progress: Progress): void;
  /** Returns the place for one file. Throws InputError where it cannot be written. */
  file(path: string): OutputFile;
  /** Returns the place for several files. Throws InputError where they cannot be written. */
  folder(path: string): OutputFolder;
  /** Runs work on an engine. */
  withEngine<T>(work: (engine: Engine) => Promise<T>): Promise<T>;
  /** Returns the collective that the options ask for. Throws InputError. */
  collective(topology: Topology): CollectiveOptions;
  /** Returns the app as one page, with nothing inside. Throws InputError where it is not built. */
  page(): Promise<string>;
  /** Returns the texts of the engine that carries out plans for MPI, in order. Throws InputError where there are none. */
  mpiEngine(): readonly string[];
}
