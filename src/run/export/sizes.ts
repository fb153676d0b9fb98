import { InputError } from "../../base/errors.ts";
import { optionName } from "../../base/option-names.ts";
import { formatSize } from "../../model/numbers/units.ts";
import { RUNTIMES } from "../../model/program/runtimes.ts";
import type { Topology } from "../../model/topology/topology.ts";
import { count, timeText } from "../../report/amounts.ts";
import { dialectOf, membershipOf, programOptions, synthesisOptions } from "../../request/from-texts.ts";
import { type Options, optionValue, refuseOptions, textOf } from "../../request/option-table.ts";
import { progressOf } from "../../request/progress.ts";
import { AUTO, algorithmOrAuto } from "../../synthesize/catalog.ts";
import { programsBySize, type SizeRange } from "../programs/programs-by-size.ts";
import type { Exporter, Written } from "./exporter.ts";
import type { World } from "./world.ts";

/** Returns the name of a range's file; names sort as sizes do, for runtimes take the first file that fits. */
function fileNameOf({ made }: SizeRange, at: number, ranges: number): string {
  return `${`${at + 1}`.padStart(`${ranges}`.length, "0")}-${made.program.name}.xml`;
}

/** Returns whether --sizes asks for several programs. Throws InputError beside a format that has none. */
export function sizesAsked({ name }: Exporter, options: Options): boolean {
  const sizes = textOf(options, "sizes");
  if (sizes !== undefined && name !== "msccl-xml")
    throw new InputError(optionName("sizesBytes"), `${optionName("to")} msccl-xml beside it`, sizes).as("not-alone");
  return sizes !== undefined;
}

/**
 * Writes a folder with the best program for each of --sizes (`banyan export TOPO --to msccl-xml --sizes ...`). The network is
 * asked for once the rest is known to be right. Throws InputError, and as programsBySize does.
 */
export async function writeSizes(world: World, network: () => Promise<Topology>, path: string): Promise<Written> {
  const { options, signal } = world;
  const dialect = dialectOf(world.options);
  refuseOptions(
    options,
    ["size", "minBytes", "maxBytes"],
    `nothing beside ${optionName("sizesBytes")}, which says it,`,
  );
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
  const ranges = await world.withEngine((engine) =>
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
      programOptions(world.options, dialect),
    ),
  );
  const files = ranges.map((range, i) => ({
    name: fileNameOf(range, i, ranges.length),
    parts: range.made.parts(),
  }));
  const bytes = folder.write(files);
  const { title, files: most } = RUNTIMES[dialect] as { readonly title: string; readonly files: number };
  const notes = ranges.map((range, i) => {
    const sizes = range.sizesBytes.map(formatSize).join(", ");
    const at = range.sizesBytes.length > 1 ? ` at ${formatSize(range.sizesBytes[0] as number)}` : "";
    return `${files[i]?.name}: for ${sizes}, ${timeText(range.us)} simulated${at}`;
  });
  const unused = new Map(
    ranges.flatMap(({ passedOver }) => passedOver.map(({ algorithm: by, reason }) => [by, reason] as const)),
  );
  for (const [by, reason] of unused) notes.push(`left out: ${by}: ${reason}`);
  if (ranges.length > most) notes.push(`${title} loads at most ${most} files: name those that it is to load`);
  return {
    bytes,
    what: count(files.length, "file"),
    notes,
    facts: {
      files: ranges.map(({ minBytes, maxBytes, algorithm: by, us, passedOver }, i) => ({
        file: files[i]?.name,
        minBytes,
        maxBytes,
        algorithm: by,
        us,
        passedOver,
      })),
    },
  };
}
