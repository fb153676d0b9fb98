import { InputError } from "../../base/errors.ts";
import { type Collective, groupOfChunk, membersOf } from "../../model/collective/collective.ts";
import { compare, format } from "../../model/numbers/rational.ts";
import type { ScheduleHeader } from "../../model/steps/schedule.ts";
import { type Topology, topologyHash } from "../../model/topology/topology.ts";
import { topologyFromJson } from "../networks/topology-json.ts";
import { asInteger, asObject, checkHeader, placeIn, refuse } from "../text/json-value.ts";
import { bytesFromJson, collectiveFromJson } from "./schedule-collective.ts";
import { routesFromJson } from "./schedule-routes.ts";

interface HeaderFields {
  readonly version?: unknown;
  readonly topology?: unknown;
  readonly routes?: unknown;
}

interface CollectiveSections {
  readonly collective?: unknown;
  readonly chunks?: unknown;
}

/** Version 1 is of one collective, version 2 of several at once. */
export const NEWEST_VERSION = 2;

interface ChunkFields {
  readonly id?: unknown;
  readonly bytes?: unknown;
  readonly origin?: unknown;
}

interface ChunkSummary {
  readonly count?: unknown;
  readonly bytes?: unknown;
}

/** More chunks than this are refused: a mistyped count must not exhaust the memory. */
const MAX_CHUNKS = 2 ** 26;

export interface ReadScheduleOptions {
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
    `one for another topology, ${own.name.slice(0, 30)} (hash ${hash})`,
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
