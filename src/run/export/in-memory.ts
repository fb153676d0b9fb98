import { InputError } from "../../base/errors.ts";
import { optionName } from "../../base/option-names.ts";
import type { Engine } from "../../engine/types.ts";
import { aboutBytes } from "../../model/steps/estimate.ts";
import type { Topology } from "../../model/topology/topology.ts";
import { namedRequest } from "../../request/from-texts.ts";
import { type Options, textOf } from "../../request/option-table.ts";
import type { Progress } from "../../request/progress.ts";
import { blocks } from "./blocks.ts";
import { exportTo } from "./exporter.ts";
import { exporterNamed } from "./exporters.ts";
import { fileNameOf } from "./file-name.ts";
import { sizesAsked, writeSizes } from "./sizes.ts";
import { type Subject, synthesized } from "./subject.ts";
import type { OutputFile, OutputFolder, World } from "./world.ts";

/** What a page lends the exporters. */
export interface InMemoryOptions {
  readonly engine: Engine;
  readonly signal: AbortSignal;
  /** The package's version, which reports print. */
  readonly version: string;
  /** Name of the file, or of the folder of files; by default one that tells what is inside (`fileNameOf`). */
  readonly path?: string;
  progress?(progress: Progress): void;
  /** Returns the app as one page, for `html`. */
  page?(): Promise<string>;
  /** Returns the engine's texts, for `mpi-c`. */
  mpiEngine?(): readonly string[];
}

/** A file that was made; its parts make a Blob, or a file of a zip archive. */
export interface MadeFile {
  readonly path: string;
  readonly parts: readonly Uint8Array<ArrayBuffer>[];
}

/** What was made. */
export interface MadeFiles {
  /** One file; several below a common folder for formats that make a folder. */
  readonly files: readonly MadeFile[];
  readonly bytes: number;
  /** "12 transfers", "2 files": for people. */
  readonly what: string;
  /** What the user should know, a sentence each. */
  readonly notes: readonly string[];
  /** Further facts, as `export --json` has them. */
  readonly facts: Readonly<Record<string, unknown>>;
}

/** Files above this are more than a page holds. */
const MOST_BYTES = 2 ** 31;

const encoder = new TextEncoder();

/** Returns bytes as they are where they are not shared between threads, else a copy. */
const unshared = (bytes: Uint8Array): Uint8Array<ArrayBuffer> =>
  bytes.buffer instanceof ArrayBuffer ? (bytes as Uint8Array<ArrayBuffer>) : new Uint8Array(bytes);

/** Throws InputError where a file is more than a page holds. */
function refuseTooLarge(bytes: number): void {
  if (bytes <= MOST_BYTES) return;
  throw new InputError("the file", `one of at most ${aboutBytes(MOST_BYTES)} in a page`, aboutBytes(bytes)).as(
    "unknown-name",
  );
}

/** Returns the parts of a file as bytes, and how many. */
function held(
  parts: Iterable<string | Uint8Array>,
  onBytes?: (bytes: number) => void,
): { readonly parts: readonly Uint8Array<ArrayBuffer>[]; readonly bytes: number } {
  const made: Uint8Array<ArrayBuffer>[] = [];
  let bytes = 0;
  for (const block of blocks(parts)) {
    const part = typeof block === "string" ? encoder.encode(block) : unshared(block);
    made.push(part);
    bytes += part.length;
    refuseTooLarge(bytes);
    onBytes?.(bytes);
  }
  return { parts: made, bytes };
}

/** Returns a world that keeps what is written in `files`. */
function memoryWorld(options: Options, lent: InMemoryOptions, files: MadeFile[]): World {
  const file = (path: string): OutputFile => ({
    path,
    refuseWithoutRoom: refuseTooLarge,
    write(parts, onBytes) {
      const made = held(parts, onBytes);
      files.push({ path, parts: made.parts });
      return made.bytes;
    },
  });
  const folder = (path: string): OutputFolder => ({
    path,
    write(inside) {
      let bytes = 0;
      for (const { name, parts } of inside) {
        bytes += file(`${path}/${name}`).write(parts);
        refuseTooLarge(bytes);
      }
      return bytes;
    },
  });
  return {
    options,
    signal: lent.signal,
    version: lent.version,
    progress: (progress) => lent.progress?.(progress),
    file,
    folder,
    withEngine: (work) => work(lent.engine),
    collective: () => namedRequest(textOf(options, "collective") as string, options),
    page() {
      if (lent.page !== undefined) return lent.page();
      throw new InputError(optionName("to", " html"), "the app as one page");
    },
    mpiEngine() {
      if (lent.mpiEngine !== undefined) return lent.mpiEngine();
      const place = optionName("to", " mpi-c");
      throw new InputError(place, "the engine's text, which the command line has").saying(
        `${place} needs the text of the engine, which only the command line has: \`banyan export ... ${place}\``,
      );
    },
  };
}

/** Returns the topology of a network. Throws InputError for other subjects. */
function networkOf(subject: Subject): Topology {
  if (subject.kind === "network") return subject.topology;
  throw new InputError(optionName("sizesBytes"), `a network in place of a ${subject.kind}`, subject.kind);
}

/**
 * Returns the files of a format, as `banyan export` writes them: the same bytes for the same subject and options, which have
 * the names of the command line. A network with `collective` among the options is first given a schedule; with `sizes`,
 * several programs. Throws InputError, and as synthesize does. Memory: the files.
 */
export async function exportInMemory(
  name: string,
  subject: Subject,
  options: Options,
  lent: InMemoryOptions,
): Promise<MadeFiles> {
  const files: MadeFile[] = [];
  const world = memoryWorld(options, lent, files);
  const exporter = exporterNamed(name);
  const path = lent.path ?? fileNameOf(exporter, subject);
  const bySize = sizesAsked(exporter, options);
  await exporter.ready?.(world);
  const made = async (): Promise<Subject> =>
    subject.kind === "network" && textOf(options, "collective") !== undefined
      ? (exporter.synthesize ?? synthesized)(world, subject.topology)
      : subject;
  const { bytes, what, notes, facts } = bySize
    ? await writeSizes(world, exporter, async () => networkOf(subject), path)
    : await exportTo(exporter, world, await made(), path);
  return { files, bytes, what, notes: notes ?? [], facts: facts ?? {} };
}
