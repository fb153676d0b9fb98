import { InputError } from "../../base/errors.ts";
import type { Topology } from "../../model/topology/topology.ts";
import { roundedSize } from "../../report/amounts.ts";
import { placeOf, textOf } from "../../request/option-table.ts";
import { refuseEnding } from "../../run/export/endings.ts";
import { demandSchedules, exportTo } from "../../run/export/exporter.ts";
import { exporterNamed } from "../../run/export/exporters.ts";
import { sizesAsked, writeSizes } from "../../run/export/sizes.ts";
import { synthesized } from "../../run/export/subject.ts";
import { type Context, noteTaken, outJson, outRows } from "../context.ts";
import { worldOf } from "../files/export-world.ts";
import { networkOf } from "../network.ts";
import { subjectOf } from "../subject.ts";

/** `banyan export FILE|TOPO --to FORMAT -o OUT`: a schedule, program or network in another format. */
export async function run(context: Context, args: readonly string[]): Promise<number> {
  const { options, json, quiet } = context;
  const file = args[0] as string;
  const exporter = exporterNamed(textOf(options, "to") as string);
  const path = textOf(options, "output");
  if (path === undefined)
    throw new InputError(placeOf("output"), "the file to write").saying(
      `${placeOf("output")} is missing, the file to write; see \`banyan export --help\``,
    );
  const bySize = sizesAsked(exporter, options);
  if (exporter.extension !== "" && !bySize) refuseEnding(path, [exporter.extension]);
  const world = worldOf(context);
  // so that long work does not end in a surprise
  if (exporter.folder === true || bySize) world.folder(path);
  else world.file(path);
  await exporter.ready?.(world);
  const make = exporter.synthesize ?? synthesized;
  const network = async (): Promise<Topology> => {
    const topology = await networkOf(file, options);
    noteTaken(context, topology);
    return topology;
  };
  const {
    bytes,
    what,
    notes = [],
    facts = {},
  } = bySize
    ? await writeSizes(world, exporter, network, path)
    : await exportTo(
        exporter,
        world,
        await subjectOf(context, file, network, (topology) => {
          demandSchedules(exporter);
          return make(world, topology);
        }),
        path,
      );
  if (json)
    outJson(context, { schema: "banyan/export@1", file, to: exporter.name, output: path, ...facts, bytes, notes });
  else if (!quiet) outRows(context, [`${path}: ${what}, ${roundedSize(bytes)}`, ...notes.map((note) => `  ${note}`)]);
  return 0;
}
