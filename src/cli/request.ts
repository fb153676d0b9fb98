import { InputError } from "../errors.ts";
import { isCollectiveJson, readCollective } from "../import/collective.ts";
import type { Topology } from "../model/topology.ts";
import { parseSize } from "../model/units.ts";
import type { CollectiveOptions } from "../problem.ts";
import { readText } from "./input-file.ts";
import type { Options } from "./protocol.ts";
import { namedCollective, oneOf, textOf, wholeNumber } from "./values.ts";

const CUSTOM = "custom:";

/** Returns what --root, --group, --outsiders and --chunks say. Throws InputError. */
export function membershipOf(options: Options): Omit<CollectiveOptions, "collective" | "sizeBytes"> {
  const chunks = wholeNumber(textOf(options, "chunks"), "--chunks", 1);
  const root = textOf(options, "root");
  const group = textOf(options, "group");
  const outsiders = oneOf(textOf(options, "outsiders"), ["relay", "none"] as const, "--outsiders");
  return {
    ...(chunks === undefined ? {} : { chunks }),
    ...(root === undefined ? {} : { root }),
    ...(group === undefined ? {} : { group }),
    ...(outsiders === undefined ? {} : { outsiders }),
  };
}

/** Returns the collective that the options ask for; a custom one is read from its file. Throws InputError. */
export function collectiveRequest(options: Options, topology: Topology): CollectiveOptions {
  const name = textOf(options, "collective") as string;
  if (!name.startsWith(CUSTOM)) {
    const size = textOf(options, "size");
    return {
      collective: namedCollective(name, ", custom:FILE"),
      ...(size === undefined ? {} : { sizeBytes: parseSize(size) }),
      ...membershipOf(options),
    };
  }
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
