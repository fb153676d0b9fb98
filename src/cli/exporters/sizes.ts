import { InputError } from "../../errors.ts";
import { RUNTIMES } from "../../model/runtimes.ts";
import { formatSize, parseSize } from "../../model/units.ts";
import { programsBySize, type SizeRange } from "../../programs-by-size.ts";
import { AUTO, algorithmOrAuto } from "../../synthesize/catalog.ts";
import { membershipOf } from "../../words/collective-options.ts";
import { dialectOf, programOptions } from "../../words/program-options.ts";
import { progressOf, synthesisOptions, withoutAuto } from "../../words/synthesis-options.ts";
import { listOf, namedCollective, refuseOptions, textOf } from "../../words/values.ts";
import type { Context } from "../context.ts";
import { withEngine } from "../engine.ts";
import { networkOf } from "../network.ts";
import { outputFolder } from "../output-folder.ts";
import { count, timeText } from "../text.ts";
import type { Written } from "./exporter.ts";

/** Returns the name of a range's file; names sort as sizes do, for runtimes take the first file that fits. */
function fileNameOf({ made }: SizeRange, at: number, ranges: number): string {
  return `${`${at + 1}`.padStart(`${ranges}`.length, "0")}-${made.program.name}.xml`;
}

/** `banyan export TOPO --to msccl-xml --sizes ...`: a folder with the best program for each size. */
export async function writeSizes(context: Context, argument: string, path: string): Promise<Written> {
  const { options, signal } = context;
  const dialect = dialectOf(context);
  refuseOptions(options, ["size", "minBytes", "maxBytes"], "nothing beside --sizes, which says it,");
  refuseOptions(options, ["topology"], "a schedule, not a network, beside it");
  const kind = textOf(options, "collective");
  if (kind === undefined) throw new InputError("--collective", "a collective beside --sizes");
  const collective = namedCollective(kind);
  const named = textOf(options, "algorithm");
  const algorithm = named === undefined ? AUTO : algorithmOrAuto(named);
  const folder = outputFolder(context, path, "-o");
  const topology = await networkOf(argument, options);
  const sizesBytes = listOf(textOf(options, "sizes") as string, "--sizes", "sizes such as 1MiB").map((size) =>
    parseSize(size, "--sizes"),
  );
  const { algorithm: _, ...synthesis } = synthesisOptions(options);
  const ranges = await withEngine(context, (engine) =>
    programsBySize(
      engine,
      topology,
      {
        collective,
        sizesBytes,
        ...(algorithm === AUTO ? {} : { algorithms: [algorithm] }),
        ...membershipOf(withoutAuto(options)),
        ...synthesis,
        signal,
        onProgress: (step) => context.progress(progressOf(step)),
      },
      programOptions(context, dialect),
    ),
  );
  const files = ranges.map((range, i) => ({
    name: fileNameOf(range, i, ranges.length),
    parts: [range.made.text],
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
