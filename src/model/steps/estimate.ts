import { InputError } from "../../base/errors.ts";
import type { Place } from "../../base/option-names.ts";
import type { Collective } from "../collective/collective.ts";
import { treesLayout, widthFor } from "../files/bys-format.ts";
import { distancesFrom, graph } from "../graph/graph.ts";
import { edgeEnds, mostEnds, type PeriodSchedule, tickPsOf } from "../periods/period-schedule.ts";
import { routesOf } from "../routes/routing.ts";
import { standingFor } from "../slots/folded-rows.ts";
import { isSlotSchedule, mirrorRoutes, portBytes, portsOf, type Schedule } from "../slots/slot-schedule.ts";
import { automorphismsOf } from "../symmetry/automorphisms.ts";
import { leastNpus } from "../symmetry/fold.ts";
import { translationsOf } from "../symmetry/translation.ts";
import { linkCount, nodeCount, switchCount, type Topology } from "../topology/topology.ts";
import { makespanOf, transfersOf } from "./schedule.ts";
import { indexColumn } from "./step-schedule.ts";

/** What a schedule will take, about; the least where its kind is not known yet. */
export interface Estimate {
  readonly transfers: number;
  /** While it is made and judged. */
  readonly memoryBytes: number;
  readonly bysBytes: number;
  readonly jsonBytes: number;
}

/** From so many NPUs the ways to all others are counted; they are spread by the golden ratio, which no grid's side divides. */
const HOPS_FROM = 16;
const GOLDEN = (Math.sqrt(5) - 1) / 2;

/** Returns how many links a shortest way between two NPUs has, about: the mean from a few to all. O(links). */
export function meanHops(topology: Topology): number {
  const { npuCount, linkSource, linkTarget } = topology;
  const ways = graph(nodeCount(topology), linkSource, linkTarget, new Float64Array(linkCount(topology)).fill(1));
  const from = Math.min(HOPS_FROM, npuCount);
  let sum = 0;
  for (let i = 0; i < from; i++) {
    const distance = distancesFrom(ways, [Math.floor(((i * GOLDEN) % 1) * npuCount)]);
    for (let npu = 0; npu < npuCount; npu++) sum += distance[npu];
  }
  return sum / (from * Math.max(1, npuCount - 1));
}

/** What an estimate needs to know of a collective. */
export type Demand = Pick<Collective, "kind" | "groupCount" | "groupSize" | "chunkCount">;

/** Measured on all-gathers of a 64x64 mesh, verified and simulated: columns, kernel's output, the judges' own. */
const STEP_MEMORY = 100;
/** A row with chunk and route in two bytes each. */
const STEP_BYS = 21;
/** Digits of a time where it is not known yet: 10 to 100 ms. */
const TIME_DIGITS = 11;
/** Text of a link with its route, of a node and of a chunk in a file. */
const LINK_TEXT = 140;
const NODE_TEXT = 50;
const CHUNK_TEXT = 8;
/** Below this many transfers nobody asks whether the network is symmetric: the file is small. */
const SYMMETRY_FROM = 1e7;

/** Chunks per NPU that "auto" tries, while there are few transfers, until two numbers in turn were no better. */
export const CHUNKS_TRIED: readonly number[] = [1, 2, 4, 8, 16, 32];
/** Of more transfers "auto" tries no further number of chunks. */
export const MOST_TRIED_TRANSFERS = 5e5;

/** Returns whether "auto" would try more chunks per NPU than a schedule with so many transfers has. */
export const triesMoreChunks = (transfers: number, chunksPerNpu: number): boolean =>
  CHUNKS_TRIED.some((more) => more > chunksPerNpu && (transfers / chunksPerNpu) * more <= MOST_TRIED_TRANSFERS);

/** Returns the fewest transfers of a collective: one per chunk and NPU that wants it. */
export function leastTransfers({ kind, groupSize, chunkCount }: Demand): number {
  switch (kind) {
    case "allgather":
    case "reducescatter":
    case "broadcast":
    case "reduce":
      return chunkCount * (groupSize - 1);
    case "allreduce":
      return 2 * chunkCount * (groupSize - 1);
    default:
      return chunkCount;
  }
}

const digits = (most: number): number => String(Math.max(0, most)).length;

/** Returns about how many characters the numbers of a row and their commas are. */
const rowText = (chunks: number, routes: number, timeDigits: number): number =>
  digits(chunks - 1) + digits(routes - 1) + 2 * timeDigits + 6;

const headerBytes = (topology: Topology, chunkCount: number): number =>
  linkCount(topology) * LINK_TEXT + topology.nodeNames.length * NODE_TEXT + chunkCount * CHUNK_TEXT;

/** Returns what a step schedule of this many transfers takes. */
export function stepsEstimate(topology: Topology, { chunkCount }: Demand, transfers: number): Estimate {
  const header = headerBytes(topology, chunkCount);
  return {
    transfers,
    memoryBytes: transfers * STEP_MEMORY + header,
    bysBytes: transfers * STEP_BYS + header,
    jsonBytes: transfers * rowText(chunkCount, linkCount(topology), TIME_DIGITS) + header,
  };
}

/**
 * Returns what a slot schedule of everyone's chunks over direct links takes at least: logs in the narrowest type, a bit per
 * port and slot, a bitset of chunks per NPU while it is made. `npus`: those whose logs stand for all. O(links).
 */
function slotsEstimate(topology: Topology, demand: Demand, npus: Int32Array): Estimate {
  const { npuCount, linkTarget } = topology;
  const { chunkCount } = demand;
  const ports = new Int32Array(topology.nodeNames.length);
  for (const node of linkTarget) ports[node]++;
  const arriving = chunkCount - Math.floor(chunkCount / npuCount);
  let bitBytes = 0;
  for (const npu of npus) bitBytes += Math.ceil(arriving / Math.max(1, ports[npu])) * portBytes(ports[npu]);
  const logs = npus.length * chunkCount * indexColumn(0, chunkCount - 1).BYTES_PER_ELEMENT + bitBytes;
  const header = headerBytes(topology, chunkCount);
  const transfers = leastTransfers(demand);
  return {
    transfers,
    memoryBytes: logs + Math.ceil((npus.length * chunkCount) / 8) + header,
    bysBytes: logs + header,
    jsonBytes: transfers * rowText(chunkCount, linkCount(topology), TIME_DIGITS) + header,
  };
}

/**
 * Returns what the schedule of a collective takes at least, before it is made: a slot schedule where it can be one (everyone
 * gets everything over direct links that are all alike), with one log where translations leave the network as it is, with one for
 * each orbit of its maps onto itself where there are such and it `folds`. O(links x maps).
 */
export function estimateOf(topology: Topology, demand: Demand, folds = true): Estimate {
  if (!canBeSlots(topology, demand)) return stepsEstimate(topology, demand, leastTransfers(demand));
  return slotsEstimate(topology, demand, npusOfLogs(topology, demand, folds));
}

/** Returns the NPUs whose logs stand for all, where a network of direct links has symmetries and everyone as many chunks. */
function npusOfLogs(topology: Topology, demand: Demand, folds: boolean): Int32Array {
  const { npuCount } = topology;
  const all = Int32Array.from({ length: npuCount }, (_, npu) => npu);
  if (leastTransfers(demand) < SYMMETRY_FROM) return all;
  const routes = routesOf(topology, 1);
  if (translationsOf(topology, routes) !== null) return Int32Array.of(0);
  if (!folds || demand.kind === "broadcast" || demand.kind === "reduce") return all;
  return leastNpus(automorphismsOf(npuCount, routes.source, routes.target), npuCount);
}

/**
 * Returns whether arrival logs can hold a schedule of the collective: everyone gets everything over direct links that are
 * all alike; where it reduces, every link has one that runs the other way. O(links).
 */
export function canBeSlots(topology: Topology, { kind, groupCount, groupSize }: Demand): boolean {
  const { linkBytesPerSecond, linkLatencyPs, npuCount } = topology;
  return (
    ["allgather", "reducescatter", "allreduce", "broadcast", "reduce"].includes(kind) &&
    groupCount === 1 &&
    groupSize === npuCount &&
    switchCount(topology) === 0 &&
    (kind === "allgather" || kind === "broadcast" || mirrorRoutes(routesOf(topology, 1), npuCount) !== null) &&
    linkBytesPerSecond.every((bandwidth) => bandwidth === linkBytesPerSecond[0]) &&
    linkLatencyPs.every((latency) => latency === linkLatencyPs[0])
  );
}

/** Returns about how many bytes the JSON file of a schedule has. */
export function jsonBytesOf(schedule: Schedule): number {
  const { topology, collective, routes } = schedule;
  const row = rowText(collective.chunkCount, routes.source.length, digits(makespanOf(schedule)));
  return transfersOf(schedule) * row + headerBytes(topology, collective.chunkCount);
}

/** Returns about how many bytes the files of periods have. O(trees x NPUs). */
export function periodFilesOf(schedule: PeriodSchedule): Pick<Estimate, "jsonBytes" | "bysBytes"> {
  const { topology, collective, there, entry, startPs } = schedule;
  const lastTick = startPs.reduce((last, ps) => Math.max(last, ps), 0) / tickPsOf(schedule);
  const header = headerBytes(topology, collective.chunkCount);
  return {
    jsonBytes: header + entry.length * (digits(there.length) + 2 * digits(lastTick) + 3),
    bysBytes: header + treesLayout(entry.length, widthFor(mostEnds(edgeEnds(schedule))), lastTick).length,
  };
}

/** Returns about how many bytes the .bys file of a schedule has. O(routes). */
export function bysBytesOf(schedule: Schedule): number {
  const { topology, collective, routes } = schedule;
  const header = headerBytes(topology, collective.chunkCount);
  if (!isSlotSchedule(schedule)) return header + transfersOf(schedule) * STEP_BYS;
  const { offset } = portsOf(routes, topology.npuCount);
  const npus = standingFor(schedule);
  let bytes =
    header + npus.length * collective.chunkCount * indexColumn(0, collective.chunkCount - 1).BYTES_PER_ELEMENT;
  for (const npu of npus) bytes += schedule.slots * portBytes(offset[npu + 1] - offset[npu]);
  return bytes;
}

/** Returns "3.7 GiB": two digits, in the unit that suits. */
export function aboutBytes(bytes: number): string {
  const power = Math.min(4, Math.max(0, Math.floor(Math.log2(Math.max(1, bytes)) / 10)));
  const value = bytes / 1024 ** power;
  return `${value < 10 ? Number(value.toPrecision(2)) : Math.round(value)} ${["B", "KiB", "MiB", "GiB", "TiB"][power]}`;
}

/** Throws InputError, which names `place`, where an estimate is above the memory that is free; null: nobody knows it. */
export function refuseWithoutMemory(estimate: Estimate, freeBytes: number | null, place: Place): void {
  if (freeBytes === null || estimate.memoryBytes <= freeBytes) return;
  const expected = `a collective whose schedule fits in the ${aboutBytes(freeBytes)} of memory that are free`;
  const needs = `one of about ${estimate.transfers.toExponential(1)} transfers, ${aboutBytes(estimate.memoryBytes)}`;
  throw new InputError(place, expected, needs).saying(
    `a schedule of about ${estimate.transfers.toExponential(1)} transfers needs ${aboutBytes(estimate.memoryBytes)} of memory, of which ${aboutBytes(freeBytes)} are free; fewer NPUs or chunks need less`,
  );
}
