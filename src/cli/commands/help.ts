import { InputError, shown } from "../../base/errors.ts";
import { optionName } from "../../base/option-names.ts";
import { closest, spelt } from "../../model/topology/closest.ts";
import { readCommandLine } from "../command-line.ts";
import { type Context, outJson, outRows } from "../context.ts";
import { manualPage } from "../manual.ts";
import { COMMAND_NAMES, type CommandName } from "../protocol.ts";

/** `banyan help [COMMAND]`: what `banyan COMMAND --help` prints; --man: the manual page. */
export async function run(context: Context, args: readonly string[]): Promise<number> {
  const [asked] = args;
  const isManual = context.options["man"] === true;
  if (isManual && asked !== undefined)
    throw new InputError(optionName("man"), "nothing beside a command, for one page has all of them,", asked).as(
      "not-together",
    );
  const command = asked === undefined ? null : commandNamed(asked);
  const text = isManual ? manualPage() : helpOf(command);
  if (context.json) outJson(context, { schema: "banyan/help@1", command, text });
  else outRows(context, text.trimEnd().split("\n"));
  return 0;
}

/** Returns the command of a name. Throws InputError. */
function commandNamed(name: string): CommandName {
  const found = spelt(name, COMMAND_NAMES);
  if (found !== undefined) return found;
  const near = closest(name, COMMAND_NAMES);
  const meant = near === null ? "" : `; did you mean ${near}?`;
  throw new InputError("the command", `one of ${COMMAND_NAMES.join(", ")}`, name)
    .as("unknown-name")
    .saying(`there is no command ${shown(name)}${meant} (\`banyan help\` lists all)`);
}

/** Returns what --help prints. */
function helpOf(command: CommandName | null): string {
  const read = readCommandLine([...(command === null ? [] : [command]), "--help"]);
  return "out" in read ? read.out : "";
}
