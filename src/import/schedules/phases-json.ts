import { InputError } from "../../base/errors.ts";
import type { LineAlgorithm, LineKind, NetworkDimension } from "../../model/dimensions/dimensions.ts";
import { PHASE_ALL_GATHER, type PhaseSchedule } from "../../model/phases/phase-schedule.ts";
import { indexColumn } from "../../model/steps/step-schedule.ts";
import type { Topology } from "../../model/topology/topology.ts";
import {
  asFlag,
  asInteger,
  asList,
  asObject,
  checkHeader,
  fillIntegers,
  type JsonFields,
  parseJson,
  placeIn,
  refuse,
} from "../text/json.ts";
import { collectiveSections, networkInside, type ReadScheduleOptions } from "./schedule-header.ts";

const FORMAT = "banyan-phases";
const KINDS: readonly LineKind[] = ["ring", "line", "fc", "switch"];
const ALGORITHMS: readonly LineAlgorithm[] = ["ring", "line", "direct", "halving-doubling", "offload"];
/** Lines have two NPUs or more, so no network has more dimensions. */
const MOST_DIMENSIONS = 52;

type PhasesFields = JsonFields<"format" | "dimensions" | "phases">;

type DimensionFields = JsonFields<"kind" | "size" | "bytesPerSecond" | "stepPs" | "inNetwork" | "algorithm">;

type ColumnFields = JsonFields<"count" | "chunk" | "dimension" | "op" | "startPs" | "endPs">;

/** Returns whether a parsed file is one of phases. */
export const isPhasesJson = (value: unknown): boolean =>
  typeof value === "object" && value !== null && (value as PhasesFields).format === FORMAT;

/**
 * Returns the schedule of a `banyan-phases` file (version 1), on the network inside the file. Everything that it is made of is
 * checked (ranges, lengths, whole numbers, the order of rows, the hash); whether it does its work, and whether the network has
 * such dimensions, is the verifier's question. Throws InputError with the place in the file. O(text).
 */
export function readPhases(text: string, fileName: string, options: ReadScheduleOptions = {}): PhaseSchedule {
  return phasesFromJson(parseJson(text, fileName), fileName, options);
}

/** Returns the network inside a parsed file. Throws InputError. */
export function phasesTopology(value: unknown, fileName: string, options: ReadScheduleOptions = {}): Topology {
  checkHeader(value, fileName, "", FORMAT);
  return networkInside(value, fileName, options);
}

/** Returns the schedule of a parsed file. */
export function phasesFromJson(value: unknown, fileName: string, options: ReadScheduleOptions): PhaseSchedule {
  const at = (key: string): string => placeIn(fileName, key);
  const topology = phasesTopology(value, fileName, options);
  const collective = collectiveSections(value, fileName, topology);
  const fields = value as PhasesFields;
  const list = asList(fields.dimensions, at("dimensions"), "a list of dimensions");
  if (list.length === 0 || list.length > MOST_DIMENSIONS)
    throw new InputError(at("dimensions"), `1 to ${MOST_DIMENSIONS} dimensions`, list.length);
  const found = list.map((entry, d) => dimensionFromJson(entry, at(`dimensions[${d}]`)));
  return {
    kind: "phases",
    topology,
    collective,
    dimensions: found.map(({ dimension }) => dimension),
    algorithms: found.map(({ algorithm }) => algorithm),
    ...columnsFromJson(fields.phases, at("phases"), collective.chunksPerNpu - 1, list.length - 1),
  };
}

function oneOf<T extends string>(value: unknown, known: readonly T[], place: string): T {
  if (!known.includes(value as T)) refuse(place, `one of ${known.join(", ")}`, value);
  return value as T;
}

function dimensionFromJson(
  value: unknown,
  place: string,
): { readonly dimension: NetworkDimension; readonly algorithm: LineAlgorithm } {
  const fields = asObject<DimensionFields>(value, place);
  const dimension = {
    kind: oneOf(fields.kind, KINDS, `${place}.kind`),
    size: asInteger(fields.size, `${place}.size`, 2),
    bytesPerSecond: asInteger(fields.bytesPerSecond, `${place}.bytesPerSecond`, 1),
    stepPs: asInteger(fields.stepPs, `${place}.stepPs`, 0),
    inNetwork: asFlag(fields.inNetwork, `${place}.inNetwork`),
  };
  return { dimension, algorithm: oneOf(fields.algorithm, ALGORITHMS, `${place}.algorithm`) };
}

type Columns = Pick<PhaseSchedule, "chunk" | "dimension" | "op" | "startPs" | "endPs">;

function columnsFromJson(value: unknown, place: string, lastChunk: number, lastDimension: number): Columns {
  const fields = asObject<ColumnFields>(value, place);
  const length = asList(fields.chunk, `${place}.chunk`).length;
  // a mistyped number of chunks must not exhaust the memory of those who judge them
  if (length <= lastChunk)
    throw new InputError(`${place}.chunk`, `at least ${lastChunk + 1} phases, one for every chunk,`, length).as(
      "out-of-range",
    );
  if (fields.count !== undefined && fields.count !== length)
    refuse(`${place}.count`, `${length}, the length of the columns,`, fields.count);
  const filled = <Column extends { [index: number]: number }>(
    key: keyof Columns,
    column: Column,
    high: number,
  ): Column => {
    const list = asList(fields[key], `${place}.${key}`);
    if (list.length !== length)
      throw new InputError(`${place}.${key}`, `${length} numbers, as in ${place}.chunk,`, list.length);
    fillIntegers(list, column, `${place}.${key}`, 0, high);
    return column;
  };
  const columns = {
    chunk: filled("chunk", indexColumn(length, lastChunk), lastChunk),
    dimension: filled("dimension", new Uint8Array(length), lastDimension),
    op: filled("op", new Uint8Array(length), PHASE_ALL_GATHER),
    startPs: filled("startPs", new Float64Array(length), Number.MAX_SAFE_INTEGER),
    endPs: filled("endPs", new Float64Array(length), Number.MAX_SAFE_INTEGER),
  };
  checkRows(columns, place);
  return columns;
}

/** Throws InputError for a phase that ends before it starts, or stands behind one that is carried out after it. */
function checkRows({ chunk, dimension, startPs, endPs }: Columns, place: string): void {
  for (let row = 0; row < chunk.length; row++) {
    if (endPs[row] < startPs[row])
      throw new InputError(`${place}.endPs[${row}]`, `a time at or after startPs (${startPs[row]})`, endPs[row]);
    if (row === 0) continue;
    const before = row - 1;
    const order = startPs[row] - startPs[before] || dimension[row] - dimension[before] || chunk[row] - chunk[before];
    if (order >= 0) continue;
    throw new InputError(`${place}.startPs[${row}]`, "rows that ascend by start, dimension, chunk", startPs[row]);
  }
}
