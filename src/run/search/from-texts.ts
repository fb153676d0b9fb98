import { InputError } from "../../base/errors.ts";
import { optionName } from "../../base/option-names.ts";
import { parseSize } from "../../model/numbers/units.ts";
import {
  type OptionId,
  type Options,
  optionValue,
  placeOf,
  refuseOptions,
  requestOf,
  textOf,
} from "../../request/option-table.ts";
import { listOf, oneOf, wholeNumber } from "../../request/values.ts";
import { MOST_DEGREE, MOST_NODES, SEARCHED, type SearchOptions } from "./search.ts";

/** Most weight of a size in a mix. */
const MOST_WEIGHT = 1e9;

/** Returns what `search --nodes N --degree D` asks for. Throws InputError. */
export function searchOptions(options: Options): SearchOptions {
  refuseOptions(options, ["maxNodes", "degrees"], "nothing without --all,", "not-alone");
  const size = textOf(options, "size");
  return {
    nodes: required(options, "nodes", MOST_NODES),
    degree: required(options, "degree", MOST_DEGREE),
    bidirectional: options["bidirectional"] === true,
    ...requestOf(options, ["alpha", "bandwidth"]),
    ...(size !== undefined && {
      sizes: listOf(size, optionName("sizeBytes"), "SIZE or SIZE:WEIGHT").map(weightedSize),
    }),
    ...searchedFor(textOf(options, "collective")),
    verify: options["verify"] === true,
    alltoall: options["alltoall"] === true,
  };
}

function searchedFor(collective: string | undefined): Pick<SearchOptions, "collective"> {
  if (collective === undefined) return {};
  return { collective: oneOf(collective, SEARCHED, optionName("collective")) };
}

function required(options: Options, name: "nodes" | "degree", most: number): number {
  const text = textOf(options, name);
  const place = placeOf(name);
  const value = text === undefined ? undefined : wholeNumber(text, place, name === "nodes" ? 2 : 1);
  if (value === undefined)
    throw new InputError(place, name === "nodes" ? "the number of nodes" : "the number of ports of a node");
  if (value > most) throw new InputError(place, `at most ${most}`, text).as("out-of-range");
  return value;
}

/** Returns the size and weight of "64MiB:3"; the weight is 1 where there is none. */
function weightedSize(text: string): NonNullable<SearchOptions["sizes"]>[number] {
  const [size, weight = "1", ...more] = text.split(":");
  const parsed = wholeNumber(weight, "a weight of --size", 1);
  if (more.length > 0) throw new InputError(optionName("sizeBytes"), "SIZE or SIZE:WEIGHT", text);
  if (parsed > MOST_WEIGHT)
    throw new InputError("a weight of --size", `at most ${MOST_WEIGHT}`, weight).as("out-of-range");
  return { sizeBytes: parseSize(size as string), weight: parsed };
}

export interface SweepOptions {
  readonly degrees: readonly number[];
  readonly maxNodes: number;
  readonly bidirectional: boolean;
}

/** Returns what `search --all` asks for. Throws InputError. */
export function sweepOptions(options: Options): SweepOptions {
  const others: OptionId[] = [
    "nodes",
    "degree",
    "alpha",
    "bandwidth",
    "size",
    "collective",
    "verify",
    "alltoall",
    "svg",
  ];
  refuseOptions(options, others, "nothing beside --all, which looks at T_L and T_B only,");
  const degrees = listOf(textOf(options, "degrees") ?? "2,4,8,16", optionName("degrees"), "whole numbers").map(
    (text) => {
      const degree = wholeNumber(text, optionName("degrees"), 1);
      if (degree > MOST_DEGREE)
        throw new InputError(optionName("degrees"), `at most ${MOST_DEGREE}`, text).as("out-of-range");
      return degree;
    },
  );
  const maxNodes = optionValue(options, "maxNodes") ?? 2000;
  if (maxNodes > MOST_NODES)
    throw new InputError(optionName("maxNodes"), `at most ${MOST_NODES}`, maxNodes).as("out-of-range");
  return { degrees, maxNodes, bidirectional: options["bidirectional"] === true };
}
