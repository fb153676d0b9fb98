import { InputError, shown, WrongScheduleError } from "../base/errors.ts";
import { optionName } from "../base/option-names.ts";
import { isCollectiveJson, readCollective } from "../import/collectives/collective.ts";
import { collectiveName } from "../model/collective/collective.ts";
import type { Topology } from "../model/topology/topology.ts";
import { namedRequest } from "../request/from-texts.ts";
import { type OptionId, type Options, placeOf, refuseOptions, requestOf, textOf } from "../request/option-table.ts";
import type { CollectiveOptions } from "../request/problem.ts";
import { namedCollective } from "../request/values.ts";
import { readText } from "./files/input-file.ts";

const CUSTOM = "custom:";

/** Throws InputError where no collective is named, after what is wrong with the network. `also`: what else would do. */
export async function demandCollective(options: Options, network: () => Promise<Topology>, also = ""): Promise<void> {
  if (textOf(options, "collective") !== undefined) return;
  await network();
  const collective = optionName("collective");
  throw new InputError(collective, `a collective${also}`).saying(
    `${collective} is missing, e.g. ${collective} allreduce${also}; \`banyan list collectives\` lists all`,
  );
}

/** Returns the collective that the options ask for; a custom one is read from its file. Throws InputError. */
export function collectiveRequest(options: Options, topology: Topology): CollectiveOptions {
  const name = textOf(options, "collective") as string;
  if (!name.startsWith(CUSTOM) && /[/\\]|\.\w+$/.test(name))
    throw new InputError(optionName("collective"), "custom:FILE for a file", name)
      .as("unknown-name")
      .saying(
        `${optionName("collective")} is ${shown(name)}; a collective in a file is ${CUSTOM}${name}, and several at once are ${optionName("collectives")} ${name}`,
      );
  if (!name.startsWith(CUSTOM)) return namedRequest(name, options, ["custom:FILE"]);
  const file = name.slice(CUSTOM.length);
  if (file === "") throw new InputError(optionName("collective"), "custom:FILE", name);
  const text = readText(file, optionName("collective"));
  const isMatrix = !isCollectiveJson(text);
  const said: OptionId[] = [...(isMatrix ? [] : (["size"] as const)), "chunks", "root", "group", "outsiders"];
  refuseOptions(
    { ...options, ...(options["chunks"] === "auto" ? { chunks: undefined } : {}) },
    said,
    "nothing beside custom:FILE, which says it all,",
  );
  return { collective: readCollective(text, file, topology, requestOf(options, ["size"])) };
}

/** Throws WrongScheduleError for the file of a schedule or program that does not make what --collective says. */
export function demandMade(options: Options, name: string, made: string): void {
  const text = textOf(options, "collective");
  const asked = text === undefined ? made : namedCollective(text, placeOf("collective"));
  if (asked === made) return;
  throw new WrongScheduleError(
    `${name} makes ${collectiveName(made)}, not ${collectiveName(asked)} (${placeOf("collective")})`,
  );
}
