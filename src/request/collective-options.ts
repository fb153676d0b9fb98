import { parseSize } from "../model/numbers/units.ts";
import type { Options } from "./option-texts.ts";
import type { CollectiveOptions } from "./problem.ts";
import { namedCollective, oneOf, textOf, wholeNumber } from "./values.ts";

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

/** Returns the request for a collective of a name, with its size and members. `others`: what else could be named. Throws InputError. */
export function namedRequest(name: string, options: Options, others = ""): CollectiveOptions {
  const size = textOf(options, "size");
  return {
    collective: namedCollective(name, others),
    ...(size === undefined ? {} : { sizeBytes: parseSize(size) }),
    ...membershipOf(options),
  };
}
