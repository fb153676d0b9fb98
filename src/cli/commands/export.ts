import { InputError } from "../../errors.ts";
import { textOf } from "../../words/values.ts";
import { type Context, outJson } from "../context.ts";
import { exportTo } from "../exporters/exporter.ts";
import { exporterNamed } from "../exporters/exporters.ts";
import { writeSizes } from "../exporters/sizes.ts";
import { outputFile } from "../output-file.ts";
import { outputFolder } from "../output-folder.ts";
import { subjectOf } from "../subject.ts";
import { roundedSize } from "../text.ts";

/** `banyan export FILE|TOPO --to FORMAT -o OUT`: a schedule, program or network in another format. */
export async function run(context: Context, args: readonly string[]): Promise<number> {
  const { options, json, quiet } = context;
  const file = args[0] as string;
  const exporter = exporterNamed(textOf(options, "to") as string);
  const path = textOf(options, "output") as string;
  const sizes = textOf(options, "sizes");
  if (sizes !== undefined && exporter.name !== "msccl-xml")
    throw new InputError("--sizes", "--to msccl-xml beside it", sizes);
  // so that long work does not end in a surprise
  if (exporter.folder === true || sizes !== undefined) outputFolder(context, path, "-o");
  else outputFile(context, path, "-o");
  const {
    bytes,
    what,
    notes = [],
    facts = {},
  } = sizes === undefined
    ? await exportTo(exporter, context, await subjectOf(context, file, exporter.synthesize), path)
    : await writeSizes(context, file, path);
  if (json)
    outJson(context, { schema: "banyan/export@1", file, to: exporter.name, output: path, ...facts, bytes, notes });
  else if (!quiet)
    context.out([`${path}: ${what}, ${roundedSize(bytes)}`, ...notes.map((note) => `  ${note}`), ""].join("\n"));
  return 0;
}
