import { InputError } from "../../base/errors.ts";
import type { Topology } from "../../model/topology/topology.ts";
import { parseJson } from "../text/json-text.ts";
import {
  format,
  JSON_FORMATS,
  NETWORK_FORMATS,
  type NetworkFormat,
  type Option,
  TEXT_FORMATS,
} from "./network-formats.ts";
import type { TopologyOptions } from "./topology-options.ts";

const READABLE = "a network in a format of `banyan list formats`";

/** What the command line calls them. */
export const OPTION_NAMES: Readonly<Record<Option, string>> = {
  nodes: "--nodes",
  profileSizeBytes: "--profile-size",
  profileScale: "--profile-scale",
  gpu: "--gpu",
  bandwidth: "--assume",
  latencyPs: "--assume latency",
};

/** Returns the formats that take an option, for people. */
function takers(option: Option): string {
  const names = NETWORK_FORMATS.filter(({ takes }) => takes.includes(option)).map(({ name }) => name);
  return names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} or ${names.at(-1)}`;
}

/** Throws InputError where options are given that the network does not leave open. `place` names it. */
export function refuseOptions(options: TopologyOptions, place: string, taken: readonly Option[] = []): void {
  for (const option of Object.keys(OPTION_NAMES) as Option[]) {
    if (options[option] === undefined || taken.includes(option)) continue;
    throw new InputError(OPTION_NAMES[option], `a file (${takers(option)}) that leaves this open`, place);
  }
}

/**
 * Returns the network in a text whose format is told by its content; of a schedule, the network it is for. Throws InputError
 * where it is in no known format, and for options that mean nothing to its format.
 */
export function readTopology(text: string, fileName: string, options: TopologyOptions = {}): Topology {
  const asked = <Content>(formats: readonly NetworkFormat<Content>[], content: Content): Topology | null => {
    const found = formats.find(({ looksLike }) => looksLike(content));
    if (found === undefined) return null;
    refuseOptions(options, `${fileName} (${found.name})`, found.takes);
    return found.read(content, fileName, options);
  };
  const isJson = /^\ufeff?\s*[{[]/.test(text);
  const value = isJson ? parseJson(text, fileName) : undefined;
  const topology = isJson ? asked(JSON_FORMATS, value) : asked(TEXT_FORMATS, text);
  if (topology !== null) return topology;
  if (!isJson && text.trim() === "") throw new InputError(fileName, READABLE);
  throw new InputError(fileName, READABLE, isJson ? described(value) : text.trimStart().slice(0, 40));
}

/** Returns the name of the format that a text seems to be in; "" for none. Throws InputError for JSON that is none. */
export function formatOf(text: string, fileName: string): string {
  const named = <Content>(formats: readonly NetworkFormat<Content>[], content: Content): string =>
    formats.find(({ looksLike }) => looksLike(content))?.name ?? "";
  return /^\ufeff?\s*[{[]/.test(text) ? named(JSON_FORMATS, parseJson(text, fileName)) : named(TEXT_FORMATS, text);
}

/** Returns what a JSON value seems to be. */
function described(value: unknown): unknown {
  if (format(value) !== undefined) return format(value);
  return Array.isArray(value) ? "a list" : `an object of ${keysOf(value as object)}`;
}

function keysOf(value: object): string {
  const keys = Object.keys(value);
  return keys.length === 0 ? "nothing" : keys.slice(0, 4).join(", ") + (keys.length > 4 ? " ..." : "");
}
