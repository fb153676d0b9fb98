import { InputError } from "../../base/errors.ts";
import { optionName } from "../../base/option-names.ts";
import { oneOf } from "../../request/values.ts";
import { type Context, outJson, outRows } from "../context.ts";
import { manualPage } from "../manual.ts";
import { readCommandLine } from "../program.ts";
import { COMMANDS, type CommandName } from "../protocol.ts";

/** `banyan help [COMMAND]`: what `banyan COMMAND --help` prints; --man: the manual page. */
export async function run(context: Context, args: readonly string[]): Promise<number> {
  const [asked] = args;
  const isManual = context.options["man"] === true;
  if (isManual && asked !== undefined)
    throw new InputError(optionName("man"), "nothing beside a command, for one page has all of them,", asked).as(
      "not-together",
    );
  const command = asked === undefined ? null : oneOf(asked, Object.keys(COMMANDS) as CommandName[], "COMMAND");
  const text = isManual ? manualPage() : helpOf(command);
  if (context.json) outJson(context, { schema: "banyan/help@1", command, text });
  else outRows(context, text.trimEnd().split("\n"));
  return 0;
}

/** Returns what --help prints. */
function helpOf(command: CommandName | null): string {
  const read = readCommandLine([...(command === null ? [] : [command]), "--help"]);
  return "out" in read ? read.out : "";
}
