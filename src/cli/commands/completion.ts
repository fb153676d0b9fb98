import { COLLECTIVE_KINDS } from "../../model/collective/collective.ts";
import { CONSTRUCTION_FORMS } from "../../model/direct/parse.ts";
import { PRESETS } from "../../model/presets/preset.ts";
import { RUNTIME_NAMES } from "../../model/program/runtime-names.ts";
import { GPU_MODELS } from "../../model/topology/gpu-models.ts";
import { ROWS } from "../../request/option-table.ts";
import { oneOf } from "../../request/values.ts";
import { EXPORTERS } from "../../run/export/exporters.ts";
import { ALGORITHMS, AUTO } from "../../synthesize/catalog.ts";
import { BASH, type Completed, type CompletedCommand, FISH, type Values, ZSH } from "../completion.ts";
import { type Context, outJson } from "../context.ts";
import { type OptionUsage, optionsOfCommand, USAGES } from "../program.ts";
import type { CommandName } from "../protocol.ts";
import { LISTED } from "./list.ts";

const SHELLS = { bash: BASH, zsh: ZSH, fish: FISH };

const networks: Values = {
  words: PRESETS.filter((preset) => !CONSTRUCTION_FORMS.includes(preset)).map(({ name, form }) =>
    form === name ? name : `${name}:`,
  ),
  files: true,
};
const only = (words: readonly string[]): Values => ({ words, files: false });

/** What values of options can be, where the table's parser does not say it. */
const VALUES: Readonly<Record<string, Values>> = {
  collective: only([...COLLECTIVE_KINDS, "custom:"]),
  algorithm: only([...ALGORITHMS.map(({ name }) => name), AUTO]),
  algorithms: { ...only(ALGORITHMS.map(({ name }) => name)), list: true },
  to: only(EXPORTERS.map(({ name }) => name)),
  gpu: only([...GPU_MODELS.keys()]),
  backend: only(["native", "wasm", "js"]),
  target: only(RUNTIME_NAMES),
  topology: networks,
};
const ARGUMENTS: Readonly<Record<string, Values>> = {
  "<TOPO>": networks,
  "<FILE|TOPO>": networks,
  "<WHAT>": only(LISTED),
  "[COMMAND]": only(Object.keys(USAGES)),
  "<SHELL>": only(Object.keys(SHELLS)),
};
const FILES: Values = { words: [], files: true };

const valuesOf = ({ id, value }: OptionUsage): Values | null => {
  if (value === null) return null;
  return VALUES[id] ?? (value === "<file>" ? FILES : only(ROWS[id].parse?.words ?? []));
};

const completedOption = (usage: OptionUsage): Completed => ({
  flags: usage.short === null ? [usage.long] : [usage.short, usage.long],
  help: usage.help,
  values: valuesOf(usage),
});

/** `banyan completion SHELL`: the script that completes command lines there, made from the table of options. */
export async function run(context: Context, args: readonly string[]): Promise<number> {
  const shell = oneOf(args[0] as string, Object.keys(SHELLS) as (keyof typeof SHELLS)[], "SHELL");
  const everywhere = [
    ...optionsOfCommand().map(completedOption),
    { flags: ["-h", "--help"], help: "print the help", values: null },
  ];
  const commands = (Object.keys(USAGES) as CommandName[]).map(
    (name): CompletedCommand => ({
      name,
      summary: USAGES[name].summary,
      options: [...optionsOfCommand(name).map(completedOption), ...everywhere],
      args: USAGES[name].args.map(([form]) => ARGUMENTS[form] ?? FILES),
    }),
  );
  const text = SHELLS[shell](commands);
  if (context.json) outJson(context, { schema: "banyan/completion@1", shell, text });
  else context.out(text);
  return 0;
}
