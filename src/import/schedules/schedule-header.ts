import { InputError, inWords } from "../../base/errors.ts";
import {
  COLLECTIVE_KINDS,
  type Collective,
  type CollectiveKind,
  chunkCountOf,
  collective,
  collectiveName,
  groupOfChunk,
  membersOf,
  type NamedCollective,
  type Placement,
} from "../../model/collective/collective.ts";
import { kindFault } from "../../model/collective/collective-definition.ts";
import { compare, format, parseRational, type Rational, rational } from "../../model/numbers/rational.ts";
import type { RouteSet } from "../../model/routes/routes.ts";
import type { ScheduleHeader } from "../../model/steps/schedule.ts";
import { groupsOf } from "../../model/topology/groups.ts";
import { linkCount, linkNames, type Topology, topologyHash } from "../../model/topology/topology.ts";
import { topologyFromJson } from "../networks/topology-json.ts";
import {
  asInteger,
  asList,
  asObject,
  checkHeader,
  fillIntegers,
  type JsonFields,
  placeIn,
  refuse,
} from "../text/json.ts";

type HeaderFields = JsonFields<"version" | "topology" | "routes">;

type CollectiveSections = JsonFields<"collective" | "chunks">;

/** Version 1 is of one collective, version 2 of several at once. */
const NEWEST_VERSION = 2;

type ChunkFields = JsonFields<"id" | "bytes" | "origin">;

type ChunkSummary = JsonFields<"count" | "bytes">;

/** More chunks than this are refused: a mistyped count must not exhaust the memory. */
const MAX_CHUNKS = 2 ** 26;

export interface ReadScheduleOptions {
  /** Hears that a JSON file claims something of itself; nothing else is made of that. */
  readonly onClaims?: () => void;
  /** The network that the schedule must be for; compared by hash, so names do not matter. */
  readonly topology?: Topology;
}

/**
 * Returns what the parsed header of a `banyan-schedule` (version 1) says, a JSON file's or a .bys file's: the network inside
 * it, the collective and the routes, all checked. Throws InputError with the place in the file. O(header).
 */
export function scheduleHeaderFromJson(value: unknown, fileName: string, options: ReadScheduleOptions): ScheduleHeader {
  const topology = scheduleTopology(value, fileName, options);
  const { version, routes } = value as HeaderFields;
  if (version !== 1) refuse(placeIn(fileName, "version"), "version 1, a schedule of one collective,", version);
  const collective = collectiveSections(value, fileName, topology);
  return { topology, collective, routes: routesFromJson(routes, fileName, topology) };
}

/** Returns the network of a schedule file, which must be that of the options. Throws InputError. */
export function scheduleTopology(value: unknown, fileName: string, options: ReadScheduleOptions): Topology {
  checkHeader(value, fileName, "", "banyan-schedule", NEWEST_VERSION);
  return networkInside(value, fileName, options);
}

/** Returns the network of a file whose format and version are known. Throws InputError. */
export function networkInside(value: unknown, fileName: string, options: ReadScheduleOptions): Topology {
  const topology = hashedTopology(value, fileName);
  if (options.topology !== undefined) refuseOther(topology, options.topology, fileName);
  return topology;
}

/** Returns the collective that the sections `collective` and `chunks` describe. Throws InputError. */
export function collectiveSections(value: unknown, fileName: string, topology: Topology): Collective {
  const fields = value as CollectiveSections;
  const collective = collectiveFromJson(fields.collective, fileName, topology, countChunks(fields.chunks, fileName));
  checkChunks(fields.chunks, collective, fileName);
  return collective;
}

/** Returns the network inside a parsed schedule file. Throws InputError where it is not the one the file names by hash. */
export function embeddedTopology(value: unknown, fileName: string): Topology {
  checkHeader(value, fileName, "", "banyan-schedule", NEWEST_VERSION);
  return hashedTopology(value, fileName);
}

function hashedTopology(value: unknown, fileName: string): Topology {
  const section = (value as HeaderFields).topology;
  const topology = topologyFromJson(section, fileName, "topology");
  const { hash } = section as { readonly hash?: unknown };
  const actual = topologyHash(topology);
  if (hash !== actual) {
    refuse(placeIn(fileName, "topology.hash"), `${actual} (this schedule is for another topology)`, hash);
  }
  return topology;
}

function refuseOther(own: Topology, given: Topology, fileName: string): void {
  const hash = topologyHash(own);
  const wanted = topologyHash(given);
  if (hash === wanted) return;
  throw new InputError(
    fileName,
    `a schedule for ${given.name} (hash ${wanted})`,
    inWords(`one for another topology, ${own.name.slice(0, 30)} (hash ${hash})`),
  ).saying(
    own.name === given.name
      ? `${fileName} is for another ${own.name} (hash ${hash}) than this one (hash ${wanted})`
      : `${fileName} is for ${own.name.slice(0, 80)}, not ${given.name.slice(0, 80)}`,
  );
}

function countChunks(value: unknown, fileName: string): number {
  const place = placeIn(fileName, "chunks");
  if (Array.isArray(value)) return value.length;
  return asInteger(asObject<ChunkSummary>(value, place).count, `${place}.count`, 1, MAX_CHUNKS);
}

/** Checks what the chunks section says against the collective, from which all of it follows. */
function checkChunks(value: unknown, collective: Collective, fileName: string): void {
  const at = (path: string): string => placeIn(fileName, `chunks${path}`);
  const size = format(collective.chunkBytes);
  const checkBytes = (bytes: unknown, place: string): void => {
    if (compare(bytesFromJson(bytes, place), collective.chunkBytes) !== 0)
      refuse(place, `${size} bytes, as the collective has,`, bytes);
  };
  if (!Array.isArray(value)) {
    checkBytes((value as ChunkSummary).bytes, at(".bytes"));
    return;
  }
  for (const [chunk, entry] of value.entries()) {
    const { id, bytes, origin } = asObject<ChunkFields>(entry, at(`[${chunk}]`));
    if (id !== chunk) refuse(at(`[${chunk}].id`), String(chunk), id);
    checkBytes(bytes, at(`[${chunk}].bytes`));
    const expected = originOf(collective, chunk);
    if (JSON.stringify(origin) !== expected) refuse(at(`[${chunk}].origin`), expected, origin);
  }
}

function originOf(collective: Collective, chunk: number): string {
  if (collective.pre.kind === "group") return JSON.stringify(`group ${groupOfChunk(collective, chunk)}`);
  const members = membersOf(collective, collective.pre, chunk);
  return members.length === 1 ? String(members[0]) : JSON.stringify([...members]);
}

type CollectiveFields = JsonFields<
  | "kind"
  | "groups"
  | "rootRank"
  | "sizeBytes"
  | "chunksPerNpu"
  | "chunkCount"
  | "chunkBytes"
  | "reduces"
  | "pre"
  | "post"
>;

type PlacementFields = JsonFields<"kind" | "npu" | "offset" | "members">;

/** What a named collective follows from; beside it a file may have the whole table, or nothing of it. */
const TABLE = ["chunkCount", "chunkBytes", "reduces", "pre", "post"] as const;

/**
 * Returns the collective of a schedule file. `chunkCount` is what the file's chunks section counts: it is checked before
 * anything of that size is built. Throws InputError with the place in the file.
 */
function collectiveFromJson(value: unknown, fileName: string, topology: Topology, chunkCount: number): Collective {
  const at = (key: string): string => placeIn(fileName, `collective.${key}`);
  const fields = asObject<CollectiveFields>(value, placeIn(fileName, "collective"));
  const kind = kindOf(fields.kind, at("kind"));
  const groups = groupsOf(topology, memberLists(fields.groups, at("groups")), at("groups"));
  const groupSize = groups[0].length;
  const rootRank = asInteger(fields.rootRank, at("rootRank"), 0, groupSize - 1);
  const sizeBytes = asInteger(fields.sizeBytes, at("sizeBytes"), 1);
  const chunksPerNpu = asInteger(fields.chunksPerNpu, at("chunksPerNpu"), 1);
  if (kind !== "custom" && TABLE.every((key) => fields[key] === undefined)) {
    const expected = chunkCountOf(kind, groupSize, groups.length, chunksPerNpu);
    checkCount(expected, chunkCount, fileName);
    return collective({ kind, groups, sizeBytes, chunksPerNpu, rootRank });
  }
  checkCount(asInteger(fields.chunkCount, at("chunkCount"), 1), chunkCount, fileName);
  if (chunkCount % groups.length !== 0) {
    throw new InputError(at("chunkCount"), `a multiple of the ${groups.length} groups`, chunkCount);
  }
  if (typeof fields.reduces !== "boolean") refuse(at("reduces"), "true or false", fields.reduces);
  const groupMembers = new Int32Array(groups.length * groupSize);
  groups.forEach((members, g) => {
    groupMembers.set(members, g * groupSize);
  });
  const table: Collective = {
    kind,
    groupCount: groups.length,
    groupSize,
    groupMembers,
    rootRank,
    sizeBytes,
    chunksPerNpu,
    chunkCount,
    chunkBytes: bytesFromJson(fields.chunkBytes, at("chunkBytes")),
    reduces: fields.reduces,
    pre: placementFromJson(fields.pre, fileName, "collective.pre", topology, chunkCount),
    post: placementFromJson(fields.post, fileName, "collective.post", topology, chunkCount),
  };
  const fault = kindFault(table);
  if (fault === null) return table;
  if (kind === "custom") throw new InputError(at("sizeBytes"), `what its chunks have at most (${fault})`, sizeBytes);
  throw new InputError(at("kind"), `"custom", for its table makes no ${collectiveName(kind)} (${fault}),`, kind);
}

/** Returns a positive size in bytes: an integer, or a fraction as a text. */
function bytesFromJson(value: unknown, place: string): Rational {
  const expected = 'a positive number of bytes such as 4096 or "2400/7"';
  if (typeof value === "number" && Number.isSafeInteger(value) && value > 0) return rational(value);
  const parsed = typeof value === "string" && value.length < 200 ? parseRational(value) : null;
  if (parsed === null || parsed.num <= 0n) refuse(place, expected, value);
  return parsed;
}

function kindOf(value: unknown, place: string): CollectiveKind {
  if (value === "custom") return value;
  if (!COLLECTIVE_KINDS.includes(value as NamedCollective)) {
    refuse(place, `one of ${COLLECTIVE_KINDS.join(", ")}, custom`, value);
  }
  return value as NamedCollective;
}

function memberLists(value: unknown, place: string): (string | number)[][] {
  const lists = asList(value, place, "a list of groups").map((list, g) => {
    const members = asList(list, `${place}[${g}]`, "a list of NPUs");
    if (members.length === 0) throw new InputError(`${place}[${g}]`, "at least one NPU", members).as("out-of-range");
    return members.map((member, i) => {
      if (typeof member !== "string" && typeof member !== "number") refuse(`${place}[${g}][${i}]`, "an NPU", member);
      return member;
    });
  });
  if (lists.length === 0) throw new InputError(place, "at least one group", lists).as("out-of-range");
  return lists;
}

function checkCount(expected: number, received: number, fileName: string): void {
  if (expected !== received)
    throw new InputError(placeIn(fileName, "chunks"), `${expected} chunks, as the collective has,`, received);
}

function placementFromJson(
  value: unknown,
  fileName: string,
  path: string,
  topology: Topology,
  chunkCount: number,
): Placement {
  const at = (key: string): string => placeIn(fileName, `${path}.${key}`);
  const fields = asObject<PlacementFields>(value, placeIn(fileName, path));
  if (fields.kind === "group") return { kind: "group" };
  const lastNpu = topology.npuCount - 1;
  if (fields.kind === "one") {
    const list = asList(fields.npu, at("npu"));
    if (list.length !== chunkCount) throw new InputError(at("npu"), `${chunkCount} NPUs, one a chunk,`, list.length);
    const npu = new Int32Array(chunkCount);
    fillIntegers(list, npu, at("npu"), 0, lastNpu);
    return { kind: "one", npu };
  }
  if (fields.kind !== "sets") refuse(at("kind"), '"one", "group" or "sets"', fields.kind);
  const offsets = asList(fields.offset, at("offset"));
  const list = asList(fields.members, at("members"));
  if (offsets.length !== chunkCount + 1)
    throw new InputError(at("offset"), `${chunkCount + 1} numbers`, offsets.length);
  const offset = new Int32Array(offsets.length);
  const members = new Int32Array(list.length);
  fillIntegers(offsets, offset, at("offset"), 0, list.length);
  fillIntegers(list, members, at("members"), 0, lastNpu);
  if (offset[0] !== 0 || offset[chunkCount] !== list.length) {
    throw new InputError(at("offset"), `numbers from 0 to ${list.length}`, [offset[0], offset[chunkCount]]);
  }
  for (let chunk = 0; chunk < chunkCount; chunk++) {
    if (offset[chunk] >= offset[chunk + 1])
      throw new InputError(at(`offset[${chunk + 1}]`), "a larger number", offset[chunk + 1]);
    for (let i = offset[chunk] + 1; i < offset[chunk + 1]; i++) {
      if (members[i - 1] >= members[i])
        throw new InputError(at(`members[${i}]`), "ascending NPUs for a chunk", members[i]);
    }
  }
  return { kind: "sets", offset, members };
}

type RouteFields = JsonFields<"id" | "links" | "share">;

/**
 * Returns the routes of a schedule file. Links are names or numbers; `share` is a text for all links of a route or a list
 * of one for each. Throws InputError for links that are not there or do not follow one another, for a route that does not
 * run from NPU to NPU, and for a share outside (0, 1]. O(route links).
 */
export function routesFromJson(value: unknown, fileName: string, topology: Topology): RouteSet {
  const entries = asList(value, placeIn(fileName, "routes"));
  const byName = new Map<string, number>();
  linkNames(topology).forEach((name, link) => {
    byName.set(name, link);
  });
  const source = new Int32Array(entries.length);
  const target = new Int32Array(entries.length);
  const linkOffset = new Int32Array(entries.length + 1);
  const links: number[] = [];
  const shareNum: number[] = [];
  const shareDen: number[] = [];
  for (let route = 0; route < entries.length; route++) {
    const place = placeIn(fileName, `routes[${route}]`);
    const fields = asObject<RouteFields>(entries[route], place);
    if (fields.id !== route) refuse(`${place}.id`, String(route), fields.id);
    const list = asList(fields.links, `${place}.links`, "a list of links");
    if (list.length === 0) throw new InputError(`${place}.links`, "at least one link", list).as("out-of-range");
    let node = -1;
    for (const [i, entry] of list.entries()) {
      const link = linkOf(entry, `${place}.links[${i}]`, byName, linkCount(topology));
      const from = topology.linkSource[link];
      if (i === 0) source[route] = npuOf(topology, from, `${place}.links[0]`, "leaves", entry);
      else if (from !== node) {
        throw new InputError(`${place}.links[${i}]`, `a link that leaves ${topology.nodeNames[node]}`, entry);
      }
      node = topology.linkTarget[link];
      links.push(link);
    }
    target[route] = npuOf(topology, node, `${place}.links[${list.length - 1}]`, "enters", list.at(-1));
    linkOffset[route + 1] = links.length;
    const shares = Array.isArray(fields.share) ? fields.share : undefined;
    if (shares !== undefined && shares.length !== list.length) {
      throw new InputError(`${place}.share`, `${list.length} shares, one a link,`, shares.length);
    }
    for (let i = 0; i < list.length; i++) {
      const [num, den] = shareOf(shares === undefined ? fields.share : shares[i], `${place}.share`);
      shareNum.push(num);
      shareDen.push(den);
    }
  }
  return {
    source,
    target,
    linkOffset,
    links: Int32Array.from(links),
    shareNum: Float64Array.from(shareNum),
    shareDen: Float64Array.from(shareDen),
  };
}

function linkOf(entry: unknown, place: string, byName: ReadonlyMap<string, number>, count: number): number {
  const link = typeof entry === "string" ? byName.get(entry) : entry;
  if (typeof link !== "number" || !Number.isInteger(link) || link < 0 || link >= count) {
    refuse(place, `the name or number (below ${count}) of a link`, entry);
  }
  return link;
}

function npuOf(topology: Topology, node: number, place: string, verb: string, entry: unknown): number {
  if (node >= topology.npuCount) throw new InputError(place, `a link that ${verb} an NPU`, entry);
  return node;
}

/** Returns numerator and denominator as they are written, not reduced, so that a schedule reads back unchanged. */
function shareOf(value: unknown, place: string): readonly [number, number] {
  const match = typeof value === "string" ? /^(\d{1,16})(?:\/(\d{1,16}))?$/.exec(value) : null;
  const num = Number(match?.[1] ?? Number.NaN);
  const den = Number(match?.[2] ?? 1);
  if (!Number.isSafeInteger(num) || !Number.isSafeInteger(den) || num < 1 || num > den) {
    refuse(place, 'a share such as "1" or "1/4"', value);
  }
  return [num, den];
}
