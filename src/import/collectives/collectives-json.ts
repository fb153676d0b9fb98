import { InputError } from "../../base/errors.ts";
import { COLLECTIVE_KINDS, type Collective, type NamedCollective } from "../../model/collective/collective.ts";
import { MOST_COLLECTIVES } from "../../model/collective/repeated-collectives.ts";
import { parseSize } from "../../model/numbers/units.ts";
import { didYouMean } from "../../model/topology/closest.ts";
import type { Topology } from "../../model/topology/topology.ts";
import { parseJson } from "../text/json-text.ts";
import { asInteger, asList, asObject, checkHeader, placeIn, refuse } from "../text/json-value.ts";
import { collectiveTable } from "./collective-json.ts";

const KEYS = ["kind", "size", "chunks", "root", "group"] as const;

/** One of several collectives as a file asks for it; whether its NPUs exist is the request's question. */
export interface CollectiveEntry {
  readonly collective: NamedCollective | Collective;
  readonly sizeBytes?: number;
  readonly chunks?: number;
  readonly root?: string | number;
  readonly group?: string;
}

export interface CollectiveList {
  readonly entries: readonly CollectiveEntry[];
  /** Returns where in the file an option of entry i stands: `jobs.json: collectives[1].root`. */
  placeOf(i: number): (option: string) => string;
}

/**
 * Returns the collectives that a `banyan-collectives` file (version 1), or a bare list, asks for: each an object of `kind`,
 * and optionally `size` ("64MiB" or bytes), `chunks`, `root`, `group` ("0,1;2,3", a list of NPUs or a list of groups); or a
 * whole `banyan-collective` with its table of chunks. Throws InputError with the place in the file. O(text).
 */
export function readCollectives(text: string, fileName: string, topology: Topology): CollectiveList {
  const value = parseJson(text, fileName);
  const bare = Array.isArray(value);
  if (!bare) checkHeader(value, fileName, "", "banyan-collectives");
  const listed = bare ? value : (value as { readonly collectives?: unknown }).collectives;
  const pathOf = (i: number): string => `${bare ? "" : "collectives"}[${i}]`;
  const place = bare ? fileName : placeIn(fileName, "collectives");
  const list = asList(listed, place, "a list of collectives");
  if (list.length === 0) throw new InputError(place, "at least one collective", list);
  if (list.length > MOST_COLLECTIVES)
    throw new InputError(place, `at most ${MOST_COLLECTIVES} collectives`, list.length);
  return {
    entries: list.map((entry, i) => entryOf(entry, fileName, pathOf(i), topology)),
    placeOf: (i) => (option) => placeIn(fileName, `${pathOf(i)}.${option === "collective" ? "kind" : option}`),
  };
}

function entryOf(value: unknown, fileName: string, path: string, topology: Topology): CollectiveEntry {
  const at = (key: string): string => placeIn(fileName, `${path}.${key}`);
  const fields = asObject<Record<(typeof KEYS)[number] | "format", unknown>>(value, placeIn(fileName, path));
  if (fields.format !== undefined) return { collective: collectiveTable(value, fileName, path, topology) };
  for (const key of Object.keys(fields)) {
    if (!KEYS.includes(key as (typeof KEYS)[number])) {
      throw new InputError(placeIn(fileName, path), `the keys ${KEYS.join(", ")}${didYouMean(key, KEYS)}`, key);
    }
  }
  const { kind, size, chunks, root, group } = fields;
  if (!COLLECTIVE_KINDS.includes(kind as NamedCollective)) {
    const guess = typeof kind === "string" ? didYouMean(kind, COLLECTIVE_KINDS) : "";
    refuse(at("kind"), `one of ${COLLECTIVE_KINDS.join(", ")}${guess}`, kind);
  }
  return {
    collective: kind as NamedCollective,
    ...(size === undefined ? {} : { sizeBytes: sizeOf(size, at("size")) }),
    ...(chunks === undefined ? {} : { chunks: asInteger(chunks, at("chunks"), 1) }),
    ...(root === undefined ? {} : { root: npuOf(root, at("root")) }),
    ...(group === undefined ? {} : { group: groupOf(group, at("group")) }),
  };
}

function sizeOf(value: unknown, place: string): number {
  if (typeof value === "string") return parseSize(value, place);
  if (typeof value === "number" && Number.isSafeInteger(value) && value > 0) return value;
  return refuse(place, 'a size such as "64MiB", or a positive whole number of bytes', value);
}

function npuOf(value: unknown, place: string): string | number {
  if (typeof value !== "string" && typeof value !== "number") refuse(place, "the name or id of an NPU", value);
  return value;
}

/** Returns a group, or groups, as `--group` writes them. */
function groupOf(value: unknown, place: string): string {
  if (typeof value === "string") return value;
  const list = asList(value, place, 'NPUs such as "0,1,2,3" or [0, 1, 2, 3], or a list of such lists');
  const groups = list.length > 0 && list.every(Array.isArray) ? (list as unknown[][]) : [list];
  return groups
    .map((members, g) => {
      const own = groups.length > 1 ? `${place}[${g}]` : place;
      if (members.length === 0) throw new InputError(own, "at least one NPU", members);
      return members.map((member, i) => npuOf(member, `${own}[${i}]`)).join(",");
    })
    .join(";");
}
