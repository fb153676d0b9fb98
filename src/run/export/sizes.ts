import { InputError } from "../../base/errors.ts";
import { optionName } from "../../base/option-names.ts";
import { planSelectorText } from "../../export/programs/mscclpp-select.ts";
import { formatSize } from "../../model/numbers/units.ts";
import type { RuntimeName } from "../../model/program/runtime-names.ts";
import { RUNTIMES } from "../../model/program/runtimes.ts";
import type { Topology } from "../../model/topology/topology.ts";
import { count, timeText } from "../../report/amounts.ts";
import { LIBRARY_OF } from "../../report/comparison.ts";
import { dialectOf, membershipOf, programOptions, synthesisOptions } from "../../request/from-texts.ts";
import { type Options, optionValue, refuseOptions, textOf } from "../../request/option-table.ts";
import { progressOf } from "../../request/progress.ts";
import { AUTO, algorithmOrAuto } from "../../synthesize/catalog.ts";
import type { LibraryTime } from "../programs/library-time.ts";
import { type BesideLibrary, programsBySize, type SizeRange } from "../programs/programs-by-size.ts";
import type { Exporter, Written } from "./exporter.ts";
import { libraryNote } from "./program-writing.ts";
import type { FolderFile, World } from "./world.ts";

/** Returns the name of a range's file; names sort as sizes do, for runtimes take the first file that fits. */
function fileNameOf({ made }: SizeRange, at: number, ranges: number, extension: string): string {
  return `${`${at + 1}`.padStart(`${ranges}`.length, "0")}-${made.program.name}${extension}`;
}

/** Formats of programs for sizes. */
const BY_SIZE = ["msccl-xml", "mscclpp-json", "mpi"];

/** Makes the plans of a folder known to MSCCL++. */
export const SELECTOR = "plans.py";

/** Returns whether --sizes asks for several programs. Throws InputError beside a format that has none. */
export function sizesAsked({ name }: Exporter, options: Options): boolean {
  const sizes = textOf(options, "sizes");
  if (sizes !== undefined && !BY_SIZE.includes(name))
    throw new InputError(optionName("sizesBytes"), `${optionName("to")} ${BY_SIZE.join(" or ")} beside it`, sizes).as(
      "not-alone",
    );
  return sizes !== undefined;
}

/**
 * Writes a folder with the best program for each of --sizes (`banyan export TOPO --to msccl-xml --sizes ...`), of MSCCL++ plans also what makes
 * them known to it. The network is asked for once the rest is known to be right. Throws InputError, and as programsBySize does.
 */
export async function writeSizes(
  world: World,
  { name: format, extension }: Exporter,
  network: () => Promise<Topology>,
  path: string,
): Promise<Written> {
  const { options, signal } = world;
  const plans = format === "mscclpp-json";
  const runtime = plans ? "mscclpp" : format === "mpi" ? "mpi" : dialectOf(world.options);
  const size = textOf(options, "size");
  if (size !== undefined)
    throw new InputError(optionName("sizeBytes"), `nothing beside ${optionName("sizesBytes")}`, size)
      .as("not-together")
      .saying(`${optionName("sizeBytes")} does not go with ${optionName("sizesBytes")}; give one of the two`);
  refuseOptions(options, ["minBytes", "maxBytes"], `nothing beside ${optionName("sizesBytes")}, which says it,`);
  refuseOptions(options, ["topology"], "a schedule, not a network, beside it", "not-alone");
  const collective = optionValue(options, "collective");
  if (collective === undefined)
    throw new InputError(optionName("collective"), `a collective beside ${optionName("sizesBytes")}`);
  const named = textOf(options, "algorithm");
  const algorithm = named === undefined ? AUTO : algorithmOrAuto(named);
  const folder = world.folder(path);
  const topology = await network();
  const sizesBytes = optionValue(options, "sizes") ?? [];
  const { algorithm: _, ...synthesis } = synthesisOptions(options);
  // what is better left to the library has no file
  const isWritten = ({ isLeft }: SizeRange): boolean => !isLeft;
  const filesOf = (all: readonly SizeRange[]): FolderFile[] => {
    const ranges = all.filter(isWritten);
    const files = ranges.map((range, i) => ({
      name: fileNameOf(range, i, ranges.length, extension),
      parts: range.made.parts(),
    }));
    return plans ? [...files, selectorOf(files, ranges, topology)] : files;
  };
  const many = new Set(sizesBytes).size;
  folder.keep?.(null, `${path} is not written: none of ${count(many, "size")} was finished`);
  const all = await world.withEngine((engine) =>
    programsBySize(
      engine,
      topology,
      {
        collective,
        sizesBytes,
        ...(algorithm === AUTO ? {} : { algorithms: [algorithm] }),
        ...membershipOf(options),
        ...synthesis,
        signal,
        onProgress: (step) => world.progress(progressOf(step)),
      },
      programOptions(world.options, runtime),
      (soFar, done, left) =>
        folder.keep?.(
          filesOf(soFar()),
          `${path} has the programs of ${done.length} of ${many} sizes: ${done.map(formatSize).join(", ")}; not those of ${left.map(formatSize).join(", ")}`,
        ),
    ),
  );
  const ranges = all.filter(isWritten);
  const left = all.filter((range) => !isWritten(range)).flatMap(({ beside }) => beside);
  if (ranges.length === 0) throw allLeft(left, runtime);
  const files = filesOf(all);
  const bytes = folder.write(files);
  const notes = ranges.map((range, i) => {
    const sizes = range.sizesBytes.map(formatSize).join(", ");
    const at = range.sizesBytes.length > 1 ? ` at ${formatSize(range.sizesBytes[0] as number)}` : "";
    const from = range.minBytes === 0 ? "" : ` from ${formatSize(range.minBytes)}`;
    const until = range.maxBytes === null ? "" : ` below ${formatSize(range.maxBytes + 1)}`;
    const used = from === "" && until === "" ? "" : ` (taken${from}${until})`;
    return `${files[i]?.name}: for ${sizes}${used}, ${timeText(range.us)} simulated${at}${besideText(range, runtime)}`;
  });
  if (left.length > 0) notes.push(`no file for ${left.map((one) => leftText(one, runtime)).join(", ")}`);
  const unused = new Set(ranges.flatMap(({ passedOver }) => passedOver.map(({ algorithm: by }) => by)));
  if (unused.size > 0) notes.push(`left out: ${count(unused.size, "algorithm")} (--json says why)`);
  if (plans)
    notes.push(`${SELECTOR}: register(rank) makes them known to MSCCL++, which takes one for each call by its size`);
  else if (runtime === "mpi")
    notes.push(`BANYAN_PLANS=${path} tells the runtime to take them, each for the calls of its sizes`);
  else {
    const { title, files: most } = RUNTIMES[runtime] as { readonly title: string; readonly files: number };
    if (ranges.length > most) notes.push(`${title} loads at most ${most} files: name those that it is to load`);
  }
  return {
    bytes,
    what: count(ranges.length, plans || runtime === "mpi" ? "plan" : "file"),
    notes,
    facts: {
      files: ranges.map(({ minBytes, maxBytes, algorithm: by, us, beside, passedOver }, i) => ({
        file: files[i]?.name,
        minBytes,
        maxBytes,
        algorithm: by,
        us,
        sizes: beside,
        passedOver,
      })),
      left,
    },
  };
}

/** Returns what a range's program takes beside the library, size by size; nothing where the library has nothing. */
function besideText({ beside }: SizeRange, runtime: RuntimeName): string {
  const texts = beside.flatMap(({ sizeBytes, us, library }) => {
    if (library === null) return [];
    const at = beside.length > 1 ? `${formatSize(sizeBytes)}: ` : "";
    return [`${at}${libraryNote(library, us, runtime)}`];
  });
  return texts.length === 0 ? "" : `; ${texts.join("; ")}`;
}

/** Returns why a size is left to the library. */
function leftText({ sizeBytes, us, library }: BesideLibrary, runtime: RuntimeName): string {
  const { algorithm, library: whose, us: libraryUs } = library as LibraryTime;
  return `${formatSize(sizeBytes)} (${whose ?? LIBRARY_OF[runtime]}'s own ${algorithm} takes ${timeText(libraryUs)}, the fastest program ${timeText(us)})`;
}

/** Returns the error where the library's own is faster at every size. */
function allLeft(left: readonly BesideLibrary[], runtime: RuntimeName): InputError {
  const sizes = left.map((one) => leftText(one, runtime)).join(", ");
  return new InputError(optionName("sizesBytes"), "a size at which a program gains", sizes)
    .as("not-applicable")
    .saying(
      `no program for ${runtime} is as fast as what runs without one: ${sizes}; ${optionName("algorithm")} NAME writes one all the same`,
    );
}

/** Returns the file that makes plans known: for the ranks, and as many of them in a box as in the first one's. */
function selectorOf(
  files: readonly { readonly name: string }[],
  ranges: readonly SizeRange[],
  { nodeTraits, npuCount }: Topology,
) {
  const group = nodeTraits[0].group ?? null;
  const inBox = nodeTraits.slice(0, npuCount).filter((traits) => (traits.group ?? null) === group).length;
  const { rankCount } = (ranges[0] as SizeRange).made.program;
  const text = planSelectorText({
    plans: files.map(({ name }) => name),
    rankCount,
    ranksPerBox: Math.min(inBox, rankCount),
  });
  return { name: SELECTOR, parts: [text] };
}
