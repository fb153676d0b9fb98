import { InputError } from "../errors.ts";
import { type Collective, groupOfChunk, membersOf } from "../model/collective.ts";
import { compare, format } from "../model/rational.ts";
import { type RouteSet, routeCount } from "../model/routes.ts";
import { indexColumn, OP_REDUCE, type StepSchedule } from "../model/step-schedule.ts";
import { type Topology, topologyHash } from "../model/topology.ts";
import { parseJson } from "./json-text.ts";
import { asInteger, asList, asObject, checkHeader, fillIntegers, placeIn, refuse } from "./json-value.ts";
import { bytesFromJson, collectiveFromJson } from "./schedule-collective.ts";
import { routesFromJson } from "./schedule-routes.ts";
import { topologyFromJson } from "./topology-json.ts";

interface ScheduleFields {
  readonly topology?: unknown;
  readonly collective?: unknown;
  readonly chunks?: unknown;
  readonly routes?: unknown;
  readonly transfers?: unknown;
}

interface TransferFields {
  readonly count?: unknown;
  readonly chunk?: unknown;
  readonly route?: unknown;
  readonly startPs?: unknown;
  readonly endPs?: unknown;
  readonly op?: unknown;
}

interface ChunkFields {
  readonly id?: unknown;
  readonly bytes?: unknown;
  readonly origin?: unknown;
}

interface ChunkSummary {
  readonly count?: unknown;
  readonly bytes?: unknown;
}

/** More chunks than this are refused in a text file: a mistyped count must not exhaust the memory. */
const MAX_CHUNKS = 2 ** 26;

export interface ReadScheduleOptions {
  /** The network that the schedule must be for; compared by hash, so names do not matter. */
  readonly topology?: Topology;
}

/**
 * Returns the schedule of a `banyan-schedule` file (version 1), on the network inside the file. Everything that a schedule
 * is made of is checked (indices, lengths, whole numbers, hashes); whether it does its work is the verifier's question.
 * Rows out of order are sorted. Throws InputError with the place in the file. O(text), O(n log n) for unsorted rows.
 */
export function readSchedule(text: string, fileName: string, options: ReadScheduleOptions = {}): StepSchedule {
  const value = parseJson(text, fileName);
  checkHeader(value, fileName, "", "banyan-schedule");
  const topology = embeddedTopology(value, fileName);
  if (options.topology !== undefined) refuseOther(topology, options.topology, fileName);
  const fields = value as ScheduleFields;
  const collective = collectiveFromJson(fields.collective, fileName, topology, countChunks(fields.chunks, fileName));
  checkChunks(fields.chunks, collective, fileName);
  const routes = routesFromJson(fields.routes, fileName, topology);
  return transfersFromJson(fields.transfers, fileName, topology, collective, routes);
}

/** Returns the network inside a parsed schedule file. Throws InputError where it is not the one the file names by hash. */
export function embeddedTopology(value: unknown, fileName: string): Topology {
  checkHeader(value, fileName, "", "banyan-schedule");
  const section = (value as ScheduleFields).topology;
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

function transfersFromJson(
  value: unknown,
  fileName: string,
  topology: Topology,
  collective: Collective,
  routes: RouteSet,
): StepSchedule {
  const at = (key: string): string => placeIn(fileName, `transfers.${key}`);
  const fields = asObject<TransferFields>(value, placeIn(fileName, "transfers"));
  const length = asList(fields.chunk, at("chunk")).length;
  if (fields.count !== undefined && fields.count !== length)
    refuse(at("count"), `${length}, the length of the columns,`, fields.count);
  const filled = <Column extends { [index: number]: number }>(
    key: "chunk" | "route" | "startPs" | "endPs" | "op",
    column: Column,
    high: number,
  ): Column => {
    const list = asList(fields[key], at(key));
    if (list.length !== length) throw new InputError(at(key), `${length} numbers, as in transfers.chunk,`, list.length);
    fillIntegers(list, column, at(key), 0, high);
    return column;
  };
  const lastChunk = collective.chunkCount - 1;
  const lastRoute = routeCount(routes) - 1;
  const chunk = filled("chunk", indexColumn(length, lastChunk), lastChunk);
  const route = filled("route", indexColumn(length, lastRoute), lastRoute);
  const startPs = filled("startPs", new Float64Array(length), Number.MAX_SAFE_INTEGER);
  const endPs = filled("endPs", new Float64Array(length), Number.MAX_SAFE_INTEGER);
  const op = filled("op", new Uint8Array(length), OP_REDUCE);
  for (let i = 0; i < length; i++) {
    if (endPs[i] < startPs[i])
      throw new InputError(at(`endPs[${i}]`), `a time at or after startPs (${startPs[i]})`, endPs[i]);
  }
  return sortedRows({ topology, collective, routes, chunk, route, startPs, endPs, op });
}

/** Returns the schedule with its rows in ascending order of (startPs, route, chunk), rows that tie as they were. */
function sortedRows(schedule: StepSchedule): StepSchedule {
  const { chunk, route, startPs, endPs, op } = schedule;
  const before = (a: number, b: number): number =>
    startPs[a] - startPs[b] || route[a] - route[b] || chunk[a] - chunk[b] || a - b;
  let sorted = true;
  for (let i = 1; i < chunk.length && sorted; i++) sorted = before(i - 1, i) < 0;
  if (sorted) return schedule;
  const order = Uint32Array.from(chunk, (_, i) => i).sort(before);
  return {
    ...schedule,
    chunk: chunk.map((_, i) => chunk[order[i]]),
    route: route.map((_, i) => route[order[i]]),
    startPs: startPs.map((_, i) => startPs[order[i]]),
    endPs: endPs.map((_, i) => endPs[order[i]]),
    op: op.map((_, i) => op[order[i]]),
  };
}
