import { InputError } from "../base/errors.ts";
import { isCollectiveJson, readCollective } from "../import/collectives/collective.ts";
import { parseSize } from "../model/numbers/units.ts";
import type { Topology } from "../model/topology/topology.ts";
import { namedRequest } from "../request/collective-options.ts";
import type { Options } from "../request/option-texts.ts";
import type { CollectiveOptions } from "../request/problem.ts";
import { textOf } from "../request/values.ts";
import { readText } from "./files/input-file.ts";

const CUSTOM = "custom:";

/** Returns the collective that the options ask for; a custom one is read from its file. Throws InputError. */
export function collectiveRequest(options: Options, topology: Topology): CollectiveOptions {
  const name = textOf(options, "collective") as string;
  if (!name.startsWith(CUSTOM)) return namedRequest(name, options, ", custom:FILE");
  const file = name.slice(CUSTOM.length);
  if (file === "") throw new InputError("--collective", "custom:FILE", name);
  const text = readText(file, "--collective");
  const isMatrix = !isCollectiveJson(text);
  for (const option of [...(isMatrix ? [] : ["size"]), "chunks", "root", "group", "outsiders"]) {
    const value = textOf(options, option);
    if (value !== undefined)
      throw new InputError(`--${option}`, "nothing beside custom:FILE, which says it all,", value);
  }
  const size = textOf(options, "size");
  const given = size === undefined ? {} : { sizeBytes: parseSize(size) };
  return { collective: readCollective(text, file, topology, given) };
}
