import { InputError } from "../base/errors.ts";
import { parseBandwidth, parseSize, parseTime } from "../model/numbers/units.ts";
import { didYouMean } from "../model/topology/closest.ts";
import type { Options } from "../request/option-texts.ts";
import { listOf, refuseOptions, textOf, wholeNumber } from "../request/values.ts";
import { MOST_DEGREE, MOST_NODES, SEARCHED, type SearchOptions } from "../run/search/search.ts";

/** Most weight of a size in a mix. */
const MOST_WEIGHT = 1e9;

/** Returns what `search --nodes N --degree D` asks for. Throws InputError. */
export function searchOptions(options: Options): SearchOptions {
  refuseOptions(options, ["maxNodes", "degrees"], "nothing without --all,");
  const [alpha, bandwidth, size] = ["alpha", "bandwidth", "size"].map((name) => textOf(options, name));
  return {
    nodes: required(options, "nodes", MOST_NODES),
    degree: required(options, "degree", MOST_DEGREE),
    bidirectional: options["bidirectional"] === true,
    ...(alpha !== undefined && { alphaPs: parseTime(alpha, "--alpha") }),
    ...(bandwidth !== undefined && { bytesPerSecond: parseBandwidth(bandwidth, "--bandwidth") }),
    ...(size !== undefined && { sizes: listOf(size, "--size", "SIZE or SIZE:WEIGHT").map(weightedSize) }),
    ...searchedFor(textOf(options, "collective")),
    verify: options["verify"] === true,
    alltoall: options["alltoall"] === true,
  };
}

function searchedFor(collective: string | undefined): Pick<SearchOptions, "collective"> {
  if (collective === undefined) return {};
  const searched = SEARCHED.find((name) => name === collective);
  if (searched !== undefined) return { collective: searched };
  const names = `one of ${SEARCHED.join(", ")}${didYouMean(collective, SEARCHED)}`;
  throw new InputError("--collective", names, collective);
}

function required(options: Options, name: "nodes" | "degree", most: number): number {
  const text = textOf(options, name);
  const place = `--${name}`;
  const value = wholeNumber(text, place, name === "nodes" ? 2 : 1);
  if (value === undefined) throw new InputError(place, `how many ${name === "nodes" ? "nodes" : "ports a node has"}`);
  if (value > most) throw new InputError(place, `at most ${most}`, text);
  return value;
}

/** Returns the size and weight of "64MiB:3"; the weight is 1 where there is none. */
function weightedSize(text: string): NonNullable<SearchOptions["sizes"]>[number] {
  const [size, weight = "1", ...more] = text.split(":");
  const parsed = wholeNumber(weight, "a weight of --size", 1) as number;
  if (more.length > 0) throw new InputError("--size", "SIZE or SIZE:WEIGHT", text);
  if (parsed > MOST_WEIGHT) throw new InputError("a weight of --size", `at most ${MOST_WEIGHT}`, weight);
  return { sizeBytes: parseSize(size as string), weight: parsed };
}

export interface SweepOptions {
  readonly degrees: readonly number[];
  readonly maxNodes: number;
  readonly bidirectional: boolean;
}

/** Returns what `search --all` asks for. Throws InputError. */
export function sweepOptions(options: Options): SweepOptions {
  const others = ["nodes", "degree", "alpha", "bandwidth", "size", "collective", "verify", "alltoall", "svg"];
  refuseOptions(options, others, "nothing beside --all, which looks at T_L and T_B only,");
  const degrees = listOf(textOf(options, "degrees") ?? "2,4,8,16", "--degrees", "whole numbers").map((text) => {
    const degree = wholeNumber(text, "--degrees", 1) as number;
    if (degree > MOST_DEGREE) throw new InputError("--degrees", `at most ${MOST_DEGREE}`, text);
    return degree;
  });
  const maxNodes = wholeNumber(textOf(options, "maxNodes") ?? "2000", "--max-nodes", 2) as number;
  if (maxNodes > MOST_NODES) throw new InputError("--max-nodes", `at most ${MOST_NODES}`, maxNodes);
  return { degrees, maxNodes, bidirectional: options["bidirectional"] === true };
}
